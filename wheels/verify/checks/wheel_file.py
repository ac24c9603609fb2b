"""W304 to W306: the file WHEEL says what the wheel's name says, and what is true of its files.

PyPA, "Binary distribution format"; PEP 425.
"""

import re
from collections.abc import Iterator
from email.parser import BytesParser
from email.policy import compat32

from packaging.tags import parse_tag

from wheels.verify.finding import Finding, Rule
from wheels.verify.model import FileFacts, Wheel
from wheels.verify.settings import Settings

WHEEL_FILE = Rule(
    "W304",
    "WHEEL is missing or not valid",
    why="Installers read Wheel-Version and Root-Is-Purelib there, and refuse a version that they do not know.",
    remedy="Write Wheel-Version: 1.0, Generator, Root-Is-Purelib (true or false) and Tag.",
)
TAGS = Rule(
    "W305",
    "the tags in WHEEL differ from the wheel's name",
    why="Each compressed tag of the name must be there expanded, a line each (PEP 425, PEP 427).",
    remedy="Name the file by the tags in WHEEL. To change the tags, run `wheel tags` on that file.",
)
PURELIB = Rule(
    "W306",
    "Root-Is-Purelib or the tag contradicts the wheel's content",
    why="A wheel with libraries is for one platform: its root is platlib and its tag names the platform.",
    remedy="Build it as a platform wheel.",
)


def check(wheel: Wheel, settings: Settings) -> Iterator[Finding]:
    """Look at WHEEL."""
    del settings
    if wheel.dist_info is None:
        return
    path = f"{wheel.dist_info}/WHEEL"
    content = wheel.text("WHEEL")
    if content is None:
        yield WHEEL_FILE.finding(wheel.filename, path, "there is none that can be read")
        return
    message = BytesParser(policy=compat32).parsebytes(content)
    fields = [(key, str(value).strip()) for key, value in message.items()]
    values = dict(fields)
    if not re.fullmatch(r"1\.\d+", values.get("Wheel-Version", "")):
        yield WHEEL_FILE.finding(
            wheel.filename, path, f"Wheel-Version is {values.get('Wheel-Version')!r}; expected 1.0"
        )
    purelib = values.get("Root-Is-Purelib", "")
    if purelib.lower() not in ("true", "false"):
        yield WHEEL_FILE.finding(wheel.filename, path, f"Root-Is-Purelib is {purelib!r}; expected true or false")
    if wheel.tags:
        yield from _tags(wheel, path, [value for key, value in fields if key == "Tag"])
    kinds = ((facts.path, _kind(facts)) for facts in wheel.files.values())
    path, kind = next(((path, kind) for path, kind in kinds if kind), ("", ""))
    if kind and purelib.lower() == "true":
        yield PURELIB.finding(wheel.filename, path, f"is {kind}, but Root-Is-Purelib is true")
    if kind and any(tag.platform == "any" for tag in wheel.tags):
        yield PURELIB.finding(wheel.filename, path, f"is {kind}, but the wheel is for any platform")


def _kind(facts: FileFacts) -> str:
    """Say which code of one platform a file is; empty for none. Programs of Windows can be data: pip has launchers."""
    if facts.elf is not None:
        return "an ELF file"
    return "a DLL" if facts.pe is not None and facts.pe.is_dll else ""


def _tags(wheel: Wheel, path: str, lines: list[str]) -> Iterator[Finding]:
    wanted = {str(tag) for tag in wheel.tags}
    expanded = set()
    for line in lines:
        tags = _expanded(line)
        if len(tags) > 1:
            yield TAGS.finding(
                wheel.filename, path, f"Tag {line!r} is not expanded; expected a line for each of {len(tags)}"
            )
        expanded |= tags
    for tag in sorted(wanted - expanded):
        yield TAGS.finding(wheel.filename, path, f"Tag {tag} is missing")
    for tag in sorted(expanded - wanted):
        yield TAGS.finding(wheel.filename, path, f"Tag {tag} is not in the wheel's name")


def _expanded(line: str) -> set[str]:
    """Return the tags that a line stands for; the line itself if it is no tag."""
    try:
        return {str(tag) for tag in parse_tag(line)} if line.count("-") == 2 else {line}
    except ValueError:
        return {line}
