"""The wheel is a sound zip archive, and not larger than it may be."""

from collections.abc import Iterator
from typing import Final

from lib.wheel.zip_members import Fault
from wheels.verify.finding import Finding, Rule, Severity
from wheels.verify.model import Wheel
from wheels.verify.settings import Settings

REBUILD: Final = "Build the wheel again, with a tool that writes sound archives; do not edit it afterwards."
UNREADABLE = Rule(
    "W101",
    "not a whole zip archive",
    why="Installers cannot open it (PKWARE APPNOTE 4.3).",
    remedy="Build or download the wheel again.",
)
DUPLICATE = Rule(
    "W102",
    "several members have one name",
    why="Installers differ in which one they install; the package index refuses such wheels.",
    remedy=REBUILD,
)
MISMATCH = Rule(
    "W103",
    "records of the archive contradict each other",
    why="Two headers of one member, or the end records, differ: tools see different files, depending on which "
    "they read. uv and the package index refuse such wheels.",
    remedy=REBUILD,
)
OVERLAP = Rule(
    "W104",
    "members share bytes",
    why="No tool writes this by accident. Archives that inflate to more than a disk holds are made this way.",
    remedy="Do not use the wheel; find out where it comes from.",
)
STRAY = Rule(
    "W105",
    "bytes that belong to no member",
    why="They can hide another archive: uv, which unpacks while it downloads, and the package index refuse the wheel.",
    remedy=REBUILD,
)
METHOD = Rule(
    "W106",
    "encrypted, or not compressed by deflate",
    why="Installers read stored and deflated members only (PEP 427).",
    remedy=REBUILD,
)
DAMAGED = Rule(
    "W107",
    "the bytes of a member are damaged",
    why="They do not inflate, or do not match the archive's checksum: installing stops here.",
    remedy="Build or download the wheel again.",
)
LARGE = Rule(
    "W113",
    "larger than allowed",
    severity=Severity.WARNING,
    why="The settings max_wheel_size, max_file_size and max_files are limits: of an index, or of your users.",
    remedy="Find out what grew, and drop or split it; or raise the setting.",
)
FIELD = Rule(
    "W118",
    "a part of a header that readers understand differently",
    why="Extra fields that are cut off, doubled, needless or wrong; a name in two encodings; an unknown version. pip, "
    "uv or the package index refuse such wheels, or install another file.",
    remedy=REBUILD,
)
UNUSUAL = Rule(
    "W119",
    "a comment, or sizes behind the bytes of a member",
    severity=Severity.WARNING,
    why="Installers read it, but PyPI refuses it: a program that reads from the front cannot tell where the "
    "bytes of a member end.",
    remedy="Write the wheel without comments, and to a seekable file: then zipfile writes sizes in front.",
)
BY_FAULT: Final = {
    Fault.UNREADABLE: UNREADABLE,
    Fault.DUPLICATE: DUPLICATE,
    Fault.MISMATCH: MISMATCH,
    Fault.FIELD: FIELD,
    Fault.UNUSUAL: UNUSUAL,
    Fault.OVERLAP: OVERLAP,
    Fault.STRAY: STRAY,
    Fault.METHOD: METHOD,
}


def check(wheel: Wheel, settings: Settings) -> Iterator[Finding]:
    """Look at the archive."""
    for trouble in wheel.archive.troubles:
        yield BY_FAULT[trouble.fault].finding(wheel.filename, trouble.member, trouble.evidence)
    readable = {member.name: member.readable for member in wheel.archive.members}
    for facts in wheel.files.values():
        if facts.damage and readable[facts.path]:
            yield DAMAGED.finding(wheel.filename, facts.path, facts.damage)
    yield from _budgets(wheel, settings)


def _budgets(wheel: Wheel, settings: Settings) -> Iterator[Finding]:
    if 0 < settings.max_wheel_size < wheel.size:
        evidence = f"the wheel has {wheel.size} bytes, max_wheel_size is {settings.max_wheel_size}"
        yield LARGE.finding(wheel.filename, "", evidence)
    if 0 < settings.max_files < len(wheel.files):
        evidence = f"the wheel has {len(wheel.files)} files, max_files is {settings.max_files}"
        yield LARGE.finding(wheel.filename, "", evidence)
    for facts in wheel.files.values():
        if 0 < settings.max_file_size < facts.size:
            evidence = f"the file has {facts.size} bytes, max_file_size is {settings.max_file_size}"
            yield LARGE.finding(wheel.filename, facts.path, evidence)
