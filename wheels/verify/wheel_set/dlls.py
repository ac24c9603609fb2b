"""Which file Windows takes for each DLL that an image needs, when packages are installed side by side.

    dlls = Dlls(packages)
    dlls.find("_sdk/bin/rocblas.dll", "amdhip64_7.dll")   # _sdk/bin/amdhip64_7.dll, or None

Windows has no RPATH. It looks beside a program, and beside a DLL that is loaded by its full path; else in the
directories that the process names (`os.add_dll_directory`), which no file tells. A package can name any of its own, and
some have their DLLs beside the interpreter (`.data/data`): so a DLL counts wherever it lies, the nearest one first.
Names of DLLs have no case.
"""

import posixpath
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from lib.pe.model import PeImage
from wheels.verify.wheel_set.model import Package

_SUFFIXES: Final = (".dll", ".pyd", ".exe", ".drv", ".ocx")


class Dlls:
    """The DLLs and EXEs of packages that are installed together."""

    def __init__(self, packages: Iterable[Package]) -> None:
        self.images: dict[str, PeImage] = {}
        """By path; of several packages with one path, the first's."""
        self.owners: dict[str, Package] = {}
        """The same, of all files that can be DLLs by their names, whatever they hold."""
        self.paths: set[str] = set()
        """All files in site-packages."""
        self.hashes: dict[str, str] = {}
        """SHA-256 of these."""
        self._by_name: dict[str, list[str]] = {}
        self._exports: dict[str, frozenset[str | int]] = {}
        for package in packages:
            self.paths.update(package.files)
            for path, facts in (*package.files.items(), *package.elsewhere.items()):
                name = posixpath.basename(path).lower()
                if (facts.pe is not None or name.endswith(_SUFFIXES)) and path not in self.owners:
                    self.owners[path] = package
                    self.hashes[path] = facts.sha256
                    self._by_name.setdefault(name, []).append(path)
                    if facts.pe is not None:
                        self.images[path] = facts.pe

    def find(self, path: str, name: str) -> str | None:
        """Return the DLL of that name that the image at `path` gets; None if there is none for its CPU."""
        machine, own, owner = self.images[path].machine, posixpath.dirname(path), self.owners[path].name
        fitting = [
            one
            for one in self._by_name.get(name.lower(), ())
            if one not in self.images or self.images[one].machine == machine or self.images[one].is_managed
        ]
        return min(
            fitting,
            key=lambda one: (not is_beside(one, own), self.owners[one].name != owner, one),
            default=None,
        )

    def named(self) -> Iterator[tuple[str, Sequence[str]]]:
        """Yield each name of a DLL with the paths that have it, sorted by name."""
        for name, paths in sorted(self._by_name.items()):
            if name.endswith(".dll"):
                yield name, [path for path in paths if path in self.images]

    def exports(self, path: str) -> frozenset[str | int]:
        """Return the names and ordinals that a DLL exports."""
        if path not in self._exports:
            symbols = self.images[path].exports
            both = (either for one in symbols for either in (one.name, one.ordinal))
            self._exports[path] = frozenset(one for one in both if one is not None)
        return self._exports[path]


def is_beside(path: str, directory: str) -> bool:
    """Whether a file lies in a directory: names of those have no case either."""
    return posixpath.dirname(path).lower() == directory.lower()
