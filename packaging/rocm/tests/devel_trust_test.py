"""A development tree outside of site-packages is used only if root and the user alone can have made or changed it."""

from __future__ import annotations

import importlib
import os
import pwd
import shutil
import stat
import struct
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from fake_sdk import FakeSdk
from rocm_sdk.devel import devel_root, trust
from rocm_sdk.devel.layout import ROOT_VARIABLE, find_layout
from rocm_sdk.errors import DevelError
from trees import TREE, tree_of

NOBODY = 65534
TOOL = "bin/tool.sh"


def run_as(user: int, action: Callable[[], object]) -> int:
    """Do something in a child process of another user; return the child's exit code."""
    child = os.fork()
    if not child:
        code = 1
        try:
            os.setgroups([])
            os.setgid(user)
            os.setuid(user)
            os.umask(0o022)
            action()
            code = 0
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@pytest.fixture
def needs_root() -> None:
    if os.geteuid() or run_as(NOBODY, lambda: None):
        pytest.skip("only root can be other users, and not where user namespaces map none")


@pytest.fixture
def shared() -> Iterator[Path]:
    """Return a directory that everybody can read and write, in which each can only remove what is his: like /tmp."""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        Path(folder).chmod(0o1777)
        yield Path(folder)


@pytest.fixture
def place(shared: Path, site: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the directory of the user's, below a shared one, in which the tree is to be made."""
    root = shared / "mine" / "deep"
    monkeypatch.setenv(ROOT_VARIABLE, str(root))
    return root


def plant(honest: Path, prepared: Path) -> None:
    """Copy a tree, with all that says that it is whole, and change a tool."""
    shutil.copytree(honest.parent, prepared, symlinks=True)
    (prepared / TREE / TOOL).unlink()
    (prepared / TREE / TOOL).write_text("#!/bin/sh\necho planted\n")
    (prepared / TREE / TOOL).chmod(0o755)


@pytest.mark.usefixtures("needs_root")
def test_a_tree_that_another_user_prepared_is_refused(
    place: Path, shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    honest = devel_root()
    monkeypatch.setenv(ROOT_VARIABLE, str(shared / "theirs"))
    prepared = shared / "theirs" / honest.parent.name
    assert run_as(NOBODY, lambda: plant(honest, prepared)) == 0
    name = pwd.getpwuid(NOBODY).pw_name
    with pytest.raises(DevelError) as caught:
        devel_root()
    message = str(caught.value)
    assert message.startswith(f"{prepared / TREE} belongs to {name} (user {NOBODY}); expected that only you or root")
    assert f"Set {ROOT_VARIABLE}" in message
    assert "planted" in (prepared / TREE / TOOL).read_text(), "what is refused is not changed"


@pytest.mark.usefixtures("needs_root")
def test_a_directory_that_another_user_made_before_is_refused(
    shared: Path, site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs = shared / "theirs"
    monkeypatch.setenv(ROOT_VARIABLE, str(theirs / "below"))
    assert run_as(NOBODY, lambda: theirs.mkdir()) == 0
    with pytest.raises(DevelError, match=f"{theirs} belongs to .*user {NOBODY}"):
        devel_root()
    assert list(theirs.iterdir()) == [], "nothing is made there"


@pytest.mark.usefixtures("needs_root")
def test_a_link_of_another_user_is_refused(place: Path, shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    devel_root()
    link = shared / "link"
    assert run_as(NOBODY, lambda: link.symlink_to(place)) == 0
    monkeypatch.setenv(ROOT_VARIABLE, str(link))
    with pytest.raises(DevelError, match=f"{link} belongs to .*user {NOBODY}"):
        devel_root()


@pytest.mark.usefixtures("needs_root")
@pytest.mark.parametrize("part", ["the tree", "its directory", "above"])
def test_who_owns_a_part_of_the_way_owns_the_tree(place: Path, part: str) -> None:
    root = devel_root()
    path = {"the tree": root, "its directory": root.parent, "above": place.parent}[part]
    os.chown(path, NOBODY, NOBODY)
    with pytest.raises(DevelError, match=f"{path} belongs to .*user {NOBODY}"):
        devel_root()


@pytest.mark.usefixtures("needs_root")
def test_a_tree_that_root_made_is_for_all(
    shared: Path, split_sdk: FakeSdk, install: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As an image has it: made where it is built, used by whoever runs it."""
    public = shared / "site"
    shutil.copytree(install(split_sdk), public)
    monkeypatch.syspath_prepend(str(public))
    importlib.invalidate_caches()
    monkeypatch.setenv(ROOT_VARIABLE, str(shared / "roots"))
    root = devel_root()
    assert root.is_relative_to(shared)
    assert run_as(NOBODY, lambda: devel_root().joinpath(TOOL).read_bytes()) == 0
    os.chown(root, NOBODY + 1, NOBODY)
    assert run_as(NOBODY, devel_root) == 1


@pytest.mark.parametrize(
    ("part", "mode"),
    [("the tree", 0o757), ("its directory", 0o757), ("its directory", 0o1777), ("above", 0o757)],
)
def test_what_everyone_can_write_is_refused(place: Path, part: str, mode: int) -> None:
    root = devel_root()
    path = {"the tree": root, "its directory": root.parent, "above": place.parent}[part]
    path.chmod(mode)
    with pytest.raises(DevelError, match=rf"{path} can be written by everyone \(mode {mode:04o}\); .*chmod go-w"):
        devel_root()
    path.chmod(0o755)
    assert devel_root() == root


@pytest.mark.usefixtures("needs_root")
def test_what_a_group_can_write_is_refused_unless_it_is_the_owners_own(place: Path) -> None:
    root = devel_root()
    os.chown(place, 0, NOBODY)
    place.chmod(0o775)
    with pytest.raises(DevelError, match=rf"{place} can be written by the group .*{NOBODY}.*mode 0775"):
        devel_root()
    os.chown(place, 0, 0)
    assert devel_root() == root


def test_whom_an_access_control_list_names_counts(place: Path) -> None:
    """With such a list the group's bits are for all whom the list names, in a file of root's group, too."""
    devel_root()
    entries = [(1, 7, -1), (2, 7, NOBODY), (4, 5, -1), (0x10, 7, -1), (0x20, 5, -1)]
    acl = struct.pack("<I", 2) + b"".join(struct.pack("<HHI", tag, bits, who % 2**32) for tag, bits, who in entries)
    try:
        os.setxattr(place, "system.posix_acl_access", acl)
    except OSError:
        pytest.skip("a file system without access control lists")
    with pytest.raises(DevelError, match=rf"{place} can be written by those whom its access control list names"):
        devel_root()


@pytest.mark.usefixtures("needs_root")
def test_what_is_out_of_reach_is_not_looked_at(shared: Path, site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (shared / "private").mkdir(0o700)
    monkeypatch.setenv(ROOT_VARIABLE, str(shared / "private" / "root"))
    home = find_layout()
    assert run_as(NOBODY, lambda: trust.require_trust(home)) == 0


@pytest.mark.parametrize("umask", [0o000, 0o002, 0o077])
def test_what_is_made_can_be_trusted_with_any_umask(place: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        root = devel_root()
        assert devel_root() == root
    finally:
        os.umask(before)
    made = [path for path in (place.parent, *place.parent.rglob("*")) if not path.is_symlink()]
    directories = [path for path in made if path.is_dir()]
    # The others are links to files of packages; whoever can write the lock can make others wait.
    files = [path for path in made if path.is_file() and path.stat().st_nlink == 1 and path.name != "_devel.lock"]
    assert min(len(directories), len(files)) > 5
    assert [path for path in [*directories, *files] if path.stat().st_mode & (stat.S_IWGRP | stat.S_IWOTH)] == []


def test_a_tree_in_site_packages_is_as_trusted_as_they_are(site: Path, tmp_path: Path) -> None:
    site.chmod(0o777)
    assert devel_root() == site / TREE
    assert tree_of(site)


@pytest.mark.usefixtures("needs_root")
def test_root_outside_of_a_user_namespace_may_own_what_is_above(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """There the kernel shows it as another user, who owns `/`; the tree must be the user's even so."""
    root = devel_root()
    os.chown(place, NOBODY, NOBODY)
    monkeypatch.setattr(trust, "_outsiders", lambda: {NOBODY})
    assert devel_root() == root
    os.chown(root, NOBODY, NOBODY)
    with pytest.raises(DevelError, match=f"{root} belongs to"):
        devel_root()
