"""Copies a shared library with device code for some GPU targets alone.

    tool --label LABEL --target TARGET... --output FILE LIBRARY

It keeps what the GPUs can load that programs for the targets run on: of a generic target, all that it covers. Bundles
for which these have no code stay, without code. A library that cannot be sliced is copied as it is, and the tool says
why: it is larger than it has to be, and as good.
"""

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from lib.common.program import argument_parser, note, report_errors
from lib.device.model import DeviceError, device_errors
from lib.device.reader import read_device_code
from lib.device.slice import plan_slice
from lib.device.slice_plan import missing_targets
from lib.elf.patched import write_patched
from lib.gpus.target_id import TargetId, gpus_of, parse_target_id


def slice_library(library: Path, targets: Sequence[TargetId], output: Path) -> None:
    """Write a library with code for the targets alone. Raises DeviceError if it cannot be sliced."""
    gpus = sorted(frozenset().union(*map(gpus_of, targets)))
    with library.open("rb") as file:
        absent = missing_targets(read_device_code(file, str(library)), gpus)
        patch = plan_slice(file, str(library), gpus, absent)
        with device_errors():
            write_patched(patch, file, str(output))


def convert(label: str, library: Path, targets: Sequence[TargetId], output: Path) -> None:
    """Write a library with code for the targets alone, or as it is if it cannot be sliced."""
    try:
        slice_library(library, targets, output)
    except DeviceError as error:
        note(label, f"{error}: it keeps its device code for all GPUs")
        shutil.copy(library, output)


def main(argv: list[str]) -> int:
    """Run the tool; return the exit status."""
    parser = argument_parser(__doc__)
    parser.add_argument("--label", required=True, help="target, for errors")
    parser.add_argument("--target", type=parse_target_id, action="append", required=True, help="a GPU target")
    parser.add_argument("--output", type=Path, required=True, help="the sliced library")
    parser.add_argument("library", type=Path, metavar="LIBRARY", help="the shared library")
    args = parser.parse_args(argv)
    return report_errors(args.label, lambda: convert(args.label, args.library, args.target, args.output))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
