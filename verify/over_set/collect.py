"""What the checks over a set need of the bytes of files, taken out while the engine reads them.

Each function here is called in the process that reads; what it returns is pickled.
"""

import posixpath
from typing import BinaryIO, Final

from tools.lib.elf.errors import ElfError
from tools.lib.elf.reader import is_elf
from verify.over_set.devel_archive import is_devel_archive, read_devel_archive
from verify.over_set.linked import read_linked
from verify.over_set.selector import MAX_SIZE, is_selector_file
from verify.suite import Collector

LINKED: Final = "linked"
DEVEL: Final = "devel"
SELECTOR: Final = "selector"


def _wants_linked(path: str, size: int, head: bytes) -> bool:
    return is_elf(head) and size >= 64 and not posixpath.basename(path).endswith((".o", ".debug"))


def _linked(file: BinaryIO, path: str) -> object:
    try:
        return read_linked(file, path)
    except ElfError:
        return None  # W4xx says so.


def _wants_devel(path: str, size: int, head: bytes) -> bool:
    return is_devel_archive(path)


def _wants_selector(path: str, size: int, head: bytes) -> bool:
    return is_selector_file(path) and size <= MAX_SIZE


def _selector(file: BinaryIO, path: str) -> object:
    return file.read()


COLLECTORS: Final = (
    Collector(LINKED, _wants_linked, inspect=_linked),
    Collector(DEVEL, _wants_devel, inspect=read_devel_archive),
    Collector(SELECTOR, _wants_selector, inspect=_selector),
)
