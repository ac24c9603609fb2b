"""The one exception that reading device code raises.

Callers catch `DeviceError` and know that the file is at fault, never the program.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from tools.lib.elf.errors import ElfError


class DeviceError(Exception):
    """A file whose device code cannot be read.

    `path` is the name the caller gave the file, `offset` the file offset in bytes at which the trouble was found, and
    `reason` says what was expected and what was found there.
    """

    def __init__(self, path: str, offset: int, reason: str) -> None:
        super().__init__(path, offset, reason)
        self.path = path
        self.offset = offset
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.path}: at file offset {self.offset:#x}: {self.reason}"


@contextmanager
def device_errors() -> Iterator[None]:
    """Turn the ElfError of `tools.lib.elf`, whose `Source` all reading goes through, into DeviceError."""
    try:
        yield
    except ElfError as error:
        raise DeviceError(error.path, error.offset, error.reason) from None
