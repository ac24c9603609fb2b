"""The one exception that reading or editing an ELF file raises.

Callers catch `ElfError` and know that the file is at fault (or is of a kind that is not edited), never the program.
"""


class ElfError(Exception):
    """An ELF file that cannot be read or edited.

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
