"""Finds out what the files of one unit are: reads headers, not files.

The facts are what the plan needs to know of an ELF file: what it is, its SONAME, which
libraries and symbol versions it needs and where it looks for them, and how many bytes of
device code of HIP it has for which GPU targets. Of a PE
image (a DLL or an EXE of Windows) they say which DLLs it needs, at start and later; of an
archive of device code (`.kpack`) whose it is. A file of the manifest that is not among
the files is data: the rule tells by its name that nobody has to look.
"""

import json
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from lib.common.arguments import run_program
from lib.common.manifest import file_sources, located_sources
from lib.common.program import ToolError, write_document
from lib.elf import constants as c
from lib.elf.library_name import parse_library_name
from lib.elf.model import ElfFile, refusal
from lib.elf.platforms import is_system_library
from lib.elf.reader import is_elf, read_elf
from lib.elf.source import ElfError

#: How a PE image begins; it takes more to import the reader than to look.
PE_HEAD = b"MZ"
#: How a file of HIP's device code begins, plain and compressed. It takes more to import the reader than to look.
BUNDLE_HEADS = (b"__CLANG_OFFLOAD_BUNDLE__", b"CCOB")
#: Sections with device code of HIP, in ELF files and in PE images.
HIP_SECTIONS = (".hip_fatbin", ".hip_fat")
#: Device code that was split off libraries; it takes more to import its reader, too.
ARCHIVE_SUFFIX = ".kpack"
#: What stands for a file whose bytes Git LFS has elsewhere (its specification, "The Pointer").
LFS_POINTER = b"version https://git-lfs.github.com/spec/"
#: A text that linkers take for a library begins with a command, maybe behind comments (GNU ld's manual, "Scripts").
LINKER_SCRIPT = re.compile(
    rb"(?:\s|/\*[^*]*\*+(?:[^/*][^*]*\*+)*/|#[^\n]*\n)*"
    rb"(?:ASSERT|ENTRY|EXTERN|GROUP|INCLUDE|INPUT|OUTPUT|OUTPUT_ARCH|OUTPUT_FORMAT|PROVIDE|SEARCH_DIR|SECTIONS|TARGET"
    rb"|VERSION)\s*[({\"]"
)
#: So much of a file is looked at to tell whether it is one, in bytes.
SCRIPT_HEAD = 1 << 16
ELF_TYPES = {c.ET_REL: "elf-object", c.ET_CORE: "elf-core"}


def elf_type(elf: ElfFile) -> str:
    """One word for what an ELF file is to a package."""
    if elf.machine == c.EM_AMDGPU:
        return "gpu-code-object"
    if elf.debug_only:
        return "elf-debug"
    if elf.type in ELF_TYPES:
        return ELF_TYPES[elf.type]
    return "elf-program" if elf.is_program else "elf-library"


def _entries(search_path: str | None) -> list[str]:
    """Return the entries of a search path; an empty one has an empty entry, for it is not as if there were none."""
    return [] if search_path is None else search_path.split(":")


def elf_facts(elf: ElfFile, file: BinaryIO) -> dict[str, Any]:
    """Return the facts about one ELF file; fields that say nothing are left out."""
    # To import the reader takes more than to look at most files; whether they open libraries matters only to few.
    may_open = False
    if elf.needed and all(map(is_system_library, elf.needed)):
        from lib.elf.dynamic_symbols import may_open_libraries

        may_open = may_open_libraries(file, elf)
    facts = {
        "type": elf_type(elf),
        "machine": elf.machine,
        "soname": elf.soname,
        "needed": list(elf.needed),
        "rpath": _entries(elf.rpath),
        "runpath": _entries(elf.runpath),
        "interpreter": elf.interpreter,
        "versions_needed": {name: list(versions) for name, versions in sorted((elf.versions_needed or {}).items())},
        "versions_defined": list(elf.versions_defined),
        "opens": may_open,
        "dynamic": elf.has_dynamic and refusal(elf) is None,
        "refusal": refusal(elf),
    }
    return _said(facts, elf.path, "a name in the dynamic section")


def _said(facts: dict[str, Any], path: str, what: str) -> dict[str, Any]:
    """Return the fields that say something; raises ElfError for names that are not UTF-8."""
    facts = {name: value for name, value in facts.items() if value}
    try:
        json.dumps(facts, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise ElfError(path, 0, f"{what} is not UTF-8") from None
    return facts


def pe_facts(file: BinaryIO, source: str) -> dict[str, Any]:
    """Return the facts about one DLL or EXE; fields that say nothing are left out. Of a damaged one they say why."""
    from lib.pe.reader import read_pe

    try:
        image = read_pe(file, source)
        facts = {
            "type": "pe-library" if image.is_dll else "pe-program",
            "machine": image.machine,
            "subsystem": 0 if image.is_dll else image.subsystem,
            "needed": list(image.libraries),
            "needed_late": list(image.delayed_libraries),
        }
        sections = [section.name for section in image.sections]
        return _said(facts, source, "the name of a DLL") | device_facts(file, source, sections)
    except ElfError as error:
        return _damaged("pe", error)


def _damaged(what: str, error: ElfError) -> dict[str, Any]:
    return {"type": f"{what}-damaged", "damage": str(error).encode(errors="backslashreplace").decode()}


def device_facts(file: BinaryIO, source: str, sections: Iterable[str]) -> dict[str, Any]:
    """Return the bytes of device code in a file that has sections of these names."""
    return hip_facts(file, source) if any(name in HIP_SECTIONS for name in sections) else {}


def hip_facts(file: BinaryIO, source: str) -> dict[str, Any]:
    """Return the bytes of HIP's code by target ID; of what cannot be read, why: only who slices it has to care."""
    from lib.device.model import DeviceError
    from lib.device.reader import read_device_code

    try:
        device = read_device_code(file, source)
    except DeviceError as error:
        return {"device_refusal": str(error)}
    sizes: dict[str, int] = {}
    for code in device.code_objects():
        target = str(code.entry.target or code.entry.text)
        sizes[target] = sizes.get(target, 0) + code.size
    return {"device": dict(sorted(sizes.items()))} if sizes else {}


def archive_facts(file: BinaryIO, path: str) -> dict[str, Any]:
    """Return the targets of the code in an archive, by the name of the library that it was split off."""
    from lib.device.kpack import read_kpack

    try:
        bundles = read_kpack(file, path)
    except ElfError as error:
        return {"device_refusal": str(error)}
    found: dict[str, set[str]] = {}
    for name, entries in bundles.items():
        found.setdefault(name.rpartition("#")[0], set()).update(str(target) for target, _ in entries)
    return {"archive": {name: sorted(targets) for name, targets in sorted(found.items())}}


def missing_file(head: bytes, file: BinaryIO, source: str) -> str | None:
    """Return why a file is not what its name says: something else lies in its place. None if it may be what it is."""
    if head.startswith(LFS_POINTER):
        return f"{source}: a pointer of Git LFS, not the file that it stands for (`git lfs pull`)"
    name = parse_library_name(source)
    if not name or not name.short:
        return None
    file.seek(0)
    if LINKER_SCRIPT.match(file.read(SCRIPT_HEAD)):
        return None
    what = "neither an ELF file nor a linker script" if head else "an empty file"
    return f"{source}: {what}; expected a library, as the name says"


def file_facts(path: str, source: str) -> dict[str, Any]:
    """Return the facts about one file. Raises ToolError if the file is not there.

    For an unreadable ELF or PE file the facts say what is wrong. That matters only if the file is packed.
    """
    try:
        size = Path(path).stat().st_size
    except FileNotFoundError:
        raise ToolError(
            f"{source}: {os.path.realpath(path)} is not there for the action. If it is on the machine, the sandbox "
            "hides it: for artifacts below /tmp, set --sandbox_add_mount_pair=/tmp"
        ) from None
    with open(path, "rb") as file:
        head = file.read(max(map(len, (*BUNDLE_HEADS, LFS_POINTER))))
        if is_elf(head):
            try:
                elf = read_elf(file, source)
                sections = [section.name for section in elf.section_headers]
                return {"size": size} | elf_facts(elf, file) | device_facts(file, source, sections)
            except ElfError as error:
                return {"size": size} | _damaged("elf", error)
        if head.startswith(PE_HEAD):
            return {"size": size} | pe_facts(file, source)
        if head.startswith(BUNDLE_HEADS):
            return {"size": size, "type": "gpu-bundle"} | hip_facts(file, source)
        if source.endswith(ARCHIVE_SUFFIX):
            return {"size": size, "type": "data"} | archive_facts(file, source)
        damage = missing_file(head, file, source)
    facts = {"size": size, "type": "script" if head[:2] == b"#!" else "data"}
    return facts | ({"damage": damage} if damage else {})


@dataclass(frozen=True)
class Arguments:
    """Arguments from the rule. A `str` is the path of a file, unless its comment says otherwise."""

    label: str
    artifact: str
    unit: str  #: ID of the unit.
    manifest: str  #: The artifact's.
    output: str  #: Facts to write.
    file: list[str]  #: NAME=PATH: the build's name of a file, and where it is.


def write(args: Arguments) -> None:
    """Inspect every file given and write the facts of all that the manifest has, sorted by source."""
    located = located_sources(args.manifest, args.artifact, args.file)
    facts = {
        source: file_facts(located[source], source) if source in located else {"type": "data"}
        for source in sorted(file_sources(args.manifest, args.artifact).values())
    }
    write_document(args.output, {"artifact": args.artifact, "unit": args.unit, "files": facts})


def main(argv: list[str]) -> int:
    """Write the facts of a unit."""
    return run_program(Arguments, argv, write)
