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

from tools.lib.common.command import CANNOT_RUN, exit_codes, run_command
from tools.lib.common.program import printable
from tools.lib.device.model import DeviceError
from tools.lib.elf.source import ElfError
from verify.device.device_listing import ListedCode, list_path, list_wheel

EPILOG: Final = """examples:
  rocm-verify targets lib/librocblas.so.4
  rocm-verify targets --json acme_solver-*.whl > device-code.json

""" + exit_codes("every file was read")
#: What is looked for.
SEARCHED: Final = (
    "sections of HIP and CUDA, bundles and code objects of AMD anywhere in files, .kpack archives, and names of GPUs"
)


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
    """Yield the files that one file of the command line holds."""
    return list_wheel(path, hashes=hashes) if path.suffix == ".whl" else list_path(path, hashes=hashes)


def print_text(path: Path, *, hashes: bool) -> None:
    """Print what a file holds, as it is found."""
    searched, found = 0, False
    if path.suffix == ".whl":
        print(f"{path}:")
    for one in listed(path, hashes=hashes):
        searched += 1
        if one.has_code:
            found = True
            print(printable("\n".join(one.lines())))
    if not found:
        files = "1 file" if searched == 1 else f"{searched} files"
        print(f"{path}: no device code; searched {files} for {SEARCHED}")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    arguments = parser().parse_args(argv)
    hashes = not arguments.no_hashes

    def work() -> None:
        documents = []
        for path in arguments.files:
            if arguments.json:
                files = [one.document() for one in listed(path, hashes=hashes) if one.has_code]
                documents.append({"file": str(path), "device_code": files})
            else:
                print_text(path, hashes=hashes)
        if arguments.json:
            print(json.dumps(documents, indent=1))

    try:
        return run_command("rocm-verify", work)
    except (DeviceError, ElfError) as error:
        print(f"rocm-verify: {error}", file=sys.stderr)
        return CANNOT_RUN
