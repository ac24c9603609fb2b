"""Writes the plans of this build over the golden ones: `bazel run //tests/golden:update`."""

import os
import shutil
import sys
from pathlib import Path


def main(plans: list[str]) -> int:
    """Copy each plan into this folder of the workspace, in place of all that are there."""
    folder = Path(os.environ["BUILD_WORKSPACE_DIRECTORY"]) / "tests" / "golden"
    for old in folder.glob("*/*.plan.json"):
        old.unlink()
    for plan in map(Path, plans):
        golden = folder / plan.parent.name / plan.name
        golden.parent.mkdir(exist_ok=True)
        shutil.copyfile(plan, golden)
        print(golden.relative_to(folder))
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
