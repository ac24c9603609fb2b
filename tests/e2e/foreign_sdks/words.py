"""Words of one SDK alone, in what users of another one read.

foreign_words("Installing rocm-sdk-core")   # ["Installing rocm-sdk-core"]
for place, text in shown_texts(Path("made/compute")): …
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final
from zipfile import ZipFile

from lib.elf.reader import ELF_MAGIC

WORD: Final = re.compile(r"therock|rocm|\bamd(?!64)|\bhip|\bgfx\d|radeon", re.IGNORECASE)
#: What stays -> why.
STAYS: Final = {
    r"rules_rocm_python": "the name of the module, which signs what it writes",
    r"rocm-wheels verify\b": "the name of the command",
    r"\bRocm[A-Z]\w+": "mnemonics of actions, which stand in users' own flags",
}
#: Bytes of the largest launcher or forwarder, which lie in trees beside files of artifacts.
SMALL: Final = 4096
#: What the build writes for people beside wheels.
TEXTS: Final = (".html", ".json", ".metadata", ".css", ".js")


def foreign_words(text: str) -> list[str]:
    """Return the words in a text, each with what is around it."""
    for pattern in STAYS:
        text = re.sub(pattern, "", text)
    return [text[max(0, one.start() - 40) : one.end() + 40] for one in WORD.finditer(text)]


def shown_texts(directory: Path) -> Iterator[tuple[str, str]]:
    """Yield the name and the text of all that a build gives to users: wheels, index, pages, reports."""
    for path in sorted(path for path in directory.rglob("*") if path.is_file()):
        yield str(path), path.name
        if path.suffix == ".whl":
            yield from wheel_texts(path)
        elif path.suffix in TEXTS:
            yield str(path), path.read_text(encoding="utf-8")


def wheel_texts(wheel: Path) -> Iterator[tuple[str, str]]:
    """Yield names and contents of the members that the rules write. Others are the artifacts' own files."""
    with ZipFile(wheel) as archive:
        for member in archive.infolist():
            name = member.filename
            is_small = member.file_size <= SMALL
            content = archive.read(member) if is_small or not name.startswith("_") else b""
            is_written = content.startswith(ELF_MAGIC) or Path(name).name.startswith(".")
            if is_written if name.startswith("_") else "/licenses/" not in name:
                yield f"{wheel.name}/{name}", f"{name}\n{content.decode('utf-8', 'replace')}"
