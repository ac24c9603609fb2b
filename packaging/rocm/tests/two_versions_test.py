"""Metadata of several versions in one directory: a version suffix lets their trees lie there side by side."""

from __future__ import annotations

from pathlib import Path

import pytest
from rocm_sdk.distributions import Distributions, PackageNames
from rocm_sdk.installation import find_in_site, installed_packages, list_dist_infos

CORE = PackageNames("rocm-sdk-core", "rocm_sdk_core", "_rocm_sdk_core_7_10")
VERSIONS = ("7.10.0", "7.9.0", "7.11.0")


def build(version: str, suffix: str = "") -> Distributions:
    return Distributions(version, "split", (), "", {"core": CORE}, suffix)


@pytest.fixture
def site(tmp_path: Path) -> Path:
    for version in VERSIONS:
        directory = tmp_path / f"rocm_sdk_core-{version}.dist-info"
        directory.mkdir()
        (directory / "METADATA").touch()
    return tmp_path


@pytest.mark.parametrize("suffix", ["", "_7"])
@pytest.mark.parametrize("version", VERSIONS)
def test_that_of_the_build_is_found(site: Path, version: str, suffix: str) -> None:
    package = find_in_site(CORE, site, build(version, suffix))
    assert package is not None
    assert package.version == version


def test_without_a_suffix_another_version_counts(site: Path) -> None:
    """Somebody forgot it, or put it there instead of the right one."""
    assert list_dist_infos(site, build("8.0.0")).keys() == {"rocm-sdk-core"}


def test_with_a_suffix_another_version_is_not_one_of_the_build(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert list_dist_infos(site, build("8.0.0", "_8")) == {}
    (site / "rocm_sdk_core").mkdir()
    (site / "rocm_sdk_core/__init__.py").touch()
    monkeypatch.syspath_prepend(str(site))
    assert installed_packages(build("8.0.0", "_8")) == {}
    assert installed_packages(build("7.9.0", "_7_9")).keys() == {"rocm-sdk-core"}
