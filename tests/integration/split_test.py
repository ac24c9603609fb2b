"""Installs what the build made into a fresh environment, uses all of it, and removes it again."""

import os
import stat
from pathlib import Path

import pytest
from environment import DIST, Environment, is_forwarder


def elf_files(tree: Path) -> list[Path]:
    return [path for path in sorted(tree.rglob("*")) if path.is_file() and path.open("rb").read(4) == b"\x7fELF"]


def libraries(environment: Environment) -> list[Path]:
    trees = [environment.site_packages / name for name in ("_rocm_sdk_core", "_rocm_sdk_libraries", "_rocm_profiler")]
    return [
        path
        for tree in trees
        for path in elf_files(tree)
        if ".so" in path.name and path.suffix not in (".hsaco", ".co")
    ]


def test_the_selector_brings_the_packages_and_one_target(environment: Environment) -> None:
    installed = environment.distributions()
    assert {"rocm", "rocm_sdk_core", "rocm_sdk_libraries", "rocm_sdk_devel", "rocm_profiler"} <= installed
    assert len([name for name in installed if name.startswith("rocm_sdk_device_")]) == 1


def test_every_library_loads_in_a_process_of_its_own(environment: Environment) -> None:
    found = libraries(environment)
    assert len(found) >= 9
    for library in found:
        environment.load(library)


def test_rocm_sdk_test_passes(environment: Environment) -> None:
    assert ", 0 failed, 0 skipped" in environment.run("rocm-sdk", "test").splitlines()[-1]


def test_split_off_device_code_is_found_from_both_trees(environment: Environment) -> None:
    """Device code that was split off libhiprand lies in `.kpack` beside the `lib` that a process loads it from."""
    (archive,) = (environment.site_packages / "_rocm_sdk_libraries/.kpack").iterdir()
    assert archive.read_bytes().startswith(b"KPAK\1\0\0\0")
    assert archive.samefile(environment.site_packages / "_rocm_sdk_devel/.kpack" / archive.name)


def test_devel_tree_mirrors_the_runtime_packages(environment: Environment) -> None:
    root = Path(environment.run("rocm-sdk", "path", "--root").strip())
    assert root == environment.site_packages / "_rocm_sdk_devel"
    for library in libraries(environment):
        relative = library.relative_to(environment.site_packages)
        if relative.parts[0] != "_rocm_profiler":
            mirrored = root.joinpath(*relative.parts[1:])
            if is_forwarder(library):
                assert not mirrored.exists() or mirrored.is_symlink(), f"{mirrored} is {library}, not a link"
            else:
                assert mirrored.stat().st_ino == library.stat().st_ino, f"{mirrored} is not {library}"
    links = [path for path in root.rglob("*.so") if path.is_symlink()]
    assert links
    assert all(path.exists() for path in links)


def test_every_versioned_library_has_its_unversioned_name(environment: Environment) -> None:
    """Programs open `libfoo.so` at run time: it is there, and of at most about 1 KB if it is a forwarder."""
    versioned = [path for path in libraries(environment) if ".so." in path.name]
    assert len(versioned) >= 8
    for library in versioned:
        name = library.with_name(library.name.partition(".so.")[0] + ".so")
        assert name.is_file(), f"{name} is missing"
        assert name.stat().st_size < 1200 or not is_forwarder(name)


def test_no_file_can_be_written_by_others(environment: Environment) -> None:
    for path in environment.site_packages.rglob("*"):
        if path.is_file() and not path.is_symlink():
            assert not path.stat().st_mode & stat.S_IWOTH, path


def test_uninstalling_leaves_nothing(tmp_path: Path) -> None:
    environment = Environment(tmp_path / "environment")
    before = environment.files()
    environment.install("rocm[libraries,devel,device,profiler]")
    environment.run("rocm-sdk", "init", "--quiet")
    environment.pip("uninstall", "--yes", *sorted(environment.distributions()))
    assert environment.files() == before


def test_an_unknown_target_is_refused_with_those_available(tmp_path: Path) -> None:
    environment = Environment(tmp_path / "environment")
    with pytest.raises(AssertionError, match="ROCM_SDK_TARGET_FAMILY") as error:
        environment.install("rocm[device]", ROCM_SDK_TARGET_FAMILY="gfx4711")
    assert "gfx4711" in str(error.value)
    assert os.environ.get("ROCM_SDK_TARGET_FAMILY") is None
    assert "gfx1100" in str(error.value)


def test_the_target_can_be_chosen(tmp_path: Path) -> None:
    environment = Environment(tmp_path / "environment")
    targets = sorted(path.name.split("-")[0].split("_")[-1] for path in DIST.glob("rocm_sdk_device_*.whl"))
    environment.install("rocm[device]", ROCM_SDK_TARGET_FAMILY=targets[-1])
    assert f"rocm_sdk_device_{targets[-1]}" in environment.distributions()
