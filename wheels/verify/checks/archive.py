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
    "records of the archive contradict each other, or are read in several ways",
    why="A local header or a data descriptor and the central directory, or the end records: tools that read one see "
    "other files than tools that read the other. So it is with extra fields that are cut off, doubled or wrong, a name "
    "in two encodings, an unknown version. pip, uv or the package index refuse such wheels.",
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
    why="The setting max_wheel_size or max_file_size is a budget: of an index, or of your users.",
    remedy="Find out what grew, and drop or split it; or raise the setting.",
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
    Fault.FIELD: MISMATCH,
    Fault.UNUSUAL: UNUSUAL,
    Fault.OVERLAP: OVERLAP,
    Fault.STRAY: STRAY,
    Fault.METHOD: METHOD,
}


def check(wheel: Wheel, settings: Settings) -> Iterator[Finding]:
    """Look at the archive."""
    faults = {trouble.fault for trouble in wheel.archive.troubles}
    for trouble in wheel.archive.troubles:
        if trouble.fault is Fault.STRAY and Fault.MISMATCH in faults:
            continue  # Where records contradict each other about sizes, the rest belongs to nobody.
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
    for facts in wheel.files.values():
        if 0 < settings.max_file_size < facts.size:
            evidence = f"the file has {facts.size} bytes, max_file_size is {settings.max_file_size}"
            yield LARGE.finding(wheel.filename, facts.path, evidence)
