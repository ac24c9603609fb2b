"""Devel images of the mini SDK: the development tree is what pip and `rocm-sdk init` make, and counts as ready."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from environment import Environment
from image_files import DEVEL, SCRIPTS, SITE, Image, unpacked, wheels_of

TREE = "_rocm_sdk_devel"


@pytest.fixture(scope="module", params=DEVEL, ids=lambda image: image.target)
def image(request: pytest.FixtureRequest) -> Image:
    """Return one of the devel images."""
    found: Image = request.param
    return found


@pytest.fixture(scope="module")
def top(image: Image, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a directory with all layers of the image."""
    return unpacked(image, tmp_path_factory.mktemp("image"))


def rocm_sdk(top: Path, *arguments: str) -> str:
    """Run the command of an unpacked image."""
    environment = {"PYTHONPATH": str(top / SITE), "PATH": "/usr/bin:/bin", "HOME": "/nonexistent"}
    command = [sys.executable, "-B", str(top / SCRIPTS / "rocm-sdk"), *arguments]
    result = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def listing(tree: Path) -> dict[str, tuple[bytes | str, bool]]:
    """Return what is in a tree: of files the bytes, and whether they are executable; of links in it where they lead."""
    found: dict[str, tuple[bytes | str, bool]] = {}
    for folder, subfolders, files in os.walk(tree):
        for path in (Path(folder, name) for name in (*subfolders, *files)):
            goal = Path(os.path.normpath(path.parent / path.readlink())) if path.is_symlink() else path.parent
            inside = path.is_symlink() and goal.is_relative_to(tree)
            if inside or not path.is_dir():
                mode = bool(path.stat().st_mode & 0o100)
                found[str(path.relative_to(tree))] = (str(path.readlink()) if inside else path.read_bytes(), mode)
    return {path: what for path, what in found.items() if "__pycache__" not in path}


def times(site: Path) -> dict[Path, int]:
    """Return when each file was changed; Python's caches do not count."""
    files = (path for path in site.rglob("*") if path.is_symlink() or path.is_file())
    return {path: path.lstat().st_mtime_ns for path in files if "__pycache__" not in path.parts}


def environment_for(image: Image, directory: Path) -> Environment:
    """Return an environment with the packages of a devel image, by pip, and the tree by `rocm-sdk init`."""
    environment = Environment(directory)
    environment.pip("install", "--no-deps", "--no-index", *map(str, wheels_of(image)))
    environment.run("rocm-sdk", "init")
    return environment


def test_the_tree_is_what_pip_and_init_make(image: Image, top: Path, tmp_path: Path) -> None:
    environment = environment_for(image, tmp_path)
    made, layered = listing(environment.site_packages / TREE), listing(top / SITE / TREE)
    assert made.keys() == layered.keys()
    assert [path for path in made if made[path] != layered[path]] == []
    directories = [
        {path for path, _, _ in os.walk(tree) if not path.endswith("__pycache__")}
        for tree in (environment.site_packages / TREE, top / SITE / TREE)
    ]
    assert len(directories[0]) == len(directories[1])


def test_a_program_is_a_file_and_a_library_of_another_package_is_a_link(top: Path) -> None:
    tree = top / SITE / TREE
    linked = {path for path in tree.rglob("*.so*") if path.is_symlink() and "_rocm_sdk_core" in str(path.readlink())}
    assert linked
    assert not [path for path in (tree / "bin").iterdir() if path.is_symlink() and "_rocm_sdk_" in str(path.readlink())]


def test_the_tree_counts_as_ready(top: Path) -> None:
    before = times(top / SITE)
    assert rocm_sdk(top, "path", "--root") == f"{top / SITE / TREE}\n"
    assert str(top / SITE / TREE) in rocm_sdk(top, "init")
    assert "0 failed" in rocm_sdk(top, "test")
    assert times(top / SITE) == before


def test_uninstalling_leaves_nothing(top: Path, tmp_path: Path) -> None:
    environment = Environment(tmp_path)
    shutil.copytree(top / SITE, environment.site_packages, symlinks=True, dirs_exist_ok=True)
    packages = [path.name.partition("-")[0] for path in environment.site_packages.glob("*.dist-info")]
    # Links to a package that is gone already are removed, too.
    environment.pip("uninstall", "--yes", *sorted(packages, key=lambda name: name == "rocm_sdk_devel"))
    assert not list(environment.site_packages.iterdir())
