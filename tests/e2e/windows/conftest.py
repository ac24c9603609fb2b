"""What the tests under wine share: a machine, and where packages and CPython for Windows are."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.windows.machine import Wine, windows_path, wine


def pytest_addoption(parser: pytest.Parser) -> None:
    """Take directories from the command line."""
    parser.addoption("--dist", type=Path, help="directory of packages for Windows, with their index")
    parser.addoption("--fetched", type=Path, help="directory that tests.e2e.windows.machine has fetched into")


@pytest.fixture(scope="session")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Wine]:
    with wine(tmp_path_factory.mktemp("wine")) as made:
        yield made


@pytest.fixture(scope="session")
def page(request: pytest.FixtureRequest) -> str:
    """Return where pip finds all packages."""
    return windows_path(request.config.getoption("--dist") / "find-links.html")


@pytest.fixture(scope="session")
def fetched(request: pytest.FixtureRequest) -> Path:
    found: Path = request.config.getoption("--fetched")
    return found
