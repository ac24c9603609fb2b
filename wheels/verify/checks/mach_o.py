"""W425: Mach-O files, programs and libraries of macOS, are named, because nothing else is said of them."""

from collections.abc import Iterator
from typing import BinaryIO, Final

from wheels.verify.finding import Finding, Rule, Severity
from wheels.verify.model import Collector, FileFacts, Wheel
from wheels.verify.settings import Settings

UNREAD = Rule(
    "W425",
    "a program or library for macOS, which is not checked",
    severity=Severity.NOTE,
    why="Mach-O files are not read: what they need, their search paths and their versions are unknown.",
    remedy="Check the wheel with delocate, or leave the file out if the wheel is not for macOS.",
)
MACH_O: Final = "Mach-O"
#: MH_MAGIC and MH_MAGIC_64 in both byte orders (Apple, mach-o/loader.h).
_MAGICS: Final = (b"\xfe\xed\xfa\xce", b"\xfe\xed\xfa\xcf", b"\xce\xfa\xed\xfe", b"\xcf\xfa\xed\xfe")
#: FAT_MAGIC (mach-o/fat.h). Java's class files begin so, too: behind it they have a version, from 45 on.
_FAT_MAGIC: Final = b"\xca\xfe\xba\xbe"
_MOST_ARCHITECTURES: Final = 44


def _wants(path: str, size: int, head: bytes) -> bool:
    del path, size
    is_fat = head.startswith(_FAT_MAGIC) and int.from_bytes(head[4:8], "big") <= _MOST_ARCHITECTURES
    return head.startswith(_MAGICS) or is_fat


def is_mach_o(facts: FileFacts) -> bool:
    """Whether a file is a program or library of macOS."""
    return MACH_O in facts.collected


def _inspect(file: BinaryIO, facts: FileFacts) -> object:
    del file, facts
    return True


COLLECTOR: Final = Collector(MACH_O, _wants, inspect=_inspect)


def check(wheel: Wheel, settings: Settings) -> Iterator[Finding]:
    """Name the first file, and how many there are."""
    del settings
    found = [path for path, facts in wheel.files.items() if is_mach_o(facts)]
    if found:
        more = f", one of {len(found)}" if len(found) > 1 else ""
        yield UNREAD.finding(wheel.filename, found[0], f"a Mach-O file{more}")
