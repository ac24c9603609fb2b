"""Whether a plain devel package equals an unpacked tree: docs/reference/packages.md, "In a plain devel package".

    check_plain(expected, site)

Each of its files is followed to where it leads: through linker scripts, forwarders and launchers.
"""

import posixpath
import re
from pathlib import Path

from tests.pipeline.expectation import Expected, Shipped, Tree
from tests.pipeline.file_rules import DATA, has_code, is_library, is_program, soname_of
from tests.pipeline.oracle import check_content, is_anywhere
from tests.pipeline.package_reader import FindingError, read_elf
from tests.pipeline.sdk import Data, Directory, Elf, File, Link, Other

SCRIPT = re.compile(rb'/\* GNU ld script, .* \*/\nINPUT\("(.+)"\)\n')


def followed(place: Path) -> Path | None:
    """Return the file behind a linker script, a forwarder or a launcher; None for any other."""
    data = place.read_bytes()
    if script := SCRIPT.fullmatch(data):
        return place.parent / script[1].decode()
    if b"rules_rocm_python forwarder\0" in data:
        (needed,) = read_elf(data).needed
        return place.parent / needed.removeprefix("$ORIGIN/")
    if b".launcher.target\0" in data and (target := re.search(rb"\0([^\0]+)\0{100}", data[64:])):
        return place.parent / target[1].decode()
    return None


def check_plain(expected: Expected, site: Path) -> None:
    """Check all plain devel packages that are installed; raises FindingError."""
    for tree in expected.trees.values():
        if tree.package.kind != "plain":
            continue
        root = site / tree.package.tree
        there = {str(place.relative_to(root)) for place in root.rglob("*") if not place.is_dir()}
        for path in sorted({*tree.own, *there} - {f".{tree.package.distribution}"}):
            if path in tree.own and not tree.wants(path):
                continue
            if path not in tree.own and not _is_below_link(tree, path):
                raise FindingError("plain: extra path", path)
            _check_path(expected, tree, root, path)


def _is_below_link(tree: Tree, path: str) -> bool:
    above = posixpath.dirname(path)
    return bool(above) and (isinstance(tree.own.get(above), Link) or _is_below_link(tree, above))


def _stays_away(expected: Expected, tree: Tree, real: str, file: File) -> bool:
    """Whether the tree may be without a file: no package has it, or only its libraries read it."""
    if not is_anywhere(expected, tree, real):
        return True
    is_started = is_program(real, file) and file.executable and not isinstance(file.content, Data)
    is_read = not is_library(real, file.content) and not is_started
    return has_code(real, file.content) or (is_read and expected.sdk.settings.big_file < 1 << 20)


def _check_path(expected: Expected, tree: Tree, root: Path, path: str) -> None:
    """Check one path, or that it may be absent."""
    place, real = root / path, tree.resolve(path)
    file = tree.file(real) if real else None
    if real is None or file is None:
        if not place.is_dir() and place.exists():
            raise FindingError("plain: not a file", f"{path}: {tree.own.get(path)}")
        return
    if not place.exists():
        if not _stays_away(expected, tree, real, file):
            raise FindingError("plain: path is not there", f"{path}: {tree.own.get(path)}")
        return
    if isinstance(tree.own.get(path), Directory):
        return
    _check_file(tree, root, path, real, file)


def _check_file(tree: Tree, root: Path, path: str, real: str, file: File) -> None:
    place = root / path
    soname, name = soname_of(real, file.content), posixpath.basename(path)
    if soname == name and SCRIPT.fullmatch(place.read_bytes()):
        raise FindingError("plain: not for the loader", path)
    if isinstance(file.content, Elf) and soname not in (None, "", name) and b"forwarder\0" in place.read_bytes():
        raise FindingError("plain: not for linkers", path)
    if b"rules_rocm_python forwarder\0" in place.read_bytes():
        elf = read_elf(place.read_bytes())
        assert isinstance(file.content, Elf | Other)
        if (elf.soname, elf.machine) != (name, file.content.machine):
            raise FindingError("plain: forwarder", f"{path}: {elf}")
    goal = place
    while (further := followed(goal)) is not None:
        if not further.is_file() or further.resolve() == goal.resolve():
            raise FindingError("plain: leads nowhere", f"{path} -> {further}")
        goal = further
    inside = goal.resolve().relative_to(root.resolve()) if goal.resolve().is_relative_to(root.resolve()) else None
    own = (tree.package, str(inside)) if inside else None
    check_content(f"plain: {path}", Shipped(file.content, data=real.endswith(DATA)), goal.read_bytes(), own)
    if goal == place and tree.wants(real) and bool(place.stat().st_mode & 0o100) != file.executable:
        raise FindingError("plain: mode", f"{path}: {place.stat().st_mode:o}; expected of {file}")
