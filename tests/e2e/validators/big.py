"""Every tool that people give wheels to accepts one of more than 4 GiB.

    python3 -m tests.e2e.validators.big [--make DIRECTORY | --check DIRECTORY]

Run it from the top of the workspace. The real rules make the wheel, of two files over 4 GiB; it goes through what
`validate.py` gives wheels to. This takes 14 GB of disk while it runs: what is not needed any more goes at once.
"""

import argparse
import os
import shutil
import sys
import tempfile
import zipfile
from pathlib import Path

from tests.e2e.testing.builds import WORKSPACE, Workspace, built
from tests.e2e.validators.tools import make_tools
from tests.e2e.validators.validate import CHUNK, check_wheel

#: Slightly more bytes than 32 bits of a zip header can express.
BIG = (4 << 30) + (100 << 20)
ARTIFACT = "core-hip_lib_generic"


def make_artifact(artifacts: Path) -> None:
    """Make an artifact with two files over 4 GiB: one does not shrink, the other shrinks to nearly nothing.

    Deflate looks back 32 KiB, so the same megabyte again and again does not shrink.
    """
    folder = artifacts / ARTIFACT / "stage/share"
    folder.mkdir(parents=True)
    (artifacts / ARTIFACT / "artifact_manifest.txt").write_text("stage\n")
    block = os.urandom(CHUNK)
    with (folder / "noise").open("wb") as file:
        for _ in range(BIG // CHUNK):
            file.write(block)
    with (folder / "zeros").open("wb") as file:
        file.truncate(BIG)


def make(folder: Path) -> Path:
    """Make the wheel in a folder; return its path there."""
    artifacts = folder / "artifacts"
    make_artifact(artifacts)
    workspace = Workspace(WORKSPACE, artifacts)
    build = built(workspace.build("//packaging:core_wheel", options=("--//rules/settings:compression=fast",)))
    root = Path(workspace.info("execution_root"))
    outputs = [root / action.output for name in ("RocmLink", "RocmPack") for action in build.ran(name)]
    try:
        (wheel,) = [path for path in outputs if path.suffix == ".whl"]
        return Path(shutil.move(wheel, folder / wheel.name))
    finally:
        shutil.rmtree(artifacts)
        for path in outputs:
            path.unlink(missing_ok=True)  # Bazel makes them again if it ever needs them


def check(folder: Path) -> None:
    """Put the wheel in a folder through everything."""
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        noise, zeros = (archive.getinfo(f"_rocm_sdk_core/share/{name}") for name in ("noise", "zeros"))
    limit = 1 << 32
    assert noise.compress_size > limit < noise.file_size
    assert zeros.compress_size < limit < zeros.file_size
    tools = make_tools(folder / "tools", "pydistcheck.toml")
    # One tool at a time: each unpacks 9 GB.
    check_wheel(wheel, tools, folder / "big", workers=1)


def main() -> int:
    """Make the wheel, check it, or both, in a directory that is removed at the end."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    only = parser.add_mutually_exclusive_group()
    only.add_argument("--make", type=Path, metavar="DIRECTORY", help="only make the wheel, in this directory")
    only.add_argument("--check", type=Path, metavar="DIRECTORY", help="only check that one, and remove the directory")
    args = parser.parse_args()
    folder = args.make or args.check or Path(tempfile.mkdtemp(prefix="rocm-validators-"))
    folder.mkdir(parents=True, exist_ok=True)
    try:
        if not args.check:
            make(folder)
        if not args.make:
            check(folder)
    finally:
        if not args.make:
            shutil.rmtree(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
