"""The distributions that an image has, as the wheels that they were installed from: so the rules for wheels apply.

A distribution is a `.dist-info` directory with a RECORD (PyPA, "Recording installed projects"). What installers add,
INSTALLER and console scripts, is left out. A development tree counts as the archive that it was unpacked from.
"""

import csv
import email.parser
import io
import json
import posixpath
import tarfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from lib.elf.reader import is_elf
from lib.elf.source import ElfError
from lib.wheel.member_file import MemberReader
from lib.wheel.zip_members import Archive
from tools.actions.layer.model import DEVEL_STAMP
from wheels.verify.image.layers import ImageFile, ImageTree
from wheels.verify.model import FileFacts, Wheel
from wheels.verify.wheel import OpenedWheel, make_wheel
from wheels.verify.wheel_set.gather import DEVEL
from wheels.verify.wheel_set.linked import read_linked
from wheels.verify.wheel_set.model import DevelTree, Linked

#: What installers put into a `.dist-info` directory (PyPA, "Recording installed projects").
_OF_INSTALLER: Final = ("INSTALLER", "REQUESTED", "direct_url.json")


@dataclass(frozen=True)
class Installed:
    """A distribution of an image."""

    site: str
    """Site-packages, from the top of the image."""
    dist_info: str
    layer: int
    """Number of the layer that has its RECORD."""
    rows: tuple[tuple[str, ...], ...]
    """The lines of RECORD."""
    opened: OpenedWheel
    """The files of site-packages that RECORD lists, for the engine to read."""
    filename: str
    """Name of the wheel."""

    @property
    def paths(self) -> frozenset[str]:
        """What RECORD lists, from the top of the image."""
        return frozenset(posixpath.normpath(posixpath.join(self.site, row[0])) for row in self.rows)


def _content(tree: ImageTree, path: str) -> bytes:
    file = tree.files.get(path)
    if file is None:
        return b""
    with tree.scratch.open("rb") as scratch:
        scratch.seek(file.member.data)
        return scratch.read(file.member.size)


def installed(tree: ImageTree) -> list[Installed]:
    """Return the distributions, sorted by the paths of their RECORDs."""
    records = [path for path, file in tree.files.items() if path.endswith(".dist-info/RECORD") and _is_file(file)]
    return [_installed(tree, record) for record in records]


def _is_file(file: ImageFile | None) -> bool:
    return file is not None and file.type == tarfile.REGTYPE


def _installed(tree: ImageTree, record: str) -> Installed:
    info = posixpath.dirname(record)
    site, dist_info = posixpath.split(info)
    text = _content(tree, record).decode("utf-8", "replace")
    rows = tuple(tuple([*row, "", ""][:3]) for row in csv.reader(io.StringIO(text, newline="")) if row)
    files = {path: tree.files.get(posixpath.join(site, path)) for path in _of_wheel(rows, dist_info)}
    members = tuple(
        replace(file.member, name=path) for path, file in sorted(files.items()) if file is not None and _is_file(file)
    )
    opened = OpenedWheel(tree.scratch, sum(member.size for member in members), Archive(members))
    filename = _filename(dist_info, _content(tree, f"{info}/WHEEL"))
    return Installed(site, dist_info, tree.files[record].layer, rows, opened, filename)


def _of_wheel(rows: Iterable[tuple[str, ...]], dist_info: str) -> Iterator[str]:
    """Yield the paths of RECORD that the wheel had as well."""
    added = {f"{dist_info}/{name}" for name in _OF_INSTALLER}
    yield from (row[0] for row in rows if row[0] not in added and not row[0].startswith(("/", "../")))


def _filename(dist_info: str, wheel: bytes) -> str:
    """Return the name of the wheel, with all tags that WHEEL lists (PEP 425, "Compressed Tag Sets")."""
    tags = email.parser.BytesParser().parsebytes(wheel).get_all("Tag", ["py3-none-any"])
    parts = zip(*(tag.split("-") for tag in tags if tag.count("-") == 2), strict=True)
    return "-".join([dist_info.removesuffix(".dist-info"), *(".".join(dict.fromkeys(part)) for part in parts)]) + ".whl"


def as_wheel(tree: ImageTree, one: Installed, facts: Iterable[FileFacts], others: Iterable[Installed]) -> Wheel:
    """Return a distribution as the wheel that it was installed from, given the facts about its files."""
    found = {fact.path: fact for fact in facts}
    stamp = next((path for path in found if path.endswith(f"/{DEVEL_STAMP}") and path.count("/") == 1), None)
    top = posixpath.dirname(stamp) if stamp else None
    if top:
        found = {path: fact for path, fact in found.items() if not path.startswith(f"{top}/")}
        package = json.loads(_content(tree, posixpath.join(one.site, top, DEVEL_STAMP))).get("package")
        init = f"{package}/__init__.py"
        if init in found:
            collected = {**found[init].collected, DEVEL: _devel_tree(tree, one.site, top, package, others)}
            found[init] = replace(found[init], collected=collected)
    record = f"{one.dist_info}/RECORD"
    if record in found:
        found[record] = replace(found[record], content=_record(one, top))
    return make_wheel(replace(one.opened, path=Path(one.filename)), found.values())


def _record(one: Installed, top: str | None) -> bytes:
    """Return RECORD as the wheel had it."""
    kept = set(_of_wheel(one.rows, one.dist_info))
    text = io.StringIO(newline="")
    rows = (row for row in one.rows if row[0] in kept and (top is None or row[0].partition("/")[0] != top))
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode()


def _devel_tree(tree: ImageTree, site: str, top: str, package: str, others: Iterable[Installed]) -> DevelTree:
    """Return a development tree as its archive had it: a copy of another package's program counts as a link to it."""
    prefix = posixpath.join(site, top) + "/"
    below = {path.removeprefix(f"{site}/"): file for path, file in tree.files.items() if path.startswith(prefix)}
    below.pop(f"{top}/{DEVEL_STAMP}", None)
    sources = _sources(tree, site, top, others)
    files: dict[str, int] = {}
    links: dict[str, str] = {}
    linked: dict[str, Linked] = {}
    for path, file in below.items():
        source = sources.get((path.partition("/")[2], file.content[2:4]))
        if file.type == tarfile.SYMTYPE:
            links[path] = file.link
        elif _is_file(file) and source is not None:
            links[path] = posixpath.relpath(source, posixpath.dirname(path))
        elif _is_file(file):
            files[path] = file.member.size
            linked |= _linked(tree, file, path)
    directories = frozenset(path for path, file in below.items() if file.type == tarfile.DIRTYPE)
    return DevelTree(f"{package}/_devel.tar", top, files, directories, links, linked)


def _sources(
    tree: ImageTree, site: str, top: str, others: Iterable[Installed]
) -> dict[tuple[str, tuple[object, ...]], str]:
    """Return the files of other packages, by path below their tree, size and CRC-32."""
    rows = (row[0] for one in others if one.site == site for row in one.rows)
    files = ((path, tree.files.get(posixpath.join(site, path))) for path in rows)
    return {
        (path.partition("/")[2], file.content[2:4]): path
        for path, file in files
        if file is not None and _is_file(file) and path.partition("/")[0] != top
    }


def _linked(tree: ImageTree, file: ImageFile, path: str) -> dict[str, Linked]:
    with tree.scratch.open("rb") as scratch:
        opened = MemberReader(scratch, file.member).open()
        if file.member.size < 64 or not is_elf(opened.read(4)):
            return {}
        try:
            linked = read_linked(opened, path)
        except ElfError:
            return {}  # Damaged, or no program and no library: it was so when it was packed.
    return {path: linked} if linked else {}
