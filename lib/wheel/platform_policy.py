"""The promises of platform tags: an architecture and, for each `manylinux_2_N`, libraries and their symbol versions.

    policies = policies_of("x86_64")     # oldest system first
    policies[0].has_library("libc.so.6"), policies[0].has_version("GLIBC_2.5")

PEP 600 gives the rule (what runs on the mainstream distributions with glibc 2.N); which libraries and versions these
have in common is data that auditwheel keeps. Only that data is taken: none of auditwheel's code is imported.

`win_amd64` promises what every Windows has that CPython runs on: the DLLs that delvewheel lists, the API sets of which
the universal C runtime is made, and the compiler's runtime that comes with CPython.
"""

import functools
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from delvewheel._dll_list import MachineType, ignore_names

from lib.common.program import ToolError
from lib.elf.platforms import CPUS, WINDOWS_CPUS

#: Architecture of a tag -> Machine of PE images, or e_machine of ELF files: those that ROCm is built for.
LINUX_MACHINES = {cpu.name: cpu.elf_machine for cpu in CPUS}
WINDOWS_MACHINES = {cpu.go_name: cpu.pe_machine for cpu in WINDOWS_CPUS}
MACHINES = LINUX_MACHINES | WINDOWS_MACHINES

#: The loader itself, by its SONAME on any architecture: named by every dynamic program, so always there.
_LOADER = re.compile(r"ld(-linux[\w-]*|64)\.so\.\d+")
#: API sets: names that Windows itself resolves.
_API_SET = re.compile(r"(api|ext)-ms-.*\.dll")
#: The universal C runtime, which is part of Windows 10, and the compiler's, which each CPython for Windows brings.
_RUNTIMES = frozenset({"ucrtbase.dll", "vcruntime140.dll", "vcruntime140_1.dll"})
#: What Windows 10 has as well, the oldest that CPython 3.9 and newer are tested on; delvewheel's list is older.
_WINDOWS_10 = frozenset({"d3d12.dll", "d3dcompiler_47.dll", "icu.dll", "icuin.dll", "icuuc.dll"})


@dataclass(frozen=True)
class Policy:
    """Libraries and symbol versions of all systems that accept one `manylinux_2_N`, or `win`, on one architecture."""

    #: `manylinux_2_28`, and older names of the same (PEP 513, 571, 599): `manylinux2014`; or `win`.
    name: str
    aliases: tuple[str, ...]
    libraries: frozenset[str]
    #: Prefix of symbol versions -> what may follow it: `GLIBC` -> {`2.2.5`, …}.
    versions: Mapping[str, frozenset[str]]

    @property
    def minor(self) -> int:
        """The N of `manylinux_2_N`: the oldest glibc that it is for."""
        return int(self.name.rpartition("_")[2])

    def has_library(self, soname: str) -> bool:
        """Whether the systems have a library of this SONAME, or a DLL of this name in lower case."""
        if self.name == "win" and _API_SET.fullmatch(soname):
            return True
        return soname in self.libraries or bool(_LOADER.fullmatch(soname))

    def has_version(self, version: str) -> bool:
        """Whether their libraries have a symbol version, like `GLIBC_2.28`; of prefixes without data, all are taken."""
        prefix, _, rest = version.partition("_")
        return prefix not in self.versions or rest in self.versions[prefix]


def _data() -> list[dict[str, Any]]:
    """Read auditwheel's manylinux policies: a resource of its package, in a zip application too."""
    spec: Any = find_spec("auditwheel")  # Of a top-level package, this finds it without importing it.
    path = Path(spec.origin).with_name("policy") / "manylinux-policy.json"
    found: list[dict[str, Any]] = json.loads(spec.loader.get_data(str(path)))
    return found


@functools.cache
def policies_of(architecture: str) -> tuple[Policy, ...]:
    """Return the policies for an architecture of a tag (`x86_64`), the oldest system first; none for an unknown one."""
    if architecture in WINDOWS_MACHINES:
        libraries = ignore_names[MachineType[architecture.upper()]]
        return (Policy("win", (), frozenset(libraries) | _RUNTIMES | _WINDOWS_10, {}),)
    policies = [
        Policy(
            name=row["name"],
            aliases=tuple(row["aliases"]),
            libraries=frozenset(row["lib_whitelist"]),
            versions={prefix: frozenset(versions) for prefix, versions in row["symbol_versions"][architecture].items()},
        )
        for row in _data()
        if architecture in row["symbol_versions"]
    ]
    return tuple(sorted(policies, key=lambda policy: policy.minor))


_LEGACY = "|".join(("manylinux1", "manylinux2010", "manylinux2014"))
_LINUX = rf"(?P<system>linux|manylinux_2_(?P<minor>\d+)|{_LEGACY})_(?P<architecture>{'|'.join(LINUX_MACHINES)})"
_TAG = re.compile(rf"{_LINUX}|win_(?P<windows>{'|'.join(WINDOWS_MACHINES)})")


@dataclass(frozen=True)
class Promise:
    """The systems that one platform tag promises to support."""

    tag: str
    architecture: str
    #: None: nothing but the architecture.
    policy: Policy | None


def _policy(match: re.Match[str]) -> Policy | None:
    """Return the policy of a tag; between two of them (2_32), the older one: of what came since nothing is known."""
    policies = policies_of(match["windows"] or match["architecture"])
    if match["windows"]:
        return policies[0]
    if match["minor"]:
        kept = [policy for policy in policies if policy.minor <= int(match["minor"])]
        return kept[-1] if kept else None
    return next((policy for policy in policies if match["system"] in policy.aliases), None)


def promises(platform_tag: str) -> list[Promise]:
    """Return what each platform tag of a set promises. Raises ToolError for an unknown tag."""
    found = []
    for tag in platform_tag.split("."):
        match = _TAG.fullmatch(tag)
        policy = _policy(match) if match else None
        if not match or (match["system"] != "linux" and not policy):
            raise ToolError(
                f"platform tag {tag!r}: no such tag is known for ELF or PE files; expected linux_ARCH or "
                f"manylinux_2_N_ARCH, ARCH being one of {', '.join(LINUX_MACHINES)}, or one of "
                f"{', '.join(f'win_{name}' for name in WINDOWS_MACHINES)}"
            )
        found.append(Promise(tag, match["windows"] or match["architecture"], policy))
    return found
