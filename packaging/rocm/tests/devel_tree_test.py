"""The module that unpacks other SDKs' trees: what users have in the way is kept, what a killed process left goes."""

from __future__ import annotations

import itertools
import os
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fake_sdk import PACKAGES, DevelArchive, write_wheel

MODULE = PACKAGES.parent / "rules/runtime/devel_tree.py"
TREE = "_acme_devel"


def install(site: Path, archive: DevelArchive) -> dict[str, Any]:
    """Unpack a wheel with that archive into a directory; return the module's names."""
    files = {"acme_devel/__init__.py": MODULE.read_bytes(), "acme_devel/_devel.tar": archive.data()}
    site.parent.joinpath("index").mkdir(exist_ok=True)
    with zipfile.ZipFile(write_wheel(site.parent / "index", "acme-devel", "1.0", files)) as wheel:
        wheel.extractall(site)
    names: dict[str, Any] = {"__file__": str(site / "acme_devel/__init__.py"), "__name__": "acme_devel"}
    exec(compile(MODULE.read_bytes(), "acme_devel/__init__.py", "exec", dont_inherit=True), names)
    return names


def archive() -> DevelArchive:
    """Return an archive with a file, a directory and a link."""
    members = DevelArchive().file(f"{TREE}/include/acme.h", b"// acme\n").file(f"{TREE}/lib64/acme.txt")
    return members.link(f"{TREE}/lib/acme.txt", "../lib64/acme.txt")


def directory(path: Path) -> Path:
    """Put a file into a directory of that name."""
    path.mkdir(parents=True)
    (path / "mine.txt").write_text("mine")
    return path / "mine.txt"


def file(path: Path) -> Path:
    """Put a file there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("mine")
    return path


def link(path: Path) -> Path:
    """Put a link there, to a directory of the tree."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to("../mine")
    return path


IN_THE_WAY = [(put, path) for put in (directory, file, link) for path in ("include/acme.h", "lib64", "lib/acme.txt")]


@pytest.mark.parametrize(("put", "path"), [one for one in IN_THE_WAY if one != (directory, "lib64")])
def test_what_is_in_the_way_is_kept(tmp_path: Path, put: Callable[[Path], Path], path: str) -> None:
    site = tmp_path / "site"
    (site / TREE / "mine").mkdir(parents=True)
    mine = put(site / TREE / path)
    tree = install(site, archive())["root"]()
    assert (tree / "include/acme.h").read_bytes() == b"// acme\n"
    assert (tree / "lib/acme.txt").read_bytes() == (tree / "lib64/acme.txt").read_bytes() == b"data\n"
    assert not (tree / "lib64").is_symlink()
    kept = Path(f"{site / TREE / path}.kept") / mine.relative_to(site / TREE / path)
    assert os.path.lexists(kept)
    assert kept.is_symlink() or kept.read_text() == "mine"


@pytest.mark.parametrize("name", ["n" * 255, "é" * 127])
def test_the_longest_names_are_cut(tmp_path: Path, name: str) -> None:
    mine = tmp_path / f"site/{TREE}/{name}"
    mine.parent.mkdir(parents=True)
    mine.write_text("mine")
    install(tmp_path / "site", archive().file(f"{TREE}/{name}"))["root"]()
    assert mine.read_bytes() == b"data\n"
    assert [path.read_text() for path in mine.parent.glob("*.kept")] == ["mine"]


def test_what_a_killed_process_left_goes(tmp_path: Path) -> None:
    site = tmp_path / "site"
    module = install(site, archive())
    child = os.fork()
    if not child:
        try:
            module["_mark"] = lambda path: os._exit(9) if path.parent.name == "include" else []
            module["root"]()
        finally:
            os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
    record = next(site.glob("*.dist-info/RECORD"))
    left = {path.name for path in site.iterdir()} - {record.parent.name, "acme_devel", TREE}
    assert left
    assert left <= {row.partition(",")[0] for row in record.read_text().splitlines()}, "no uninstallation removes it"
    module["root"]()
    assert {path.name for path in site.iterdir()} == {record.parent.name, "acme_devel", TREE}
    assert f"{TREE}." not in record.read_text()


def killed(module: dict[str, Any], site: Path, moment: int) -> None:
    """Ask for the tree in a process that is killed before a change of the file system, by its number."""
    child = os.fork()
    if not child:
        steps = itertools.count(1)

        def die(event: str, arguments: tuple[object, ...]) -> None:
            if event in ("os.rename", "os.mkdir", "open") and str(site) in str(arguments[0]) and next(steps) == moment:
                os._exit(9)

        try:
            sys.addaudithook(die)
            module["root"]()
        finally:
            os._exit(0)
    os.waitpid(child, 0)


@pytest.mark.parametrize("moment", range(1, 25))
def test_record_lists_each_file_that_a_killed_process_left(tmp_path: Path, moment: int) -> None:
    site = tmp_path / "site"
    module = install(site, archive())
    (record,) = site.glob("*.dist-info/RECORD")
    killed(module, site, moment)
    listed = {site / row.partition(",")[0] for row in record.read_text().splitlines()}
    left = [path for path in site.rglob("*") if path.is_file() and path != record]
    assert not [path for path in left if not {path, *path.parents} & listed]


def test_a_record_that_a_cache_shares_is_not_written_in_place(tmp_path: Path) -> None:
    """Conda links all files of a package from its cache."""
    site = tmp_path / "site"
    module = install(site, archive())
    (record,) = site.glob("*.dist-info/RECORD")
    (tmp_path / "cache").hardlink_to(record)
    before = record.read_bytes()
    module["root"]()
    assert (tmp_path / "cache").read_bytes() == before != record.read_bytes()


@pytest.mark.parametrize("moment", range(1, 25))
def test_a_killed_process_leaves_nothing_of_users_in_record(tmp_path: Path, moment: int) -> None:
    """The next version's installer removes what RECORD names, whole directories among it."""
    site = tmp_path / "site"
    mine = [put(site / TREE / path) for put, path in ((file, "include/acme.h"), (directory, "lib"))]
    newer = archive().link(f"{TREE}/lib", "lib64") if moment % 2 else archive()
    module = install(site, newer)
    killed(module, site, moment)
    (record,) = site.glob("*.dist-info/RECORD")
    listed = [site / row.partition(",")[0] for row in record.read_text().splitlines()]
    for path in mine:
        places = [path, *site.rglob(f"{path.name}.kept*"), *site.rglob(f"*.kept*/{path.name}")]
        (there,) = [one for one in places if one.is_file() and one.read_text() == "mine"]
        assert not {there, *there.parents} & set(listed), there
