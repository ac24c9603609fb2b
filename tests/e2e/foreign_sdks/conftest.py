"""What the tests of other SDKs get: what `make.py` made, and CPython for Windows."""

from pathlib import Path

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Take directories from the command line."""
    parser.addoption("--made", type=Path, help="directory that tests.e2e.foreign_sdks.make has written to")
    parser.addoption("--fetched", type=Path, help="directory that tests.e2e.windows.machine has fetched into")


@pytest.fixture(scope="session")
def directory(request: pytest.FixtureRequest) -> Path:
    found: Path = request.config.getoption("--made")
    return found


@pytest.fixture(scope="session")
def fetched(request: pytest.FixtureRequest) -> Path:
    found: Path = request.config.getoption("--fetched")
    return found
