"""AMD's own tests of its packages, run with AMD's packages and with ours, made of the same artifacts.

    python3 -m tests.e2e.amd.bundled_tests --therock CHECKOUT --root ROOT --amd DIST --ours DIST [--python PYTHON]

Run it from the top of the workspace. CHECKOUT is one of https://github.com/ROCm/TheRock; ROOT a root of Debian unstable
(tests/e2e/roots/debian_root.sh), where ROCm 7 finds its libc; DIST directories of distributions: AMD's are made by its
script build_tools/build_python_packages.py. PYTHON has setuptools, which makes a wheel of AMD's sdist `rocm`.

Each test that fails is in bundled_tests.toml, with the reason: the artifacts lack something, or we differ on purpose.
Any other failure is an error, and so is a listed failure that does not occur.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from tests.e2e.amd.differences import Difference, judge, read_list

LIST = Path(__file__).resolve().with_suffix(".toml")
IN_ROOT = Path(__file__).resolve().parents[1] / "roots/in_root.sh"
TESTS = "build_tools/packaging/python/templates/rocm/src/rocm_sdk/tests"


def run_tests(root: Path, tests: Path, dist: Path) -> dict[str, str]:
    """Run AMD's tests with the packages of a directory; return what failed, with the error."""
    program = ("python3", "-B", "-m", "tests.e2e.amd.bundled_run", f"--tests={tests}", f"--dist={dist}")
    inside = ("env", "--chdir", str(Path.cwd()), *program)
    ran = subprocess.run(["bash", str(IN_ROOT), str(root), *inside], check=True, stdout=subprocess.PIPE, text=True)
    found: dict[str, str] = json.loads(ran.stdout)
    return found


def with_wheel(python: str, dist: Path, scratch: Path) -> Path:
    """Return a directory with AMD's packages in which `rocm` is a wheel: the root has no setuptools to build it."""
    for wheel in dist.glob("*.whl"):
        (scratch / wheel.name).symlink_to(wheel)
    (sdist,) = dist.glob("rocm-*.tar.gz")
    options = ("--quiet", "--no-deps", "--no-index", "--no-build-isolation")
    subprocess.run([python, "-m", "pip", "wheel", *options, f"--wheel-dir={scratch}", str(sdist)], check=True)
    return scratch


def differences(amd: Mapping[str, str], ours: Mapping[str, str]) -> Iterator[Difference]:
    """Yield each test that fails, and with whose packages."""
    for test in sorted({*amd, *ours}):
        module, _, name = test.partition(".")
        who = "both" if test in amd and test in ours else "AMD's" if test in amd else "ours"
        yield Difference(module, name, f"fails with {who}", ours.get(test) or amd[test])


def main() -> int:
    """Run the command line; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--therock", type=Path, required=True, help="checkout of TheRock")
    parser.add_argument("--root", type=Path, required=True, help="root file system in which packages are installed")
    parser.add_argument("--amd", type=Path, required=True, help="directory of AMD's distributions")
    parser.add_argument("--ours", type=Path, required=True, help="directory of this project's distributions")
    parser.add_argument("--python", default=sys.executable, help="interpreter with setuptools")
    arguments = parser.parse_args()
    tests = (arguments.therock / TESTS).absolute()
    with tempfile.TemporaryDirectory(prefix="rocm-bundled-") as scratch:
        amd = run_tests(arguments.root, tests, with_wheel(arguments.python, arguments.amd.absolute(), Path(scratch)))
    ours = run_tests(arguments.root, tests, arguments.ours.absolute())
    return judge(list(differences(amd, ours)), read_list(LIST, ""))


if __name__ == "__main__":
    raise SystemExit(main())
