"""Distributions with core metadata 2.6: what they say to import is there, and what the sdist promises is installed."""

import importlib.metadata
import tarfile
from email import message_from_string
from zipfile import ZipFile

import pytest
from environment import DIST, Environment
from packaging.metadata import Metadata


def metadata_of(name: str) -> Metadata:
    return Metadata.from_email((DIST / f"{name}.metadata").read_bytes(), validate=True)


WHEELS = {path.name: metadata_of(path.name) for path in sorted(DIST.glob("*.whl"))}


def pkg_info() -> Metadata:
    (sdist,) = DIST.glob("rocm-*.tar.gz")
    with tarfile.open(sdist) as tar:
        file = tar.extractfile(f"{sdist.name.removesuffix('.tar.gz')}/PKG-INFO")
        assert file
        return Metadata.from_email(file.read(), validate=True)


def test_each_wheel_says_what_can_be_imported() -> None:
    found = {metadata.name: metadata.import_names for metadata in WHEELS.values()}
    assert found["rocm-sdk-core"] == ["_rocm_sdk_core; private", "rocm_sdk_core"]
    assert found["rocm-sdk-device-gfx942"] == []
    assert found["rocm-sdk-devel"] == ["_rocm_sdk_devel; private", "rocm_sdk_devel"]
    assert {metadata.metadata_version for metadata in WHEELS.values()} == {"2.6"}


def test_what_is_said_is_in_the_wheel() -> None:
    for filename, metadata in WHEELS.items():
        with ZipFile(DIST / filename) as wheel:
            paths = set(wheel.namelist())
        for name in metadata.import_names or []:
            assert f"{name.partition(';')[0]}/__init__.py" in paths, f"{filename}: {name}"


def test_the_sdist_says_what_all_its_wheels_require() -> None:
    metadata = pkg_info()
    assert (metadata.metadata_version, metadata.import_names) == ("2.6", ["rocm_sdk"])
    assert metadata.dynamic == ["requires-dist", "provides-extra"]
    required = [one.name for one in metadata.requires_dist or [] if not one.marker]
    assert required == ["rocm-sdk-core"]
    assert {"devel", "device-all", "device-gfx942", "libraries"} <= set(metadata.provides_extra or [])
    assert "device" not in (metadata.provides_extra or []), "that is the machine's own"


@pytest.mark.parametrize("target", ["gfx942", "gfx1100"])
def test_pip_installs_what_the_sdist_promises(environment: Environment, target: str) -> None:
    environment.install("--force-reinstall", "rocm[devel,device]", ROCM_SDK_TARGET_FAMILY=target)
    assert f"rocm_sdk_device_{target}" in environment.distributions()
    (installed,) = importlib.metadata.distributions(name="rocm", path=[str(environment.site_packages)])
    message = message_from_string(installed.read_text("METADATA") or "")
    promised: dict[str, list[str]] = {
        "Requires-Dist": [*map(str, pkg_info().requires_dist or [])],
        "Provides-Extra": [*map(str, pkg_info().provides_extra or [])],
    }
    for field, values in promised.items():
        assert set(values) <= set(message.get_all(field, [])), f"{field} of the sdist is missing in the wheel"
