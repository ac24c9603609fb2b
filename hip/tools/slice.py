"""Copies a shared library with device code for some GPU targets alone.

It keeps what the GPUs can load that programs for the targets run on: of a generic target, all that it covers. Bundles
for which these have no code stay, without code. A library that cannot be sliced is copied as it is, and the tool says
why: it is larger than it has to be, and as good.
"""

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lib.common.arguments import run_program
from lib.common.program import note
from lib.device.model import DeviceError, device_errors
from lib.device.reader import read_device_code
from lib.device.slice import plan_slice
from lib.device.slice_plan import missing_targets
from lib.elf.patched import write_patched
from lib.gpus.target_id import TargetId, gpus_of, parse_target_id


@dataclass(frozen=True)
class Arguments:
    """Arguments from the rule. A `str` is the path of a file, unless its comment says otherwise."""

    label: str
    target: list[str]  #: GPU targets.
    library: Path  #: The shared library.
    output: Path  #: The sliced library to write.


def slice_library(library: Path, targets: Sequence[TargetId], output: Path) -> None:
    """Write a library with code for the targets alone. Raises DeviceError if it cannot be sliced."""
    gpus = sorted(frozenset().union(*map(gpus_of, targets)))
    with library.open("rb") as file:
        absent = missing_targets(read_device_code(file, str(library)), gpus)
        patch = plan_slice(file, str(library), gpus, absent)
        with device_errors():
            write_patched(patch, file, str(output))


def convert(args: Arguments) -> None:
    """Write a library with code for the targets alone, or as it is if it cannot be sliced."""
    try:
        slice_library(args.library, [parse_target_id(one) for one in args.target], args.output)
    except DeviceError as error:
        note(args.label, f"{error}: it keeps its device code for all GPUs")
        shutil.copy(args.library, args.output)


def main(argv: list[str]) -> int:
    """Slice the library."""
    return run_program(Arguments, argv, convert)
