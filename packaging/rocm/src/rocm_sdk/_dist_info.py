"""AMD's names for what the packages are: `from rocm_sdk import _dist_info`, as public code has it.

Nothing is decided here: the data comes from `distributions` and `library_table`, the choice from `targets`.
docs/rocm/amd-interface.md lists the names that are kept, and those that are not.
"""

from __future__ import annotations

import importlib.util
import os
import re
import sys
from dataclasses import dataclass
from functools import cache
from importlib.machinery import ModuleSpec

from .devel_tree import STATE
from .distributions import PackageNames, load_distributions
from .library_table import LIBRARIES, Library
from .targets import select_target, selection_in_effect

_KNOWN = load_distributions()

__version__ = _KNOWN.version
#: What the names of all trees end in; empty if the build has no version suffix.
PY_PACKAGE_SUFFIX_NONCE = _KNOWN.version_suffix
DEFAULT_TARGET_FAMILY = _KNOWN.default_target
#: The file in `rocm_sdk_devel` that says that the links of the development tree are made.
DEVEL_INITIALIZED = STATE
AVAILABLE_TARGET_FAMILIES = list(_KNOWN.targets)


@dataclass(frozen=True)
class PackageEntry:
    """A package: `logical_name` is its role, `required` says that `rocm` always brings it."""

    logical_name: str
    names: PackageNames
    required: bool = False

    @property
    def is_target_specific(self) -> bool:
        """Whether there is one for each target."""
        return self.names.is_per_target

    @property
    def dist_package_template(self) -> str:
        """The distribution's name; `{target_family}` stands for the target."""
        return self.names.distribution.replace("{target}", "{target_family}")

    @property
    def pure_py_package_name(self) -> str:
        """The import name of the package's Python code; of a package per target, the name for the target in effect."""
        return self._for(determine_target_family() if self.is_target_specific else None).import_name

    def get_dist_package_name(self, target_family: str | None = None) -> str:
        """Return the distribution's name. Raises ValueError for a target's package without the target."""
        return self._for(target_family).distribution

    def get_dist_package_require(self, target_family: str | None = None) -> str:
        """Return the requirement of the distribution in this version."""
        return f"{self.get_dist_package_name(target_family)}=={__version__}"

    def get_py_package_name(self, target_family: str | None = None) -> str:
        """Return the name of the package's tree, which is a Python package."""
        return self._for(target_family).tree

    def get_py_package(self, target_family: str | None = None) -> ModuleSpec | None:
        """Return where the tree is; None if it is not installed, or no tree of the package's own."""
        names = self._for(target_family)
        return importlib.util.find_spec(names.tree) if names.import_name else None

    def has_py_package(self, target_family: str | None = None) -> bool:
        """Return whether the tree is installed."""
        return self.get_py_package(target_family) is not None

    def _for(self, target_family: str | None) -> PackageNames:
        if self.is_target_specific and target_family is None:
            raise ValueError(f"the package {self.logical_name} is there for each target: expected a target")
        return self.names.for_target(target_family or "")


class LibraryEntry:
    """A library: its package, and the glob of its file name below the directory `posix_relpath` of the tree.

    `dll_pattern` is the glob of its DLL, and empty if it has none. Making one registers it, as scripts do that add
    lines here: `rocm_sdk.find_libraries` finds it from then on. A short name that is registered keeps its library.
    """

    windows_relpath = "bin"

    def __init__(
        self,
        shortname: str,
        package_name: str,
        so_pattern: str,
        dll_pattern: str,
        posix_relpath: str = "lib",
        optional: bool = False,
    ) -> None:
        """Register a library of the package whose role is `package_name`. Raises ValueError for an unknown role."""
        if package_name not in ALL_PACKAGES:
            known = ", ".join(ALL_PACKAGES)
            raise ValueError(f"library {shortname}: there is no package {package_name!r}; expected one of {known}")
        self.shortname = shortname
        self.package = ALL_PACKAGES[package_name]
        self.so_pattern = so_pattern
        self.dll_pattern = dll_pattern
        self.posix_relpath = posix_relpath
        self.optional = optional
        ALL_LIBRARIES.setdefault(shortname, self)
        globs = (so_pattern, dll_pattern)
        LIBRARIES.setdefault(shortname, Library(package_name, "", posix_relpath, optional, bool(dll_pattern), globs))


def _unbuilt(name: str) -> PackageNames:
    """Return the names that a package would have."""
    import_name = re.sub(r"\W", "_", name)
    return PackageNames(name, import_name, f"_{import_name}{PY_PACKAGE_SUFFIX_NONCE}")


ALL_PACKAGES = {
    name: PackageEntry(name, _KNOWN.packages.get(name) or _unbuilt(distribution), required=name == "core")
    for name, distribution in {
        "core": "rocm-sdk-core",
        "libraries": "rocm-sdk-libraries",
        "device": "rocm-sdk-device-{target}",
        "devel": "rocm-sdk-devel",
        "profiler": "rocm-profiler",
    }.items()
}
ALL_LIBRARIES: dict[str, LibraryEntry] = {}
for _name, _library in list(LIBRARIES.items()):
    LibraryEntry(_name, _library.package, *_library.patterns, _library.directory, _library.optional)


def discover_current_target_family() -> str | None:
    """Return the target that serves a GPU of this machine, or None; with ROCM_SDK_VERBOSE=1, say what was asked."""
    from .detect import ask_sources, prefer

    answers = ask_sources()
    if os.environ.get("ROCM_SDK_VERBOSE") == "1":
        for answer in answers:
            print(f"[rocm_sdk] {answer.source}: {answer.remark}", file=sys.stderr)
    chosen = select_target(_KNOWN.targets, "", {}, prefer(answers), _KNOWN.members)
    return chosen.target or None


@cache
def determine_target_family() -> str:
    """Return the target in effect, the same for the life of the process.

    The environment variable ROCM_SDK_TARGET_FAMILY names it; else it is the target chosen at installation, else the
    target that serves a GPU of this machine, else the default. Raises ValueError if the variable names a target without
    a package.
    """
    selection = selection_in_effect(_KNOWN)
    return str(selection["target"]) if selection else discover_current_target_family() or DEFAULT_TARGET_FAMILY
