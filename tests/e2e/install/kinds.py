"""Installs the packages in every kind of place that installers know, and uses them there.

    python3 -B -m tests.e2e.install.kinds --dist DIR --installers DIR

DIR has the example SDK's packages, of the split layout; the installers' wheels are fetched if they are not there. Each
kind of place gets everything, answers the commands of `rocm-sdk`, and checks itself; what an installer can take away
again has to leave nothing. docs/using/installing.md says what works.
"""

import argparse
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tests.e2e.install.installers import fetch, installers, selector, targets
from tests.e2e.install.interpreters import interpreters
from tests.e2e.testing.commands import run

USE = """
import json, sys, rocm_sdk
(path,) = rocm_sdk.find_libraries("amdhip64")
print(json.dumps([rocm_sdk.__version__, str(path)]))
"""


@dataclass(frozen=True)
class Place:
    """Somewhere to install to: the interpreter that uses it, and what it needs to know."""

    title: str
    python: Path
    #: Where the files are to be.
    directory: Path
    #: Options of `pip install`.
    options: tuple[str, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)
    #: Whether pip can take away what it installed there.
    is_uninstalled: bool = True


def site_packages(directory: Path) -> Path:
    """Return the site-packages directory below a prefix; it need not be there yet."""
    return directory / f"lib/python{sys.version_info.major}.{sys.version_info.minor}/site-packages"


def places(scratch: Path) -> Iterator[Place]:
    """Yield the kinds of places of this machine, made anew."""
    for (major, minor), python in interpreters().items():
        directory = scratch / f"environment-{major}.{minor}"
        run(python, "-m", "venv", "--without-pip", directory)
        yield Place(f"virtual environment, Python {major}.{minor}", directory / "bin/python", directory)
    python = Path(os.path.realpath(sys.executable))
    target = scratch / "target"
    variables = {"PYTHONPATH": str(target)}
    yield Place("pip install --target", python, target, ("--target", str(target)), variables, is_uninstalled=False)
    prefix = scratch / "prefix"
    variables = {"PYTHONPATH": str(site_packages(prefix))}
    yield Place("pip install --prefix", python, prefix, ("--prefix", str(prefix), "--ignore-installed"), variables)
    base = scratch / "user"
    yield Place("pip install --user", python, base, ("--user", "--ignore-installed"), {"PYTHONUSERBASE": str(base)})
    if Path(sys.base_prefix) != Path("/usr"):
        yield own_interpreter(scratch / "conda")


def own_interpreter(directory: Path) -> Place:
    """Return a copy of this interpreter with all of its own, which is installed into: as conda's prefixes are."""
    base = Path(sys.base_prefix)
    ignored = shutil.ignore_patterns("__pycache__", "test", "site-packages", "*.a")
    shutil.copytree(base, directory, symlinks=True, ignore=ignored)
    site_packages(directory).mkdir()
    (directory / "conda-meta").mkdir()
    return Place(
        "a prefix with an interpreter, as conda's", directory / "bin" / f"python3.{sys.version_info.minor}", directory
    )


def _files(directory: Path) -> set[str]:
    """Return the files below a directory."""
    found = {str(path.relative_to(directory)) for path in directory.rglob("*") if not path.is_dir()}
    return {path for path in found if "__pycache__" not in path}


def try_place(place: Place, pip: Path, dist: Path) -> None:
    """Install, use, check; take away again."""
    before = _files(place.directory)
    target = targets(dist)[0]
    # No file of settings leads pip elsewhere.
    command = (place.python, pip, "--isolated", "--disable-pip-version-check", "--no-cache-dir")
    options = ("--quiet", "--no-index", f"--find-links={dist}", *place.options)
    wanted = selector(dist, "libraries", "devel", "profiler", f"device-{target}")
    run(*command, "install", *options, wanted, ROCM_SDK_TARGET_FAMILY=target, **place.variables)
    version, library = json.loads(run(place.python, "-c", USE, **place.variables))
    assert wanted.endswith(f"=={version}"), version
    assert Path(library).is_relative_to(place.directory), library
    sdk = (place.python, "-m", "rocm_sdk")
    root = Path(run(*sdk, "path", "--root", **place.variables).strip())
    assert root.is_relative_to(place.directory), root
    assert (root / "include").is_dir()
    report = json.loads(run(*sdk, "test", "--json", **place.variables))
    assert not report["summary"]["failed"], report
    if place.is_uninstalled:
        names = sorted({name.split("-")[0] for name in (path.name for path in dist.glob("rocm*"))})
        run(*command, "uninstall", "--quiet", "--yes", *names, **place.variables)
        assert _files(place.directory) == before, sorted(_files(place.directory) ^ before)
    print(f"{place.title}: {report['summary']}", flush=True)


def main() -> int:
    """Try each place."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dist", type=Path, required=True, help="directory of the distributions")
    parser.add_argument("--installers", type=Path, required=True, metavar="DIR", help="directory of the installers")
    args = parser.parse_args()
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    fetch(args.installers, version)
    pip = next(
        one.program for one in installers(args.installers, version) if not one.is_uv and "pip-23" not in one.title
    )
    with tempfile.TemporaryDirectory(prefix="rocm-kinds-") as name:
        for place in places(Path(os.path.realpath(name))):
            try_place(place, pip, args.dist)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
