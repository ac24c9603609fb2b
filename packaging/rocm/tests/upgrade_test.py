"""Versions come and go: the development tree always belongs to the installed version, and the user's files stay.

For ROCm, and with the module that other SDKs ship; with files in the wheel, and with an archive. With real pip and uv.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from environments import Environment
from fake_sdk import PACKAGES, Devel, make_sdk, write_wheel

VERSIONS = ("7.10.0", "7.11.0")


@dataclass(frozen=True)
class Sdk:
    """An SDK in two versions, both in one directory."""

    index: Path
    tree: str
    requirement: str
    distributions: tuple[str, ...]
    #: Prints the root of the tree.
    root: str

    def install(self, environment: Environment, version: str) -> Path:
        """Install a version, and ask for the root of its tree."""
        environment.install(self.index, f"{self.requirement}=={version}")
        printed = environment.run_code(self.root).splitlines()[-1]
        assert Path(printed) == environment.site / self.tree, printed
        return Path(printed)

    def uninstall(self, environment: Environment) -> None:
        """Uninstall everything."""
        environment.uninstall(*self.distributions)


def devel(tree: str, version: str, archive: str) -> Devel:
    """Return a tree with a header that names the version, a file that only this version has, and links."""
    files = {"include/version.h": f"// {version}\n".encode(), f"include/{version}.h": b"data\n"}
    return Devel(files, {"headers": "include", f"share/{version}": "../include/version.h"}, archive, tree)


def rocm(index: Path, archive: str) -> Sdk:
    """Return ROCm's packages."""
    for version in VERSIONS:
        one = devel("_rocm_sdk_devel", version, archive)
        sdk = make_sdk(index / version, layout="split", version=version, devel=one)
        for path in sdk.index.iterdir():
            path.rename(index / path.name)
    root = "from rocm_sdk.devel import devel_root; print(devel_root())"
    distributions = ("rocm", "rocm-sdk-core", "rocm-sdk-devel")
    return Sdk(index, "_rocm_sdk_devel", "rocm[devel]", distributions, root)


def other(index: Path, archive: str) -> Sdk:
    """Return the devel package of another SDK."""
    module = (PACKAGES.parent / "rules/runtime/devel_tree.py").read_bytes()
    for version in VERSIONS:
        files = {
            "acme_devel/__init__.py": module,
            **devel("_acme_devel", version, archive).members(version, "acme_devel"),
        }
        write_wheel(index, "acme-devel", version, files)
    return Sdk(index, "_acme_devel", "acme-devel", ("acme-devel",), "import acme_devel; print(acme_devel.root())")


@pytest.mark.parametrize("archive", ["", "_devel.tar"], ids=["files", "tar"])
@pytest.mark.parametrize("make", [rocm, other])
def test_versions_come_and_go(
    any_environment: Environment, tmp_path: Path, make: Callable[[Path, str], Sdk], archive: str
) -> None:
    index = tmp_path / "index"
    index.mkdir()
    sdk, environment = make(index, archive), any_environment
    before = environment.files()
    root = sdk.install(environment, VERSIONS[0])
    (root / "lib/cmake/mine").mkdir(parents=True)
    own, in_the_way = root / "lib/cmake/mine/mine.cmake", root / f"share/{VERSIONS[1]}"
    plugin = root / "share/mine.so"
    own.write_text("mine")
    plugin.write_text("mine")
    in_the_way.write_text("mine, and not of the next version")
    for version in VERSIONS[::-1]:
        sdk.install(environment, version)
        assert (root / "headers/version.h").read_text() == f"// {version}\n"
        assert {path.name for path in root.glob("include/7.*.h")} == {f"{version}.h"}
        assert {path.name for path in root.glob("share/7.*") if path.suffix != ".kept"} == {version}
        assert own.read_text() == plugin.read_text() == "mine"
        sdk.install(environment, version)
    sdk.uninstall(environment)
    kept = in_the_way.with_name(f"{in_the_way.name}.kept")
    assert kept.read_text() == "mine, and not of the next version"
    left = {path for path in environment.files() - before if (environment.root / path).is_file()}
    assert left == {path.relative_to(environment.root).as_posix() for path in (own, plugin, kept)}
