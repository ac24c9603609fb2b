"""What a program that makes wheels require an SDK knows of one: its selector, and the module that loads its libraries.

Which SDK that is, and how its module looks, is no business of this command: the program that calls it says so.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class InitPy:
    """How the module is made."""

    file_name: str
    """What it is called in the import package."""
    distribution: str
    """What it imports, and the wheel so requires: the selector, whose extras bring the SDK's packages."""
    text: Callable[[Sequence[str], str | None], str]
    """Return its source, given file names of libraries that are needed, and the SDK's version, or None for any."""
    libraries: str
    """The package whose device code is in other packages, one for each GPU, which the selector's extras bring."""
