"""What users put into the development tree, or changed in it: nothing of it is lost, whatever makes the tree anew."""

from __future__ import annotations

import shutil
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest
from fake_sdk import FakeSdk
from rocm_sdk.devel import devel_root, expand
from rocm_sdk.devel.inspect import find_faults, find_user_files
from rocm_sdk.devel.user_files import keep
from rocm_sdk.record import is_below, read_record
from trees import TREE, tree_of

RECORD = "rocm_sdk_devel-7.10.0.dev0.dist-info/RECORD"
OWN = f"{TREE}/lib/cmake/mine/mine-config.cmake"


def lose_a_file(site: Path) -> None:
    """Damage the tree, so that `rocm-sdk init` makes it anew."""
    (site / TREE / "include/hip.h").unlink()


def reinstall(site: Path) -> None:
    """Do what an installer does to the tree: remove what RECORD lists, and list only the wheel's own files."""
    rows = read_record(site / RECORD)
    for path in [site / row.path for row in rows if is_below(row.path, TREE)]:
        path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()
    kept = [row for row in rows if not is_below(row.path, TREE)]
    (site / RECORD).write_text("".join(f"{row.path},{row.digest},{row.size}\n" for row in kept))


def upgrade(site: Path) -> None:
    """Change the archive's time, as a devel package of another build has it."""
    archive = site / "rocm_sdk_devel/_devel.tar"
    archive.write_bytes(archive.read_bytes())


WAYS = [lose_a_file, reinstall, upgrade]


def add_own(site: Path) -> None:
    """Install something into the tree, as `cmake --install --prefix` does."""
    (site / OWN).parent.mkdir(parents=True)
    (site / OWN).write_text("set(MINE 1)\n")
    (site / TREE / "lib/libmine.so").symlink_to("libmine.so.1")
    (site / TREE / "lib/more").symlink_to("cmake")


@pytest.mark.parametrize("way", WAYS)
def test_files_of_the_user_stay(site: Path, way: Callable[[Path], None]) -> None:
    devel_root()
    whole = tree_of(site)
    add_own(site)
    way(site)
    devel_root(verify=True)
    assert (site / OWN).read_text() == "set(MINE 1)\n"
    found = tree_of(site)
    assert found[f"{TREE}/lib/libmine.so"] == "-> libmine.so.1"
    assert found[f"{TREE}/lib/more"] == "-> cmake"
    assert {path: found[path] for path in whole} == whole
    assert not (site / f"{TREE}.kept").exists()


def test_changed_files_are_kept_beside_the_new(site: Path) -> None:
    devel_root()
    header = site / TREE / "include/hip.h"
    header.chmod(0o644)
    header.write_text("// mine, and longer\n")
    with pytest.warns(RuntimeWarning, match=r"1 changed files .* kept under another name: .*include/hip\.h\.kept"):
        devel_root(verify=True)
    assert header.read_text() == "// hip\n"
    assert header.with_name("hip.h.kept").read_text() == "// mine, and longer\n"
    header.unlink()
    header.write_text("// mine, once more\n")
    with pytest.warns(RuntimeWarning, match=r"hip\.h\.kept2"):
        devel_root(verify=True)
    assert header.with_name("hip.h.kept").read_text() == "// mine, and longer\n"
    assert header.with_name("hip.h.kept2").read_text() == "// mine, once more\n"


def test_a_change_of_the_same_size_is_kept_when_the_tree_is_made_anew(site: Path) -> None:
    devel_root()
    script = site / TREE / "bin/tool.sh"
    text = script.read_bytes()
    script.write_bytes(text[::-1])
    upgrade(site)
    with pytest.warns(RuntimeWarning, match=r"tool\.sh\.kept"):
        devel_root()
    assert script.read_bytes() == text
    assert script.with_name("tool.sh.kept").read_bytes() == text[::-1]


def test_a_file_that_was_cut_is_nobodys_work(site: Path) -> None:
    devel_root()
    whole = tree_of(site)
    header = site / TREE / "include/hip.h"
    header.chmod(0o644)
    header.write_text("// h")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        devel_root(verify=True)
    assert tree_of(site) == whole


def test_what_takes_the_place_of_a_link_is_kept(site: Path) -> None:
    devel_root()
    link = site / TREE / "bin/hipcc"
    link.unlink()
    link.write_text("#!/bin/mine\n")
    with pytest.warns(RuntimeWarning, match=r"hipcc\.kept"):
        devel_root(verify=True)
    assert link.samefile(site / "_rocm_sdk_core/bin/hipcc")
    assert link.with_name("hipcc.kept").read_text() == "#!/bin/mine\n"


@pytest.mark.parametrize("path", ["bin/hipcc", "lib/libamdhip64.so"])
def test_a_directory_in_the_place_of_a_link_is_kept(site: Path, path: str) -> None:
    devel_root()
    whole = tree_of(site)
    place = site / TREE / path
    place.unlink()
    (place / "below").mkdir(parents=True)
    (place / "below/mine.txt").write_text("mine\n")
    with pytest.warns(RuntimeWarning, match=rf"{place.name}\.kept"):
        devel_root(verify=True)
    assert place.with_name(f"{place.name}.kept").joinpath("below/mine.txt").read_text() == "mine\n"
    found = tree_of(site)
    assert {path: found[path] for path in whole} == whole


@pytest.mark.parametrize("path", ["bin/hipcc", "lib/libamdhip64.so"])
def test_a_link_of_the_user_in_the_place_of_a_link_is_kept(site: Path, path: str) -> None:
    devel_root()
    whole = tree_of(site)
    place = site / TREE / path
    place.unlink()
    place.symlink_to("../include/hip.h")
    with pytest.warns(RuntimeWarning, match=rf"{place.name}\.kept"):
        devel_root(verify=True)
    assert str(place.with_name(f"{place.name}.kept").readlink()) == "../include/hip.h"
    found = tree_of(site)
    assert {path: found[path] for path in whole} == whole


@pytest.mark.parametrize("name", ["n" * 255, "é" * 127])
def test_the_longest_names_are_cut(tmp_path: Path, name: str) -> None:
    for number in ("", "2"):
        (tmp_path / name).write_text(f"mine{number}")
        kept = keep(tmp_path / name, tmp_path / name)
        assert kept.name.endswith(f"{name[:50]}.kept{number}")
        assert kept.read_text() == f"mine{number}"


@pytest.mark.parametrize("way", WAYS[::2])
@pytest.mark.parametrize("path", ["bin/hipcc", "lib/libamdhip64.so"])
def test_what_takes_the_place_of_a_link_is_kept_when_the_tree_is_made_anew(
    site: Path, path: str, way: Callable[[Path], None]
) -> None:
    devel_root()
    whole = tree_of(site)
    (site / TREE / path).unlink()
    (site / TREE / path).write_text("mine\n")
    way(site)
    with pytest.warns(RuntimeWarning, match=r"\.kept"):
        devel_root(verify=True)
    assert (site / TREE / f"{path}.kept").read_text() == "mine\n"
    found = tree_of(site)
    assert {path: found[path] for path in whole} == whole


def test_a_failure_leaves_what_is_the_users(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    devel_root()
    add_own(site)
    lose_a_file(site)

    def fail(*_: object) -> None:
        raise OSError("no room")

    with monkeypatch.context() as patched:
        patched.setattr(expand, "unpack", fail)
        with pytest.raises(Exception, match="no room"):
            devel_root(verify=True)
    assert (site / OWN).read_text() == "set(MINE 1)\n"
    assert not (site / TREE / "include").exists()
    devel_root()
    assert (site / OWN).read_text() == "set(MINE 1)\n"
    assert (site / TREE / "include/hip.h").exists()


def test_the_check_names_files_of_the_user_and_does_not_fail(install: Callable[..., Path], split_sdk: FakeSdk) -> None:
    site = install(split_sdk)
    devel_root()
    assert find_user_files() == []
    add_own(site)
    (site / TREE / "lib/__pycache__").mkdir()
    (site / TREE / "lib/__pycache__/x.pyc").touch()
    assert find_faults() == []
    assert sorted(find_user_files()) == sorted([OWN, f"{TREE}/lib/libmine.so", f"{TREE}/lib/more"])
    shutil.rmtree(site / TREE / "lib/cmake/mine")
