"""One environment with every package, shared by the tests of a file."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from environment import Environment


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """Install everything that the selector offers."""
    environment = Environment(tmp_path_factory.mktemp("environment"))
    environment.install("rocm[libraries,devel,device,profiler]")
    return environment
