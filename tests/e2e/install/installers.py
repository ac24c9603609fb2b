"""Installs the packages with pip 23, the newest pip and the newest uv, under several interpreters.

    python3 -m tests.e2e.install.installers --dist DIR --newer DIR [--python PROGRAM]… [--installers DIR]
    python3 -m tests.e2e.install.installers --installers DIR --fetch VERSION…

Run it from the top of the workspace. The directories have the packages of the mini SDK, in two versions. Without
`--python` the oldest interpreter at hand, 3.11 and the newest are taken: those on PATH, and pyenv's. What is done with
each installer and interpreter: install, check, add and remove a package per GPU target, upgrade, and uninstall one
package at a time, in one of several orders. After every step each file that a RECORD lists is there with its digest, no
two packages have one path, and no other file lies about; at the end all is as it was before.

The installers are fetched with pip, into `--installers` if that is given, where later runs find them. With
`--fetch 3.14` nothing else is done: then the directory serves a machine, or a root, without a network.
"""

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from zipfile import ZipFile

from tests.e2e.install.environment import Environment, Installer
from tests.e2e.install.interpreters import chosen

#: What is fetched, by the folder of its wheel: the pip that enterprise systems still have, and the newest of both.
INSTALLERS = {"pip-23": "pip==23.*", "pip": "pip", "uv": "uv"}
EXTRAS = ("libraries", "devel", "profiler")
#: Seed of an order in which packages are uninstalled; any would do, but it has to be the same each time.
SEED = 5


def fetch(directory: Path, version: str) -> None:
    """Fetch the wheels of the installers for an interpreter (`3.11`), unless they are there."""
    for name, requirement in INSTALLERS.items():
        folder = directory / version / name
        if not list(folder.glob("*.whl")):
            command = ["download", "--quiet", "--no-deps", "--only-binary=:all:", f"--python-version={version}"]
            subprocess.run([sys.executable, "-m", "pip", *command, f"--dest={folder}", requirement], check=True)


def installers(directory: Path, version: str) -> Iterator[Installer]:
    """Return the installers for an interpreter; they run out of their wheels, unpacked."""
    for name in INSTALLERS:
        (wheel,) = (directory / version / name).glob("*.whl")
        unpacked = wheel.with_suffix("")
        with ZipFile(wheel) as archive:
            archive.extractall(unpacked)
        title = " ".join(wheel.name.split("-")[:2])
        if name == "uv":
            (program,) = unpacked.glob("*/scripts/uv")
            program.chmod(0o755)
            yield Installer(title, program, is_uv=True)
        else:
            yield Installer(title, unpacked / "pip")


def selector(dist: Path, *extras: str) -> str:
    """Return the requirement for the selector of a directory, in its version."""
    (sdist,) = dist.glob("rocm-*.tar.gz")
    version = sdist.name.removeprefix("rocm-").removesuffix(".tar.gz")
    return f"rocm[{','.join(extras)}]=={version}"


def targets(dist: Path) -> list[str]:
    """Return the GPU targets that have a package of their own."""
    return sorted(
        path.name.split("-")[0].removeprefix("rocm_sdk_device_") for path in dist.glob("rocm_sdk_device_*.whl")
    )


def check(environment: Environment) -> None:
    """Check the files, and let the installation check itself; the development tree is made for it."""
    environment.rocm_sdk("init", "--quiet")
    environment.rocm_sdk("test")
    environment.check_files()


def add_and_remove_targets(environment: Environment, dist: Path) -> None:
    """Bring each package per GPU target, and take it away again; the development tree follows."""
    for target in targets(dist):
        environment.install(dist, selector(dist, f"device-{target}"))
        check(environment)
        mirrored = environment.site_packages / "_rocm_sdk_devel"
        kernels = [path for path in mirrored.rglob("*") if target in path.name]
        assert kernels, f"the development tree lacks the files of {target}"
        environment.uninstall(f"rocm-sdk-device-{target}")
        check(environment)
        assert not [path for path in kernels if path.exists()], f"the development tree still has files of {target}"


def change_about(environment: Environment, older: Path, newer: Path) -> None:
    """Install, add and remove, upgrade; remove all at once."""
    environment.install(older, selector(older, *EXTRAS))
    check(environment)
    add_and_remove_targets(environment, older)
    everything = (*EXTRAS, *(f"device-{target}" for target in targets(older)))
    environment.install(older, selector(older, *everything))
    check(environment)
    environment.install(newer, selector(newer, *everything))
    check(environment)
    versions = {path.name.partition("-")[2].removesuffix(".dist-info") for path in environment.dist_infos()}
    assert len(versions) == 1, f"more than one version is installed: {versions}"
    environment.uninstall(*environment.distributions())


def orders(names: list[str]) -> list[list[str]]:
    """Return the orders to uninstall in: sorted, reversed, and one by chance."""
    return [names, names[::-1], random.Random(SEED).sample(names, len(names))]


def uninstall_one_by_one(environment: Environment, dist: Path, number: int) -> None:
    """Install everything, and remove one package after the other, in one of the orders."""
    everything = (*EXTRAS, *(f"device-{target}" for target in targets(dist)))
    environment.install(dist, selector(dist, *everything))
    choices = orders(environment.distributions())
    environment.rocm_sdk("init", "--quiet")
    for name in choices[number % len(choices)]:
        environment.uninstall(name)
        environment.check_files()


@contextmanager
def timed(what: str) -> Iterator[None]:
    """Print what was done and how long it took."""
    start = time.monotonic()
    yield
    print(f"{what}: {time.monotonic() - start:.0f} s", flush=True)


def use(environment: Environment, step: Callable[[Environment], None], title: str) -> None:
    """Do one of the things that are done with an environment."""
    with timed(title):
        step(environment)
        environment.check_untouched("at the end")


def run(scratch: Path, pythons: dict[tuple[int, int], Path], wheels: Path, older: Path, newer: Path) -> None:
    """Run everything with every installer and interpreter, as many at a time as there are processors.

    Each installer meets each order of uninstalling, with one of the interpreters; so does each of three interpreters.
    """
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        uses = []
        for row, ((major, minor), python) in enumerate(pythons.items()):
            version = f"{major}.{minor}"
            for column, installer in enumerate(installers(wheels, version)):
                steps: dict[str, Callable[[Environment], None]] = {
                    "installed, changed about, removed": partial(change_about, older=older, newer=newer),
                    "uninstalled one by one": partial(uninstall_one_by_one, dist=newer, number=row + column),
                }
                for title, step in steps.items():
                    name = f"Python {version}, {installer.title}, {title}"
                    environment = Environment(scratch / name, python, installer)
                    uses.append(pool.submit(use, environment, step, name))
        for done in uses:
            done.result()


def main() -> int:
    """Fetch, and run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dist", type=Path, help="directory with the distributions of a version, of the split layout")
    parser.add_argument("--newer", type=Path, help="directory with the distributions of a newer version")
    parser.add_argument("--python", action="append", default=[], metavar="PROGRAM", help="an interpreter to test")
    parser.add_argument("--installers", type=Path, metavar="DIR", help="directory of the installers' wheels")
    parser.add_argument("--fetch", action="append", default=[], metavar="VERSION", help="only fetch, for a Python")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="rocm-installers-") as name:
        scratch = Path(name)
        pythons = chosen(args.python)
        wheels = args.installers or scratch / "installers"
        for version in args.fetch or [f"{major}.{minor}" for major, minor in pythons]:
            fetch(wheels, version)
        if not args.fetch:
            run(scratch, pythons, wheels, args.dist, args.newer)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
