"""What the tests under wine share: a machine, and where packages and CPython for Windows are."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.windows.machine import Wine, wine


def pytest_addoption(parser: pytest.Parser) -> None:
    """Take directories from the command line."""
    parser.addoption("--dist", type=Path, help="directory of wheels for Windows")
    parser.addoption("--fetched", type=Path, help="directory that tests.e2e.windows.machine has fetched into")


@pytest.fixture(scope="session")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Wine]:
    with wine(tmp_path_factory.mktemp("wine")) as made:
        yield made


@pytest.fixture(scope="session")
def wheels(request: pytest.FixtureRequest) -> list[Path]:
    return sorted(request.config.getoption("--dist").glob("*.whl"))


@pytest.fixture(scope="session")
def fetched(request: pytest.FixtureRequest) -> Path:
    found: Path = request.config.getoption("--fetched")
    return found
