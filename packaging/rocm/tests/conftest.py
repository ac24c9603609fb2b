"""Makes the sources under test and the helpers beside this file importable, and offers fresh environments."""

from __future__ import annotations

import importlib
import json
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "src"), str(HERE.parent / "backend")]

from environments import Environment, find_uv  # noqa: E402
from fake_sdk import FakeSdk, distributions, make_sdk  # noqa: E402
from rocm_sdk import distributions as known_distributions  # noqa: E402
from rocm_sdk.distributions import parse_distributions  # noqa: E402

INSTALLED = ("rocm_sdk_core", "rocm_sdk_devel", "rocm_sdk_libraries", "rocm_sdk_device_gfx942")


@pytest.fixture(scope="session")
def split_sdk(tmp_path_factory: pytest.TempPathFactory) -> FakeSdk:
    return make_sdk(tmp_path_factory.mktemp("split"), layout="split")


@pytest.fixture(scope="session")
def family_sdk(tmp_path_factory: pytest.TempPathFactory) -> FakeSdk:
    return make_sdk(tmp_path_factory.mktemp("family"), layout="family")


@pytest.fixture(scope="session")
def thin_sdk(tmp_path_factory: pytest.TempPathFactory) -> FakeSdk:
    return make_sdk(tmp_path_factory.mktemp("thin"), layout="thin")


@pytest.fixture
def environment(tmp_path: Path) -> Environment:
    """Offer an empty environment for tests that do not ask what the installer does; uv is the quicker one."""
    return Environment.create(tmp_path / "venv", installer="uv" if find_uv() else "pip")


@pytest.fixture(scope="session")
def shared_environment(tmp_path_factory: pytest.TempPathFactory, split_sdk: FakeSdk) -> Environment:
    """Offer an environment with `rocm[device,devel]` and a development tree, for tests that change nothing in it."""
    root = tmp_path_factory.mktemp("shared") / "venv"
    environment = Environment.create(root, installer="uv" if find_uv() else "pip")
    environment.install(split_sdk.index, "rocm[device,devel]")
    environment.rocm_sdk("init")
    return environment


@pytest.fixture(params=["pip", "uv"])
def any_environment(request: pytest.FixtureRequest, tmp_path: Path) -> Environment:
    return Environment.create(tmp_path / "venv", installer=request.param)


@pytest.fixture
def kfd_nodes(tmp_path: Path) -> Callable[..., Path]:
    """Return a function that writes a KFD topology, one dict of properties a node, and returns its directory."""

    def write(*nodes: dict[str, int]) -> Path:
        for number, properties in enumerate(nodes):
            directory = tmp_path / "nodes" / str(number)
            directory.mkdir(parents=True)
            lines = [f"{name} {value}\n" for name, value in properties.items()]
            (directory / "properties").write_text("".join(lines))
        return tmp_path / "nodes"

    return write


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Path]]:
    """Return a function that unpacks wheels of an SDK into a directory on `sys.path`, and returns that."""
    site = tmp_path / "site"
    site.mkdir()
    monkeypatch.syspath_prepend(str(site))
    known = parse_distributions(json.dumps(distributions("split")))
    monkeypatch.setattr(known_distributions, "load_distributions", lambda: known)

    def unpack(sdk: FakeSdk, *names: str) -> Path:
        for name in names or INSTALLED:
            with zipfile.ZipFile(sdk.index / f"{name}-{sdk.version}-py3-none-any.whl") as wheel:
                wheel.extractall(site)
                for member in wheel.infolist():
                    (site / member.filename).chmod(member.external_attr >> 16)
        importlib.invalidate_caches()
        return site

    yield unpack
    importlib.invalidate_caches()


@pytest.fixture
def site(install: Callable[..., Path], split_sdk: FakeSdk) -> Path:
    return install(split_sdk)
