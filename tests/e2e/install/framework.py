"""Builds the example framework against the development tree, and runs its wheel where there is none.

    python3 -m tests.e2e.install.framework --dist DIR

Run it from the top of the workspace, where there are a C compiler, CMake, and Python with its headers, pip and
setuptools. DIR has the packages of the mini SDK. Building knows nothing of ROCm but what `rocm-sdk env` prints; running
nothing but what `_rocm_init.py` does: no LD_LIBRARY_PATH, no RPATH.
"""

import argparse
import io
import shutil
import sys
import tempfile
from pathlib import Path
from zipfile import ZipFile

from lib.elf.reader import read_elf
from tests.e2e.testing.commands import attempt, run

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "framework"
CMAKE = 'cmake -S . -B "$1" && cmake --build "$1" && cmake --install "$1"'
INIT_PY = (
    "rocm-sdk init-py --from-extension mini_framework/libmini_blas.so --preload amdhip64 --check-version minor "
    "-o mini_framework/_rocm_init.py"
)
WHEEL = 'ROCM_VERSION=$(rocm-sdk version) python -m pip wheel --quiet --no-deps --no-build-isolation -w "$1" .'
USE = "from mini_framework import _native, blas; print(blas.depth(), _native.depth())"
#: Through the framework's code, rocBLAS, HIP, the HSA runtime and liblzma; HIP's without rocBLAS.
DEPTHS = "5 4\n"


def make_environment(directory: Path, dist: Path, *requirements: str, links: tuple[Path, ...] = ()) -> Path:
    """Make an environment that sees the setuptools of this Python, and install into it; returns its interpreter."""
    run(sys.executable, "-m", "venv", "--system-site-packages", "--without-pip", directory)
    python = directory / "bin" / "python"
    options = ["--no-index", f"--find-links={dist}/index.html", *(f"--find-links={link}" for link in links)]
    run(python, "-m", "pip", "install", "--quiet", "--no-cache-dir", *options, *requirements)
    return python


def build_wheel(python: Path, source: Path, scratch: Path) -> Path:
    """Build the framework in an environment with the development tree; returns its wheel."""
    with_rocm = f'cd "{source}" && eval "$(rocm-sdk env)" && '
    for step, argument in ((CMAKE, scratch / "build"), (INIT_PY, ""), (WHEEL, scratch / "wheels")):
        path = f"{python.parent}:/usr/bin:/bin"
        print(run("sh", "-c", with_rocm + step, "sh", argument, PATH=path), end="")
    (wheel,) = (scratch / "wheels").glob("mini_framework-*.whl")
    return wheel


def check_wheel(wheel: Path) -> None:
    """Check that the wheel holds no ROCm, and nothing that leads the loader to one."""
    with ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if ".so" in name]
        assert len(names) == 2, names
        for name in names:
            elf = read_elf(io.BytesIO(archive.read(name)), name)
            search = elf.rpath or elf.runpath
            assert not search, f"{name} has a search path, {search}; expected none"
            print(f"{wheel.name}: {name} needs {', '.join(elf.needed)}")


def check_use(python: Path) -> None:
    """Check that the framework works, and that it is `_rocm_init.py` that makes it work."""
    assert run(python, "-c", USE) == DEPTHS
    print(f"used in an environment without the development tree: chains of {DEPTHS}", end="")
    site = Path(run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip())
    (site / "mini_framework/_rocm_init.py").write_text("def initialize(): pass\n")
    said = attempt(python, "-c", USE).stderr
    assert "cannot open shared object file" in said, f"works without _rocm_init.py, so the check shows nothing: {said}"


def main() -> int:
    """Build, check and use."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dist", type=Path, required=True, help="directory of the distributions, with its index.html")
    dist = parser.parse_args().dist.resolve()
    with tempfile.TemporaryDirectory(prefix="rocm-framework-") as name:
        scratch = Path(name)
        source = shutil.copytree(EXAMPLE, scratch / "framework")
        python = make_environment(scratch / "building", dist, "rocm[libraries,devel]")
        wheel = build_wheel(python, source, scratch)
        check_wheel(wheel)
        shutil.rmtree(scratch / "building")
        check_use(make_environment(scratch / "using", dist, "mini-framework", links=(wheel.parent,)))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
