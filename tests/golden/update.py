"""Writes files of this build over those in the workspace: `bazel run //tests/golden:update`.

    update --options FILE PLAN…

They are the plans and coverage tables of the mini SDK, and the options of the matrix that .bazelrc imports.
"""

import argparse
import os
import shutil
import sys
from pathlib import Path


def update(workspace: Path, plans: list[Path], options: Path) -> list[Path]:
    """Copy each plan in place of all golden ones, and the options; returns the files written."""
    folder = workspace / "tests" / "golden"
    for old in folder.glob("*/*.json"):
        old.unlink()
    copies = {folder / plan.parent.name / plan.name: plan for plan in plans}
    copies[workspace / "packaging" / "matrix.bazelrc"] = options
    for copy, source in copies.items():
        copy.parent.mkdir(exist_ok=True)
        shutil.copyfile(source, copy)
    return [*copies]


def main(argv: list[str]) -> int:
    """Write, and say what was written."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--options", type=Path, required=True, help="options of the matrix")
    parser.add_argument("plans", type=Path, nargs="*", help="plans, each in a folder named like its layout")
    args = parser.parse_args(argv)
    workspace = Path(os.environ["BUILD_WORKSPACE_DIRECTORY"])
    for path in update(workspace, args.plans, args.options):
        print(path.relative_to(workspace))
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
