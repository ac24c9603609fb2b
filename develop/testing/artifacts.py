"""Makes what plans are made from, for tests: entries with their facts, artifacts, and plans.

    hip = artifact("hip_lib_generic", library("lib/libhip.so.1", "libhip.so.1"), link("lib/libhip.so", "libhip.so.1"))

An entry's source is filled in when it becomes part of an artifact.
"""

from dataclasses import replace

from lib.elf import constants as c
from lib.pe import constants as pe
from lib.plan.model import Artifact, Definition, Facts, Found, Kind, Plan
from tools.actions.plan.tool import make_plan

#: The base directory of every artifact made here.
BASE = "stage"


def file(path: str, type_: str = "data", mode: str = "0644", size: int = 1) -> Found:
    """Make a file of that type, as `tools.actions.inspect` names types."""
    return Found(path, Kind.FILE, "", mode, facts=Facts("", size, type_))


def library(
    path: str, soname: str | None = None, rpath: tuple[str, ...] = (), runpath: tuple[str, ...] = (), size: int = 1
) -> Found:
    """Make a shared library for x86_64."""
    facts = Facts("", size, "elf-library", soname, rpath, runpath, dynamic=True, machine=c.EM_X86_64)
    return Found(path, Kind.FILE, "", "0755", facts=facts)


def program(path: str, rpath: tuple[str, ...] = (), *, dynamic: bool = True) -> Found:
    """Make an ELF program for x86_64, dynamic or static."""
    facts = Facts("", 1, "elf-program", None, rpath, dynamic=dynamic, machine=c.EM_X86_64)
    return Found(path, Kind.FILE, "", "0755", facts=facts)


def image(path: str, type_: str = "pe-library", subsystem: int = 0) -> Found:
    """Make a DLL, or an EXE of that subsystem, for x86_64."""
    facts = Facts("", 1, type_, machine=pe.IMAGE_FILE_MACHINE_AMD64, subsystem=subsystem)
    return Found(path, Kind.FILE, "", facts=facts)


def link(path: str, text: str) -> Found:
    """Make a symbolic link."""
    return Found(path, Kind.LINK, "", "0777", text)


def directory(path: str, mode: str = "0755") -> Found:
    """Make a directory."""
    return Found(path, Kind.DIRECTORY, "", mode)


def artifact(name: str, *found: Found) -> Artifact:
    """Make an artifact of entries; one unit, `{name}/small`, has all its files."""
    sourced = (
        replace(
            one,
            source=f"{name}/{BASE}/{one.path}",
            facts=replace(one.facts, unit=f"{name}/small") if one.facts else None,
        )
        for one in found
    )
    return Artifact(name, tuple(sourced))


def plan(definition: Definition, *found: Found, builds_on: tuple[Plan, ...] = (), name: str | None = None) -> Plan:
    """Plan a package of one artifact, `{package}_lib_generic` if no other name is given."""
    one = artifact(name or f"{definition.package}_lib_generic", *found)
    return make_plan(definition, [one], list(builds_on))
