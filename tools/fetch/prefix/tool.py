"""Writes the BUILD file of an install prefix; the program of the repository rule of `@rocm`, run when that is fetched.

    tool.py --prefix DIR --load LABEL --output FILE

It needs the standard library alone, because it runs before anything is fetched.
"""

import argparse
import sys
from pathlib import Path

from tools.fetch.prefix.build_file import DEFAULT_LOAD, build_text, plan_executables, plan_targets
from tools.fetch.prefix.cmake_syntax import CMakeError
from tools.fetch.prefix.packages import read_packages


def write_build_file(prefix: Path, load: str, output: Path) -> None:
    """Write the BUILD file. Raises CMakeError if a file of a package is damaged, or no package can be used."""
    if not prefix.is_dir():
        raise CMakeError(f"{prefix}: no such directory; expected an install prefix. Merge the artifacts first")
    packages = read_packages(prefix)
    targets = plan_targets(prefix, packages)
    notes = [note for package in packages for note in package.notes]
    if packages and not targets:
        first = next(iter(notes), "no package has a library")
        raise CMakeError(
            f"{prefix}: none of its {len(packages)} CMake packages offers a library that is in it ({first}); "
            "expected the files where the packages name them. Install the SDK into this prefix, do not move its parts"
        )
    output.write_text(build_text(targets, load, plan_executables(prefix), notes), encoding="utf-8")


def main(argv: list[str]) -> int:
    """Write the BUILD file. Raises SystemExit with a message if that cannot be done."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--prefix", type=Path, required=True, help="the directory where the SDK is installed")
    parser.add_argument("--load", default=DEFAULT_LOAD, help="label of the file with rocm_library")
    parser.add_argument("--output", type=Path, required=True, help="the BUILD file to write")
    args = parser.parse_args(argv)
    try:
        write_build_file(args.prefix, args.load, args.output)
    except CMakeError as error:
        raise SystemExit(str(error)) from None
    except OSError as error:
        raise SystemExit(f"{error.filename or args.prefix}: {error.strerror}; check its permissions") from None
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
