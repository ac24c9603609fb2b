"""W201 to W206: RECORD lists every file with its digest (PyPA, "Recording installed projects"; PEP 376, PEP 427)."""

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from lib.wheel.member_file import MemberReader
from lib.wheel.record import WITHOUT_DIGEST, encoded, record_rows
from lib.wheel.zip_members import Fault
from wheels.verify.finding import Finding, Rule
from wheels.verify.model import FileFacts, Wheel
from wheels.verify.settings import Settings

REMEDY: Final = "Write RECORD last, from the files as they are in the wheel."
UNREADABLE = Rule(
    "W201",
    "RECORD is missing or cannot be read",
    why="Without it nothing can be verified, and nothing uninstalled.",
    remedy=REMEDY,
)
UNLISTED = Rule(
    "W202",
    "a file is not in RECORD",
    why="It is not verified, and stays behind when the package is uninstalled; many installers refuse the wheel.",
    remedy=REMEDY,
)
ABSENT = Rule(
    "W203", "RECORD lists a file that is not there", why="Installers that verify the wheel refuse it.", remedy=REMEDY
)
CHANGED = Rule(
    "W204",
    "a file has another size or digest than RECORD says",
    why="The file was changed after the wheel was made, or RECORD was.",
    remedy=REMEDY,
)
FORM = Rule(
    "W206",
    "a line of RECORD is not valid",
    why="Three fields: a path as in the archive, once; `sha256=` (or better) with urlsafe base64 without padding; the "
    "size in bytes. The lines of RECORD itself and of its signatures have the path alone.",
    remedy=REMEDY,
)
#: PEP 376 wants no weaker one.
STRONG: Final = ("sha256", "sha384", "sha512")


def check(wheel: Wheel, settings: Settings) -> Iterator[Finding]:
    """Compare RECORD with the files."""
    del settings
    path = f"{wheel.dist_info}/RECORD"
    content = wheel.text("RECORD")
    if content is None:
        if all(trouble.fault is not Fault.UNREADABLE for trouble in wheel.archive.troubles):
            yield UNREADABLE.finding(wheel.filename, path if wheel.dist_info else "", "there is none that can be read")
        return
    try:
        rows = record_rows(content)
    except ValueError as error:
        yield UNREADABLE.finding(wheel.filename, path, str(error))
        return
    counts = Counter(row[0] for row in rows if row)
    for listed, count in sorted(counts.items()):
        if count > 1:
            yield FORM.finding(wheel.filename, listed, f"listed {count} times")
    for number, row in enumerate(rows, 1):
        yield from _row(wheel, number, row)
    for unlisted in sorted(wheel.files.keys() - counts.keys()):
        if unlisted not in {f"{wheel.dist_info}/{name}" for name in WITHOUT_DIGEST[1:]}:
            yield UNLISTED.finding(wheel.filename, unlisted, "RECORD has no line for it")


def _row(wheel: Wheel, number: int, row: Sequence[str]) -> Iterator[Finding]:
    if len(row) != 3:
        yield FORM.finding(wheel.filename, row[0] if row else "", f"line {number} has {len(row)} fields; expected 3")
        return
    path, digest, size = row
    facts = wheel.files.get(path)
    if facts is None:
        yield ABSENT.finding(wheel.filename, path, f"line {number} of RECORD")
    elif path in {f"{wheel.dist_info}/{name}" for name in WITHOUT_DIGEST}:
        if digest or size:
            yield FORM.finding(wheel.filename, path, f"line {number}: {digest!r}, {size!r}; expected empty fields")
    else:
        yield from _file(wheel, facts, digest, size)


def _file(wheel: Wheel, facts: FileFacts, digest: str, size: str) -> Iterator[Finding]:
    """Compare one file; where the size is another one, the digest is so, too."""
    algorithm, _, text = digest.partition("=")
    if size.isascii() and size.isdecimal() and int(size[:20]) != facts.size:
        yield CHANGED.finding(wheel.filename, facts.path, f"RECORD says {size} bytes, the file has {facts.size}")
    elif algorithm not in STRONG:
        yield FORM.finding(wheel.filename, facts.path, f"digest {digest!r}; expected one of {', '.join(STRONG)}")
    elif facts.sha256 and text != (wanted := encoded(_digest(wheel, facts, algorithm))):
        if text.replace("+", "-").replace("/", "_").rstrip("=") == wanted:
            yield FORM.finding(wheel.filename, facts.path, f"digest {text!r}; expected urlsafe, unpadded {wanted!r}")
        else:
            yield CHANGED.finding(wheel.filename, facts.path, f"RECORD says {text!r}, the file has {wanted!r}")
    elif size != str(facts.size):
        yield FORM.finding(wheel.filename, facts.path, f"size {size!r}; expected {str(facts.size)!r}")


def _digest(wheel: Wheel, facts: FileFacts, algorithm: str) -> str:
    """Return a file's digest in hexadecimal. For another than SHA-256, which few wheels have, it is read once more."""
    if algorithm == "sha256":
        return facts.sha256
    found = hashlib.new(algorithm)
    member = {one.name: one for one in wheel.archive.members}[facts.path]
    with wheel.path.open("rb") as file:
        for chunk in MemberReader(file, member).chunks():
            found.update(chunk)
    return found.hexdigest()
