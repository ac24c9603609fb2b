"""Which libraries a wheel opens by name.

One of its own must stay where it is. For one of the SDK the loader looks on the machine, and may find another copy.
"""

import posixpath
import re
from collections.abc import Collection, Iterator
from contextlib import suppress
from typing import Final

from lib.elf.library_name import SUFFIX, parse_library_name
from lib.wheel.member_file import MemberError, MemberReader
from wheels.common.sound_wheel import SoundWheel
from wheels.verify.wheel_set.model import Package

#: Sources of Python are not larger, in bytes.
_LARGEST: Final = 16 << 20
_NAME: Final = re.compile(rb"(?<![\w.-])lib[\w.+-]*?" + SUFFIX.encode() + rb"(?![\w.-])")


def mentioned(wheel: SoundWheel, package: Package, path: str) -> str:
    """Return a sentence that names the file of the wheel in which a library's file name occurs; `""` if there is none.

    Such a file may open the library by that name.
    """
    name = posixpath.basename(path)
    for other, linked in sorted(package.linked.items()):
        if name in linked.opens and other != path:
            return f"{other} has its name among its constants, and may open it"
    for source, text in _sources(wheel):
        if name.encode() in text:
            return f"{source} names it, and may open it"
    return ""


def opened_by_name(wheel: SoundWheel, package: Package, names: Collection[str]) -> dict[str, tuple[str, ...]]:
    """Return which files of the wheel may open libraries of these names, with or without a version, and which.

    Not those that the file needs anyway (DT_NEEDED), which the loader has loaded then.
    """
    known = {*names, *(f"{library.stem}.so" for name in names if (library := parse_library_name(name)))}
    found: dict[str, tuple[str, ...]] = {}
    for path, linked in sorted(package.linked.items()):
        if opened := known.intersection(linked.opens) - set(linked.needed):
            found[path] = tuple(sorted(opened))
    for source, text in _sources(wheel):
        if opened := known.intersection(match.decode() for match in _NAME.findall(text)):
            found[source] = tuple(sorted(opened))
    return found


def _sources(wheel: SoundWheel) -> Iterator[tuple[str, bytes]]:
    """Yield the texts of a wheel that programs read."""
    with wheel.path.open("rb") as file:
        for source in sorted(wheel.members):
            member = wheel.members[source]
            if source.endswith((".py", ".json", ".toml")) and member.size <= _LARGEST and ".dist-info/" not in source:
                with suppress(MemberError):  # The wheel was changed: writing it finds that out.
                    yield source, b"".join(MemberReader(file, member).chunks())
