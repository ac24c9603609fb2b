"""What every test of real builds needs: files that any user may read, whatever the umask is."""

import os
from collections.abc import Iterator

import pytest


@pytest.fixture(scope="session", autouse=True)
def umask() -> Iterator[None]:
    """Let all users read what tests write, as a clone does."""
    before = os.umask(0o022)
    yield
    os.umask(before)
