"""A site-packages directory in which packages come and go, with a development tree that users work in.

    site = RocmSite(folder)
    site.install(wheels)
    site.ask()
    site.put("lib/mine.txt")

Installers are played (they remove what RECORD lists, and unpack); what makes links is the real code: of `rocm`, and
`rules/runtime/devel_tree.py` as the module of another SDK. A tree that lived through all this has to be what a fresh
installation gives, beside the user's own files.
"""

import csv
import io
import itertools
import json
import os
import posixpath
import re
import shutil
import sys
import warnings
import zipfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import CodeType
from typing import Any
from unittest import mock

from tests.pipeline.package_reader import FindingError

TOP = Path(__file__).resolve().parents[2]
sys.path.append(str(TOP / "packaging/rocm/src"))

import rocm_sdk.distributions  # noqa: E402
import rocm_sdk.installation  # noqa: E402
import rocm_sdk.targets  # noqa: E402
from rocm_sdk.devel import DevelLayout, devel_root, find_layout  # noqa: E402
from rocm_sdk.distributions import Distributions, PackageNames  # noqa: E402

MODULE = TOP / "rules/runtime/devel_tree.py"
TREE, DEVEL = "_devel", "sdk_devel"
MANIFEST = f"{DEVEL}/.devel_links/devel.json"
#: Changes of the file system: a process may be killed before any of them.
WRITES = frozenset(("open", "os.mkdir", "os.rename", "os.link", "os.symlink", "os.remove", "os.rmdir", "shutil.rmtree"))
KEPT = re.compile(r"\.kept\d*(?=/|$)")
#: A link's text, or a file's mode and content.
Leaf = tuple[str, bytes]


class Site:
    """One site-packages directory."""

    name = "site"

    def __init__(self, folder: Path) -> None:
        """Make it."""
        folder.mkdir(parents=True)
        self.folder = folder
        self.wheels: dict[str, Path] = {}
        #: What the user made in the tree: all contents differ.
        self.mine: dict[str, Leaf] = {}
        #: Files of the package that the user removed or changed since the tree was made.
        self.touched: set[str] = set()
        self.numbers = itertools.count()

    # What makes links

    def unpack(self, *, verify: bool) -> None:
        """Ask for the root of the tree."""
        raise NotImplementedError

    def ask(self, *, verify: bool = False, killed: int = 0) -> None:
        """Ask for the root, in a process that is killed before a change if `killed` says before which; then check."""
        if killed:
            self._die(lambda: self.unpack(verify=verify), killed)
            self._follow(self.leaves())
            return
        # What the wheel had and a user removed, or put something else there, installers alone bring back.
        lost = any(not (self.folder / TREE / path).is_file() for path in self.touched)
        self.unpack(verify=verify and not lost)
        self.check()

    def _die(self, work: Callable[[], None], step: int) -> None:
        steps = itertools.count(1)

        def hook(event: str, arguments: tuple[object, ...]) -> None:
            is_here = any(str(one).startswith(str(self.folder)) for one in arguments[:2])
            if event in WRITES and is_here and next(steps) == step:
                os._exit(9)

        child = os.fork()
        if child == 0:
            try:
                sys.addaudithook(hook)
                work()
            finally:
                os._exit(0)
        os.waitpid(child, 0)

    # What installers do

    def install(self, wheels: Mapping[str, Path], *, leaves_directories: bool) -> None:
        """Install wheels, by distribution, instead of those that are installed, in pip's order.

        So a file is lost that moved to a distribution which comes earlier. R106 of verify names it before the release;
        here, users install that distribution again.
        """
        for distribution, wheel in wheels.items():
            self.uninstall(distribution, leaves_directories=leaves_directories)
            self.unzip(wheel)
            self.wheels[distribution] = wheel
        for wheel in wheels.values():
            if not all(os.path.lexists(self.folder / path) for path in members(wheel)):
                self.unzip(wheel)

    def unzip(self, wheel: Path) -> None:
        """Unpack a wheel. What a user has where it has a file, installers overwrite; directories the user removes."""
        for path in members(wheel):
            inside = path.removeprefix(f"{TREE}/")
            for above in [*Path(path).parents][-2::-1]:
                place = self.folder / above
                if place.is_symlink() or place.is_file():
                    place.unlink()
            place = self.folder / path
            if place.is_dir() and not place.is_symlink():
                shutil.rmtree(place)
            place.unlink(missing_ok=True)
            gone = [one for one in self.mine if path.startswith(f"{TREE}/") and self._is_gone(one)]
            self.mine = {one: known for one, known in self.mine.items() if one not in gone and one != inside}
        unzip(wheel, self.folder)

    def _is_gone(self, inside: str) -> bool:
        return not os.path.lexists(self.folder / TREE / inside)

    def uninstall(self, distribution: str, *, leaves_directories: bool) -> None:
        """Remove what RECORD lists of a distribution, if it is installed; perhaps directories that are empty then."""
        if self.wheels.pop(distribution, None) is None:
            return
        (record,) = self.folder.glob(f"{distribution.replace('-', '_')}-*.dist-info/RECORD")
        for path, *_ in list(csv.reader(io.StringIO(record.read_text("utf-8"), newline=""))):
            self._remove(path)
            for above in () if leaves_directories else Path(path).parents[:-1]:
                _remove_empty(self.folder / above)
        _remove_empty(record.parent)
        if distribution == "sdk-devel":
            self.touched.clear()

    def _remove(self, path: str) -> None:
        place, inside = self.folder / path, path.removeprefix(f"{TREE}/")
        if inside in self.mine and os.path.lexists(place) and leaf(place)[1] == self.mine[inside][1]:
            if inside not in self.touched:
                raise FindingError(f"{self.name}: user's file in RECORD", path)
            del self.mine[inside]
        if place.is_dir() and not place.is_symlink():
            # Where RECORD lists a file, pip and uv remove a directory with all that a user has in it.
            if any(one.startswith(f"{inside}/") for one in self.mine) and inside not in self.touched:
                raise FindingError(f"{self.name}: user's directory in RECORD", path)
            self.mine = {one: known for one, known in self.mine.items() if not one.startswith(f"{inside}/")}
            shutil.rmtree(place)
        else:
            place.unlink(missing_ok=True)

    # What users do

    def put(self, path: str, *, as_link: bool = False) -> None:
        """Put a file or a link of the user into the tree, where no directory, and no file is in the way."""
        place = self.folder / TREE / path
        above = next(one for one in place.parents if os.path.lexists(one))
        if (place.is_dir() and not place.is_symlink()) or not above.is_dir():
            return
        real = Path(os.path.realpath(place.parent)) / place.name
        if not real.is_relative_to(self.folder / TREE):
            return  # Through a link, out of the tree.
        path = real.relative_to(self.folder / TREE).as_posix()
        before = real.read_bytes() if real.is_file() else None
        if os.path.lexists(real):
            self.touched.add(path)
            real.unlink()
        real.parent.mkdir(parents=True, exist_ok=True)
        number, others = next(self.numbers), sorted(one.name for one in real.parent.iterdir())
        text = f"mine {number}, and nobody else's\n"
        if as_link:  # To what is beside it, if anything is: all texts differ.
            real.symlink_to(f"./{'./' * number}{others[0]}" if others else text.strip())
        else:
            real.write_text(text)
        # A link to the bytes that the package has there loses nothing when it is replaced.
        if not (real.is_symlink() and real.is_file() and real.read_bytes() == before):
            self.mine[path] = leaf(real)

    def edit(self, number: int, *, removes: bool) -> None:
        """Change a file of the package, or remove it."""
        files = sorted(path for path in self.leaves() if path not in self.mine and not KEPT.search(path))
        if files and removes:
            (self.folder / TREE / files[number % len(files)]).unlink()
            self.touched.add(files[number % len(files)])
        elif files:
            self.put(files[number % len(files)])

    # What is there

    def check(self) -> None:
        """Compare the tree with a fresh installation; raises FindingError."""
        found = self.leaves()
        self._follow(found)
        mine = {(_own_name(path), one[1]) for path, one in self.mine.items()}
        there = {(_own_name(path), one[1]) for path, one in found.items()}
        if lost := sorted(mine - there):
            raise FindingError(f"{self.name}: user's file is lost", str(lost[0]))
        fresh = self.fresh()
        for path, one in fresh.items():
            if found.get(path) != one and path not in self.touched:
                raise FindingError(f"{self.name}: not as installed", f"{path}: {found.get(path)}; expected {one}")
        for path, one in found.items():
            if path not in fresh and (_own_name(path), one[1]) not in mine and not self._leads_to_mine(path):
                raise FindingError(f"{self.name}: left over", f"{path}: {one}")
        self.touched &= set(fresh)

    def _leads_to_mine(self, path: str) -> bool:
        """Whether a link leads to what is a user's: without that it would lead nowhere, and not be made."""
        place, top = self.folder / TREE / path, os.path.realpath(self.folder / TREE)
        real = posixpath.relpath(os.path.realpath(place), top)
        return place.is_symlink() and any(f"{one}/".startswith(f"{real}/") for one in self.mine)

    def _follow(self, found: Mapping[str, Leaf]) -> None:
        """Have the user's files where they are: under the name that was made room with, or where links lead.

        A directory that they were in may be one again.
        """
        top = self.folder / TREE
        for path, one in list(self.mine.items()):
            real = Path(os.path.realpath((top / path).parent)) / posixpath.basename(path)
            renamed = (other for other in found if found[other] == one and _own_name(other) == _own_name(path))
            if real.is_relative_to(top) and found.get(real.relative_to(top).as_posix()) == one:
                now = real.relative_to(top).as_posix()
            else:
                now = next(renamed, path)
            self.mine[now] = self.mine.pop(path)

    def check_gone(self) -> None:
        """Check that nothing but the user's own files is left when all is uninstalled."""
        mine = {one[1] for one in self.mine.values()}
        if left := [path for path, one in leaves(self.folder).items() if one[1] not in mine]:
            raise FindingError(f"{self.name}: left over when all was uninstalled", str(sorted(left)))

    def leaves(self) -> dict[str, Leaf]:
        """Return the files and links of the tree."""
        return leaves(self.folder / TREE)

    def fresh(self) -> dict[str, Leaf]:
        """Return the files and links of a fresh installation's tree."""
        other = type(self)(self.folder.with_name(f"{self.folder.name} fresh"))
        other.install(self.wheels, leaves_directories=False)
        other.unpack(verify=False)
        found = other.leaves()
        shutil.rmtree(other.folder)
        return found


class ModuleSite(Site):
    """With the module that other SDKs ship."""

    name = "devel_tree.py"
    code: CodeType = compile(MODULE.read_bytes(), str(MODULE), "exec", dont_inherit=True)

    def unpack(self, *, verify: bool) -> None:
        """Call `root()` of the installed module."""
        package = str(self.folder / DEVEL)
        module: dict[str, Any] = {"__file__": f"{package}/__init__.py", "__name__": DEVEL}
        exec(self.code, module)
        with warnings.catch_warnings(action="ignore"):
            if verify:
                module["DevelTree"](package, command="x").root(verify=True)
            if module["root"]() != self.folder / TREE:
                raise FindingError("another root", str(module["root"]()))
        if not module["glance"](package):
            raise FindingError(f"{self.name}: at a glance", "scripts are slow, though the tree is up to date")


class RocmSite(Site):
    """With the code of `rocm`."""

    name = "rocm"

    def unpack(self, *, verify: bool) -> None:
        """Call `devel_root`."""
        roles = [name.removeprefix("sdk-") for name in self.wheels]
        packages = {role: PackageNames(f"sdk-{role}", f"sdk_{role}", tree_of(role)) for role in roles}
        packages.setdefault("core", PackageNames("sdk-core", "sdk_core", "_core"))
        version = json.loads((self.folder / MANIFEST).read_text("utf-8"))["version"]
        known = Distributions(version, "split", (), "", packages)
        with (
            warnings.catch_warnings(action="ignore"),
            mock.patch.object(rocm_sdk.installation, "find_site", return_value=self.folder),
            mock.patch.object(rocm_sdk.distributions, "load_distributions", return_value=known),
            mock.patch.object(rocm_sdk.targets, "selection_in_effect", return_value=None),
            mock.patch.object(DevelLayout, "check"),
        ):
            devel_root(verify=verify)
            if not find_layout().is_ready:
                raise FindingError(f"{self.name}: at a glance", "scripts are slow, though the tree is up to date")
            if not self.touched and (faults := find_layout().faults()):
                raise FindingError(f"{self.name}: faults", str(faults))


def tree_of(role: str) -> str:
    """Return the tree of a package (`tests.pipeline.random_sdks`)."""
    return "_libraries" if role == "device" else f"_{role}"


def members(wheel: Path) -> list[str]:
    """Return the paths of what a wheel brings."""
    with zipfile.ZipFile(wheel) as archive:
        return archive.namelist()


def unzip(wheel: Path, folder: Path) -> None:
    """Unpack a wheel."""
    with zipfile.ZipFile(wheel) as archive:
        for info in archive.infolist():
            place = folder / info.filename
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(archive.read(info))
            place.chmod(info.external_attr >> 16 & 0o777)


def _own_name(path: str) -> str:
    """Return under which path a user had a file that perhaps was kept beside another: the longest names are cut."""
    return "/".join(part[:100] for part in KEPT.sub("", path).split("/"))


def _remove_empty(directory: Path) -> None:
    if directory.is_dir() and not any(directory.iterdir()):
        directory.rmdir()


def leaf(path: Path) -> Leaf:
    """Return what a file or link is."""
    if path.is_symlink():
        return "link", os.fsencode(path.readlink())
    return f"{path.stat().st_mode & 0o777:o}", path.read_bytes()


def leaves(directory: Path) -> dict[str, Leaf]:
    """Return the files and links below a directory, by their paths."""
    return {path.relative_to(directory).as_posix(): leaf(path) for path in _walk(directory)}


def _walk(directory: Path) -> Iterator[Path]:
    for folder, folders, names in os.walk(directory):
        for path in (Path(folder, name) for name in (*folders, *names)):
            if path.is_symlink() or not path.is_dir():
                yield path
