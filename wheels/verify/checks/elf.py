"""W401 to W416: each ELF file can be mapped and run safely (System V gABI, "Program Loading"; its GNU extensions).

Search paths stay inside the installation, and no file needs a newer system than the tag promises (PEP 600).
"""

import posixpath
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from lib.common.program import ToolError
from lib.elf import constants as c
from lib.elf.model import ElfFile, after_origin
from lib.elf.platforms import BY_MACHINE
from lib.wheel.platform_policy import LINUX_MACHINES, Promise, promises
from wheels.verify.finding import Finding, Rule, Severity
from wheels.verify.model import FileFacts, Wheel
from wheels.verify.settings import Settings

DAMAGED = Rule(
    "W401",
    "a damaged ELF file",
    why="It cannot be loaded or trusted: its headers contradict each other, or are cut off.",
    remedy="Build it again. If patchelf or strip edited it, leave that step out.",
)
LAYOUT = Rule(
    "W402",
    "program headers that the loader cannot follow",
    why="Segments must be in order, apart from each other, and lie in the file as they do in memory, page by page.",
    remedy="Link it again. If patchelf or strip edited it, leave that step out.",
)
EXECSTACK = Rule(
    "W404",
    "an executable stack",
    why="The whole process loses that protection; glibc from 2.41 on refuses to load such a library.",
    remedy='Add .section .note.GNU-stack,"",@progbits to assembly, or link with -Wl,-z,noexecstack.',
)
WRITABLE_CODE = Rule(
    "W405",
    "a segment that is writable and executable",
    why="What can be written must not be run: hardened systems refuse such a file.",
    remedy="Link without -N/--omagic, and with -Wl,-z,separate-code.",
)
INTERPRETER = Rule(
    "W406",
    "a loader that other systems do not have at this path",
    why="A program names its loader by an absolute path, which the ABI of its CPU fixes.",
    remedy="Link with the system's own loader: patchelf --set-interpreter, or the linker's --dynamic-linker.",
)
DEBUG = Rule(
    "W407",
    "debug information",
    severity=Severity.WARNING,
    why="It is most of a file's size, users do not need it, and it names the paths of the build machine.",
    remedy="strip --strip-debug; or set debug_info if it is wanted.",
)
ABSOLUTE = Rule(
    "W411",
    "a search path that depends on the machine",
    why="An absolute entry leads to whatever is there on the user's machine, whoever put it there.",
    remedy="Write only entries that begin with $ORIGIN.",
)
EMPTY = Rule(
    "W412",
    "an empty or relative entry in the search path",
    why="The loader takes it for the current directory: whoever owns that decides what is loaded.",
    remedy="Remove the entry; write entries that begin with $ORIGIN.",
)
RUNPATH = Rule(
    "W413",
    "DT_RUNPATH",
    why="LD_LIBRARY_PATH comes before it, and it does not serve a library's own dependencies: another installation on "
    "the machine would be mixed in.",
    remedy="Link with -Wl,--disable-new-dtags, or let `sdk_package` set DT_RPATH.",
)
OUTSIDE = Rule(
    "W414",
    "a search path that leads out of site-packages",
    why="What lies above site-packages is not part of any package.",
    remedy="Shorten the entry; $ORIGIN is the directory of the file itself.",
)
TOO_NEW = Rule(
    "W415",
    "needs a newer system than the tag promises",
    why="Installers choose the wheel by its tag; on the older systems of the tag the loader then refuses this file.",
    remedy="Build on an older system, or name the lowest tag that holds, with `platform_tag` of the wheel's rule.",
)
MACHINE = Rule(
    "W416",
    "for another CPU than the tag says",
    why="The machines that the wheel is installed on can neither load nor run it.",
    remedy="Drop the file, or build it for the CPU of the tag.",
)
#: The page size of x86-64; on AArch64 pages may be larger, never smaller.
PAGE: Final = 4096


def linked_files(wheel: Wheel) -> Iterator[tuple[FileFacts, ElfFile]]:
    """Yield the programs and libraries for a CPU: all that the loader maps."""
    for facts in wheel.files.values():
        elf = facts.elf
        if elf is not None and elf.program_headers and elf.machine != c.EM_AMDGPU and not elf.debug_only:
            yield facts, elf


def check(wheel: Wheel, settings: Settings) -> Iterator[Finding]:
    """Look at the ELF files."""
    name = wheel.filename
    for facts in wheel.files.values():
        if facts.elf_damage:
            yield DAMAGED.finding(name, facts.path, facts.elf_damage)
        if facts.elf is not None and not settings.debug_info:
            yield from _debug(name, facts, facts.elf)
    for facts, elf in linked_files(wheel):
        for evidence in layout_faults(elf):
            yield LAYOUT.finding(name, facts.path, evidence)
        yield from _permissions(name, facts, elf)
        cpu = BY_MACHINE.get(elf.machine)
        if elf.interpreter is not None and cpu and elf.interpreter not in cpu.loaders:
            yield INTERPRETER.finding(name, facts.path, f"{elf.interpreter!r}; expected {' or '.join(cpu.loaders)}")
    yield from _dynamic(wheel)


def _debug(wheel: str, facts: FileFacts, elf: ElfFile) -> Iterator[Finding]:
    found = [one for one in elf.section_headers if one.name.startswith((".debug_", ".zdebug_", ".gnu.debuglto_"))]
    if any(one.name.endswith(("_info", "_line")) for one in found):  # Others alone serve unwinding.
        size = sum(section.size for section in found)
        names = ", ".join(sorted({section.name for section in found})[:3])
        yield DEBUG.finding(wheel, facts.path, f"{len(found)} sections, {size} bytes: {names}")


def layout_faults(elf: ElfFile) -> Iterator[str]:
    """Yield what is wrong with program headers, by the gABI's rules for loadable segments."""
    for load in elf.loads:
        where = f"the PT_LOAD segment at {load.vaddr:#x}"
        if load.align > 1 and load.align & (load.align - 1):
            yield f"{where} is aligned to {load.align:#x}, no power of two"
        elif load.align > 1 and (load.vaddr - load.offset) % load.align:
            yield f"{where}, file offset {load.offset:#x}, differ modulo their alignment {load.align:#x}"
        elif (load.vaddr - load.offset) % PAGE:
            yield f"{where}, file offset {load.offset:#x}, differ modulo the page size"
        if load.filesz > load.memsz:
            yield f"{where} has {load.filesz} bytes in the file and {load.memsz} in memory"
    for before, after in pairwise(elf.loads):
        if after.vaddr < before.memory_end:
            yield f"the PT_LOAD segments at {before.vaddr:#x} and {after.vaddr:#x} overlap or are not in order"
    table = elf.program_header(c.PT_PHDR)
    if table is not None and elf.offset_of(table.vaddr, table.filesz) != elf.phoff:
        yield f"PT_PHDR at {table.vaddr:#x} is not where the program headers are mapped"
    for kind, what in ((c.PT_GNU_RELRO, "PT_GNU_RELRO"), (c.PT_TLS, "PT_TLS")):
        header = elf.program_header(kind)
        # Thread-local data of zeros alone (.tbss) takes no place in memory: lld gives it an address between segments.
        is_nowhere = header is not None and header.type == c.PT_TLS and not header.filesz
        if header is not None and header.memsz and not is_nowhere and not _inside(elf, header.vaddr, header.filesz):
            yield f"{what} at {header.vaddr:#x} is in no PT_LOAD segment"


def _inside(elf: ElfFile, vaddr: int, size: int) -> bool:
    return any(load.vaddr <= vaddr and vaddr + size <= load.memory_end for load in elf.loads)


def _permissions(wheel: str, facts: FileFacts, elf: ElfFile) -> Iterator[Finding]:
    stack = elf.program_header(c.PT_GNU_STACK)
    if stack is not None and stack.flags & c.PF_X:
        yield EXECSTACK.finding(wheel, facts.path, "PT_GNU_STACK has the flag PF_X")
    elif stack is None and elf.dynamic and elf.machine == c.EM_X86_64:
        yield EXECSTACK.finding(wheel, facts.path, "no PT_GNU_STACK: on x86-64 that means an executable one")
    for load in elf.loads:
        if load.flags & c.PF_W and load.flags & c.PF_X:
            yield WRITABLE_CODE.finding(wheel, facts.path, f"the PT_LOAD segment at {load.vaddr:#x}")


def _dynamic(wheel: Wheel) -> Iterator[Finding]:
    """Look at what the loader is told, and at what is needed of the system."""
    made = _promises(wheel)
    for facts, elf in linked_files(wheel):
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
            continue  # The matter of the _dynamic over the set: another package has it, or nobody.
        lacking = [version for version in versions if not promise.policy.has_version(version)]
        if lacking:
            evidence = f"{', '.join(sorted(lacking))} of {library}; expected nothing newer than {promise.tag}"
            yield TOO_NEW.finding(wheel.filename, facts.path, evidence)
