"""The libraries that went into thin packages, and these packages as pip installs them.

originals = find_originals(artifacts)
environment = Environment(folder)
environment.install(core)
tree = environment.install(wheel)
"""

import hashlib
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lib.device.reader import read_device_code
from lib.elf.reader import read_elf
from lib.gpus.target_id import TargetId, parse_target_id
from tests.e2e.install.real_rocm import is_library
from tests.e2e.testing.commands import install, make_environment, site_packages
from tests.e2e.thin.bundler import MAGIC

#: The folder in site-packages of the core package.
CORE = "_rocm_sdk_core"
#: Of the artifacts for GPUs, the component that packages are made from.
COMPONENT = "lib"
GENERIC = "generic"
#: What the file name of a thin package begins with; the target follows.
PREFIX = "rocm_sdk_libraries_"
#: A target in the name of a data file; what follows it may look like a part of it.
NAMED = re.compile("gfx[0-9a-f]+")


@dataclass(frozen=True)
class Package:
    """A wheel, and the target that its name says."""

    wheel: Path
    target: TargetId

    @property
    def tree(self) -> str:
        """The folder in site-packages that its files are in."""
        return f"_{PREFIX}{self.target}"


def find_packages(dist: Path) -> list[Package]:
    """Find the thin packages in a directory, by target. Ends the program if there are none, or it is a family's."""
    try:
        found = [
            Package(wheel, parse_target_id(wheel.name.split("-")[0].removeprefix(PREFIX)))
            for wheel in sorted(dist.glob(f"{PREFIX}*.whl"))
        ]
    except ValueError as error:
        raise SystemExit(f"{dist}: not the packages of the thin layout, each for one target: {error}") from None
    if not found:
        raise SystemExit(f"{dist}: no {PREFIX}TARGET-*.whl; expected the packages of the thin layout")
    return found


def find_core(dist: Path) -> Path:
    """Find the one wheel of the core package. Ends the program if there is none, or more."""
    found = sorted(dist.glob("rocm_sdk_core-*.whl"))
    if len(found) != 1:
        raise SystemExit(f"{dist}: {len(found)} wheels rocm_sdk_core-*.whl; expected one")
    return found[0]


def artifact_files(artifacts: Path) -> Iterator[tuple[str, Path]]:
    """Yield each file of the artifacts that libraries packages are made from: its path in a tree, and where it is."""
    for artifact in sorted(artifacts.iterdir()):
        *_, component, target = artifact.name.rsplit("_", 2)
        if component != COMPONENT or target == GENERIC:
            continue
        for base in (artifact / "artifact_manifest.txt").read_text(encoding="utf-8").split():
            for path in sorted((artifact / base).rglob("*")):
                if path.is_file() and not path.is_symlink():
                    yield str(path.relative_to(artifact / base)), path


def device_libraries(paths: Iterable[Path]) -> dict[str, Path]:
    """Find the libraries that hold device code among some files, by SONAME."""
    found = {}
    for path in paths:
        if not path.is_symlink() and is_library(path):
            with path.open("rb") as file:
                if read_device_code(file, str(path)).bundles:
                    found[read_elf(file, str(path)).soname or path.name] = path
    return dict(sorted(found.items()))


def device_files(files: Mapping[str, Path]) -> dict[str, Path]:
    """Find the files that are bundles of device code by themselves, for any GPU by their names, by their paths."""
    found = {}
    for name, path in files.items():
        with path.open("rb") as file:
            if file.read(len(max(MAGIC, key=len))).startswith(MAGIC) and not NAMED.search(path.name):
                found[name] = path
    return dict(sorted(found.items()))


def named_files(files: Mapping[str, Path], known: Sequence[str]) -> dict[tuple[str, str], str]:
    """Return the SHA-256 of each data file whose name has a target: by the target's processor, and the file's path.

    The target is the longest of `known` that the name begins with; without such a target, what the name says.
    """
    found = {}
    for name, path in files.items():
        names = NAMED.findall(path.name)
        if names and not path.name.startswith("."):  # A tree has a mark with its package's name.
            target = max((one for one in known if names[-1].startswith(one)), key=len, default=names[-1])
            with path.open("rb") as file:
                found[target, name] = hashlib.file_digest(file, "sha256").hexdigest()
    return found


def library_folders(paths: Iterable[Path]) -> str:
    """Return the folders of all libraries among some files, for LD_LIBRARY_PATH."""
    return ":".join(sorted({str(path.parent) for path in paths if ".so" in path.name}))


class Environment:
    """A Python environment without pip, which installs into it from outside."""

    def __init__(self, folder: Path) -> None:
        self._python = make_environment(folder)
        self.site_packages = site_packages(self._python)

    def install(self, wheel: Path) -> None:
        """Install one wheel, without what it requires."""
        install(self._python, "--no-deps", "--no-compile", wheel)

    def remove(self, package: Package) -> None:
        """Remove the files of a package, for the room that they take."""
        for path in self.site_packages.glob(f"*{PREFIX}{package.target}*"):
            shutil.rmtree(path)

    def files(self, tree: str) -> Mapping[str, Path]:
        """Return the files of a package's tree by path, but its list of links. Ends the program if there is none."""
        root = self.site_packages / tree
        if not root.is_dir():
            raise SystemExit(f"{root}: not there; the trees are {sorted(path.name for path in root.parent.glob('_*'))}")
        files = (path for path in sorted(root.rglob("*")) if path.is_file() and path.parent.name != ".devel_links")
        return {str(path.relative_to(root)): path for path in files}
