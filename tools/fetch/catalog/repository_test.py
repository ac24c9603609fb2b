"""Which directories Bazel can watch as whole trees: those from which no links go in a circle."""

import os
from pathlib import Path

from tools.fetch.catalog.names import parse_name
from tools.fetch.catalog.repository import directories_of, watched
from tools.fetch.catalog.scan import ScannedArtifact


def made(root: Path, *directories: str, **links: str) -> list[Path]:
    """Make directories, and links `a__b` (`a/b`) to texts; return all directories, none of them a link."""
    for name in directories:
        (root / name).mkdir(parents=True)
    for name, text in links.items():
        (root / name.replace("__", "/")).symlink_to(text)
    return [Path(folder) for folder, _, _ in os.walk(root)]


def names(root: Path, paths: list[Path]) -> list[str]:
    return [path.relative_to(root).as_posix() for path in paths]


def test_without_links_there_is_one_tree(tmp_path: Path) -> None:
    assert watched(made(tmp_path, "a/b", "c")) == ([tmp_path], [])


def test_links_to_directories_elsewhere_are_followed(tmp_path: Path) -> None:
    found = made(tmp_path, "a/b", "c/d", a__b__to="../../c", dangling="nowhere")
    assert watched(found) == ([tmp_path], [])


def test_a_link_to_a_directory_above(tmp_path: Path) -> None:
    trees, listings = watched(made(tmp_path, "a/b/c", "d/e", a__b__up="..", d__e__file="../../x"))
    assert names(tmp_path, trees) == ["a/b/c", "d"]
    assert names(tmp_path, listings) == [".", "a", "a/b"]


def test_a_link_to_the_directory_that_it_lies_in(tmp_path: Path) -> None:
    """Debian's LLVM has one: /usr/lib/llvm-18/build -> ."""
    trees, listings = watched(made(tmp_path, "a/b", a__build="."))
    assert (names(tmp_path, trees), names(tmp_path, listings)) == (["a/b"], [".", "a"])


def test_a_link_to_itself(tmp_path: Path) -> None:
    trees, listings = watched(made(tmp_path, "a", "b", a__me="me"))
    assert (names(tmp_path, trees), names(tmp_path, listings)) == (["b"], [".", "a"])


def test_links_that_lead_to_each_others_directories(tmp_path: Path) -> None:
    trees, listings = watched(made(tmp_path, "a", "b", "c/d", a__to="../b", b__to="../a"))
    assert (names(tmp_path, trees), names(tmp_path, listings)) == (["c"], [".", "a", "b"])


def test_what_was_not_looked_at(tmp_path: Path) -> None:
    """Nobody knows where links in it lead."""
    found = [path for path in made(tmp_path, "a/.hidden", "b") if path.name != ".hidden"]
    trees, listings = watched(found)
    assert (names(tmp_path, trees), names(tmp_path, listings)) == (["b"], [".", "a"])


def test_a_folder_that_is_a_link(tmp_path: Path) -> None:
    made(tmp_path, "kept/a/b", "current", current__a="../kept/a")
    found = [tmp_path / "current", tmp_path / "current/a", tmp_path / "current/a/b"]
    assert watched(found) == ([tmp_path / "current"], [])


def test_a_tree_that_is_deep(tmp_path: Path) -> None:
    deep = tmp_path
    for _ in range(100):
        deep /= "d"
    deep.mkdir(parents=True)
    assert watched(made(tmp_path)) == ([tmp_path], [])


def test_directories_above_what_was_scanned_come_first_and_once(tmp_path: Path) -> None:
    """Of a tree of 1,200 directories all those above each were listed: that took minutes."""
    found = []
    for name in ("a_lib_generic", "b_lib_generic"):
        artifact = ScannedArtifact(tmp_path / name, parse_name(name, tmp_path))
        path = artifact.folder / "math/stage"
        for _ in range(1200):
            artifact.directories.append(path)
            path /= "d"
        found.append(artifact)
    listed = list(directories_of(found))
    above = [tmp_path, tmp_path / "a_lib_generic", tmp_path / "a_lib_generic/math"]
    assert listed[:4] == [*above, tmp_path / "a_lib_generic/math/stage"]
    assert len(listed) == len(set(listed)) == 1 + 2 * (2 + 1200)
