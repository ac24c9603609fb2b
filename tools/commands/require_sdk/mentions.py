"""Whether a wheel opens one of its own libraries by name: then it must stay where it is."""

import posixpath
from typing import Final

from tools.commands.common.sound_wheel import SoundWheel
from verify.member_file import MemberError, MemberReader
from verify.wheel_set.model import Package

#: Sources of Python are not larger, in bytes.
_LARGEST: Final = 16 << 20


def mentioned(wheel: SoundWheel, package: Package, path: str) -> str:
    """Say which file of the wheel has the file name of a library among its strings; `""` if none has."""
    name = posixpath.basename(path)
    for other, linked in sorted(package.linked.items()):
        if name in linked.opens and other != path:
            return f"{other} has its name among its constants, and may open it"
    with wheel.path.open("rb") as file:
        for source in sorted(wheel.members):
            member = wheel.members[source]
            if not source.endswith((".py", ".json", ".toml")) or member.size > _LARGEST or ".dist-info/" in source:
                continue
            try:
                if name.encode() in b"".join(MemberReader(file, member).chunks()):
                    return f"{source} names it, and may open it"
            except MemberError:
                continue  # The wheel was changed: writing it finds that out.
    return ""
