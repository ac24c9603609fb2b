"""W411 to W417: search paths that stay inside the installation, and no newer system than the tag promises (PEP 600)."""

import posixpath
from collections.abc import Iterator

from lib.common.program import ToolError
from lib.elf.model import ElfFile, after_origin
from lib.wheel.platform_policy import LINUX_MACHINES, Promise, promises
from wheels.verify.checks.elf import linked_files
from wheels.verify.finding import Finding, Rule, Severity
from wheels.verify.model import FileFacts, Wheel
from wheels.verify.settings import Settings
from wheels.verify.suite import Suite

ABSOLUTE = Rule(
    "W411",
    Severity.ERROR,
    "a search path that depends on the machine",
    why="An absolute entry leads to whatever is there on the user's machine, whoever put it there.",
    remedy="Write entries that begin with $ORIGIN, and nothing else.",
)
EMPTY = Rule(
    "W412",
    Severity.ERROR,
    "an empty or relative entry in the search path",
    why="The loader takes it for the current directory: whoever owns that decides what is loaded.",
    remedy="Remove the entry; write entries that begin with $ORIGIN.",
)
RUNPATH = Rule(
    "W413",
    Severity.ERROR,
    "DT_RUNPATH",
    why="LD_LIBRARY_PATH comes before it, and it does not serve a library's own dependencies: another installation on "
    "the machine would be mixed in.",
    remedy="Link with -Wl,--disable-new-dtags, or let `sdk_package` set DT_RPATH.",
)
OUTSIDE = Rule(
    "W414",
    Severity.ERROR,
    "a search path that leads out of site-packages",
    why="What lies above site-packages is not part of any package.",
    remedy="Shorten the entry; $ORIGIN is the directory of the file itself.",
)
TOO_NEW = Rule(
    "W415",
    Severity.ERROR,
    "needs a newer system than the tag promises",
    why="Installers choose the wheel by its tag; on the older systems of the tag the loader then refuses this file.",
    remedy="Build on an older system, or name the lowest tag that holds, with `platform_tag` of the wheel's rule.",
)
MACHINE = Rule(
    "W416",
    Severity.ERROR,
    "for another CPU than the tag says",
    why="It can be neither loaded nor run where the wheel is installed.",
    remedy="Drop the file, or build it for the CPU of the tag.",
)
STATIC = Rule(
    "W417",
    Severity.ERROR,
    "a search path in a static program",
    why="No loader reads it, and a static PIE relocates itself by its dynamic section: where a tool has moved that to "
    "make room for a search path, the program crashes at start.",
    remedy="Package the program as its linker wrote it.",
)


def check(wheel: Wheel, settings: Settings) -> Iterator[Finding]:
    """Look at what the loader is told, and at what is needed of the system."""
    del settings
    made = _promises(wheel)
    for facts, elf in linked_files(wheel):
        if elf.is_static_pie and (elf.rpath or elf.runpath):
            yield STATIC.finding(wheel.filename, facts.path, f"{elf.rpath or elf.runpath!r}, and it needs no library")
        if elf.runpath is not None:
            yield RUNPATH.finding(wheel.filename, facts.path, f"DT_RUNPATH is {elf.runpath!r}")
        for tag, value in (("DT_RPATH", elf.rpath), ("DT_RUNPATH", elf.runpath)):
            if value is not None:
                yield from _entries(wheel, facts, tag, value)
        for promise in made:
            yield from _kept(wheel, facts, elf, promise)


def _promises(wheel: Wheel) -> list[Promise]:
    """Return what the tags promise, as far as they are known, of Linux with glibc."""
    found: list[Promise] = []
    for platform in sorted({tag.platform for tag in wheel.tags}):
        try:
            found += [promise for promise in promises(platform) if promise.architecture in LINUX_MACHINES]
        except ToolError:
            continue
    by_policy = {(one.architecture, one.policy and one.policy.name): one for one in found}  # 2_17 is 2014 as well.
    return list(by_policy.values())


def _entries(wheel: Wheel, facts: FileFacts, tag: str, value: str) -> Iterator[Finding]:
    folder = posixpath.dirname(wheel.installed(facts.path) or "")
    for entry in value.split(":"):
        evidence = f"{tag} is {value!r}: entry {entry!r}"
        if entry.startswith("/"):
            yield ABSOLUTE.finding(wheel.filename, facts.path, evidence)
        elif (rest := after_origin(entry)) is None:
            yield EMPTY.finding(wheel.filename, facts.path, evidence)
        elif wheel.installed(facts.path) and posixpath.normpath(f"{folder}{rest}/.").startswith(".."):
            yield OUTSIDE.finding(wheel.filename, facts.path, evidence)


def _kept(wheel: Wheel, facts: FileFacts, elf: ElfFile, promise: Promise) -> Iterator[Finding]:
    wanted = LINUX_MACHINES[promise.architecture]
    if elf.machine != wanted:
        evidence = f"e_machine is {elf.machine}; expected {wanted} ({promise.tag})"
        yield MACHINE.finding(wheel.filename, facts.path, evidence)
        return
    if promise.policy is None:
        return
    for library, versions in sorted(elf.versions_needed.items()):
        if not promise.policy.has_library(library):
            continue  # The matter of the check over the set: another package has it, or nobody.
        lacking = [version for version in versions if not promise.policy.has_version(version)]
        if lacking:
            evidence = f"{', '.join(sorted(lacking))} of {library}; expected nothing newer than {promise.tag}"
            yield TOO_NEW.finding(wheel.filename, facts.path, evidence)


SUITE = Suite((ABSOLUTE, EMPTY, RUNPATH, OUTSIDE, TOO_NEW, MACHINE, STATIC), check_wheel=check)
