"""A place where a library has device code, and what the checks ask of it."""

from dataclasses import dataclass

from tools.lib.device.target_id import TargetId
from verify.over_set.model import Package


@dataclass(frozen=True)
class Place:
    """A bundle, the bundle's entries in archives, or the files of a directory that are named for targets.

    `path` is that of the file, or of the directory, in the wheel of `package`; `number` counts the file's bundles.
    """

    package: Package
    path: str
    codes: frozenset[TargetId]
    number: int = 0
    is_directory: bool = False
    is_archived: bool = False
    """Whether the code is in archives, to which the file at `path` refers."""
    is_program: bool = False
    """Whether the file is an ELF file, and so owns its code."""
