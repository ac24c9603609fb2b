"""Writes files of this build over those in the workspace: `bazel run //tests/golden:update`.

    update PLAN…

They are the plans and coverage tables of the mini SDK, and the copies of AMD's table of GPU targets. What is built from
a file that was just written is written by the next run.
"""

import argparse
import os
import shutil
import sys
from pathlib import Path

from tests.names.gpu_tables import written_files


def update(workspace: Path, plans: list[Path]) -> list[Path]:
    """Copy each plan instead of all golden ones; write AMD's table. Returns the files written."""
    folder = workspace / "tests" / "golden"
    for old in folder.glob("*/*.json"):
        old.unlink()
    copies = {folder / plan.parent.name / plan.name: plan for plan in plans}
    for copy, source in copies.items():
        copy.parent.mkdir(exist_ok=True)
        shutil.copyfile(source, copy)
    texts = {workspace / path: text for path, text in written_files().items()}
    for path, text in texts.items():
        path.write_text(text, encoding="utf-8")
    return [*copies, *texts]


def main(argv: list[str]) -> int:
    """Write, and say what was written."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("plans", type=Path, nargs="*", help="plans, each in a folder named like its layout")
    args = parser.parse_args(argv)
    workspace = Path(os.environ["BUILD_WORKSPACE_DIRECTORY"])
    for path in update(workspace, args.plans):
        print(path.relative_to(workspace))
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
