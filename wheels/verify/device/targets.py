"""Lists the device code in libraries, bundle files, archives and wheels: targets, sizes and hashes.

    rocm-verify targets acme_solver-1.0.0-py3-none-linux_x86_64.whl

For people and scripts. Files are read, never changed or unpacked.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from lib.device.model import DeviceError
from lib.elf.source import ElfError
from lib.wheel.member_file import MemberError
from wheels.verify.device.device_listing import ListedCode, list_path, list_wheel

EPILOG: Final = """examples:
  rocm-verify targets lib/librocblas.so.4
  rocm-verify targets --json acme_solver-*.whl > device-code.json

Exit code: 0, or 2 if a file cannot be read."""


def parser() -> argparse.ArgumentParser:
    """Describe the command line."""
    result = argparse.ArgumentParser(
        prog="rocm-verify targets",
        description=__doc__,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    result.add_argument("files", nargs="+", type=Path, metavar="FILE", help="a library, bundle file, .kpack or wheel")
    result.add_argument("--no-hashes", action="store_true", help="do not read the code: faster, without its hashes")
    result.add_argument("--json", action="store_true", help="print all that is known, as JSON")
    return result


def listed(path: Path, *, hashes: bool) -> Iterator[ListedCode]:
    """Yield what one file of the command line holds."""
    return list_wheel(path, hashes=hashes) if path.suffix == ".whl" else list_path(path, hashes=hashes)


def print_text(path: Path, *, hashes: bool) -> None:
    """Print what a file holds, as it is found."""
    found = False
    if path.suffix == ".whl":
        print(f"{path}:")
    for one in listed(path, hashes=hashes):
        found = True
        print("\n".join(one.lines()))
    if not found:
        print(f"{path}: no device code")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    arguments = parser().parse_args(argv)
    hashes = not arguments.no_hashes
    documents = []
    try:
        for path in arguments.files:
            if arguments.json:
                files = [one.document() for one in listed(path, hashes=hashes)]
                documents.append({"file": str(path), "device_code": files})
            else:
                print_text(path, hashes=hashes)
        if arguments.json:
            print(json.dumps(documents, indent=1))
    except (DeviceError, ElfError, MemberError, OSError) as error:
        print(f"rocm-verify: {error}", file=sys.stderr)
        return 2
    return 0
