"""A framework with native code, on installed ROCm packages: what `rocm-sdk init-py` wrote makes its library load."""

import os
import shutil
from pathlib import Path

import pytest
from environment import Environment

FRAMEWORK = Path(os.environ["FRAMEWORK"]).absolute()
USE = "import mini_framework.blas; print(mini_framework.blas.depth())"
#: Through rocBLAS, HIP, the HSA runtime and liblzma, with the framework's own library before them.
DEPTH = 5


@pytest.fixture
def framework(tmp_path: Path) -> Environment:
    """Install the libraries and the framework, not the development tree."""
    environment = Environment(tmp_path / "environment")
    environment.install("rocm[libraries]")
    shutil.copytree(FRAMEWORK, environment.site_packages / "mini_framework")
    return environment


def test_its_library_loads_and_works(framework: Environment) -> None:
    assert framework.python_prints(USE) == f"{DEPTH}\n"


def test_without_the_module_it_does_not(framework: Environment) -> None:
    """What the test above shows is `_rocm_init.py`'s doing: nothing else leads the loader to the packages."""
    module = framework.site_packages / "mini_framework/_rocm_init.py"
    module.unlink()  # It may be read-only.
    module.write_text("def initialize(): pass\n")
    with pytest.raises(AssertionError, match=r"librocblas\.so\.5: cannot open shared object file"):
        framework.python_prints(USE)


def test_the_module_names_what_the_extension_needs() -> None:
    text = (FRAMEWORK / "_rocm_init.py").read_text(encoding="utf-8")
    assert '"rocblas"' in text
    assert 'check_version="7.10.*"' in text


def test_without_the_libraries_it_says_what_to_install(framework: Environment) -> None:
    framework.pip("uninstall", "--yes", "rocm-sdk-libraries")
    with pytest.raises(AssertionError, match=r'pip install "rocm\[libraries\]=='):
        framework.python_prints(USE)
