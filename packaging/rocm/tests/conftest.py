"""Makes the sources under test and the helpers beside this file importable, and offers fresh environments."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "src"), str(HERE.parent / "backend")]

from environments import Environment  # noqa: E402
from fake_sdk import FakeSdk, make_sdk  # noqa: E402


@pytest.fixture(scope="session")
def split_sdk(tmp_path_factory: pytest.TempPathFactory) -> FakeSdk:
    return make_sdk(tmp_path_factory.mktemp("split"), layout="split")


@pytest.fixture(scope="session")
def family_sdk(tmp_path_factory: pytest.TempPathFactory) -> FakeSdk:
    return make_sdk(tmp_path_factory.mktemp("family"), layout="family")


@pytest.fixture
def environment(tmp_path: Path) -> Environment:
    return Environment.create(tmp_path / "venv")


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
