"""What two ELF files that come of one differ in, where each may have got another RPATH (comparison.py).

A new RPATH moves things: the string table, the dynamic section, headers. So files are compared by what they say: by
their sections' contents and their symbols, read by pyelftools.
"""

import hashlib
import posixpath
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from elftools.common.exceptions import ELFError
from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

#: Sections whose content is about places in the file, or that have the RPATH.
_MOVED = (".dynstr", ".dynamic", ".shstrtab", ".strtab")
#: Begin with the address of the dynamic section (System V gABI, "Global Offset Table").
_GOT = (".got", ".got.plt")
#: Dynamic entries that are compared: those that are no addresses and no sizes of what moves.
_TAGS = (
    "DT_NEEDED",
    "DT_SONAME",
    "DT_FLAGS",
    "DT_FLAGS_1",
    "DT_BIND_NOW",
    "DT_SYMBOLIC",
    "DT_TEXTREL",
    "DT_INIT",
    "DT_FINI",
)
#: Libraries that every system has.
_SYSTEM = re.compile(r"lib(c|m|dl|pthread|rt|gcc_s|stdc\+\+)\.so\.\d|ld-linux-[-\w]+\.so\.\d")
_OPENERS = ("dlopen", "dlmopen")
_SEARCH = ("DT_RPATH", "DT_RUNPATH")
#: The section of our launchers that says what they start.
_LAUNCHER = ".launcher.target"


def is_elf(path: Path) -> bool:
    """Return whether a file is an ELF file that pyelftools can read."""
    with path.open("rb") as file:
        try:
            ELFFile(file)
        except ELFError:
            return False
    return True


def search_path(path: Path, place: str) -> list[str]:
    """Return the directories in which the file looks for libraries, first to last, without repetitions.

    `place` is where it lies relative to site-packages; so are the directories. Those elsewhere are absolute.
    """
    with path.open("rb") as file:
        entries = [entry for tag, text in _dynamic(ELFFile(file)) if tag in _SEARCH for entry in str(text).split(":")]
    origin = posixpath.dirname(place)
    found = [posixpath.normpath(entry.replace("$ORIGIN", origin)) for entry in entries if entry]
    return list(dict.fromkeys(found))


def movable_bytes(path: Path) -> int:
    """Return how many bytes an edit may have moved at most: the dynamic section and strings, hash table, notes."""
    with path.open("rb") as file:
        elf = ELFFile(file)
        kinds = ("SHT_DYNAMIC", "SHT_NOTE", "SHT_GNU_HASH", "SHT_HASH")
        sections = [one for one in elf.iter_sections() if one["sh_type"] in kinds or one.name == ".dynstr"]
        return sum(section["sh_size"] for section in sections)


def is_served_by_system(path: Path) -> bool:
    """Whether a file needs only what every system has, and does not call dlopen: it searches for no library."""
    with path.open("rb") as file:
        elf = ELFFile(file)
        needed = [str(text) for tag, text in _dynamic(elf) if tag == "DT_NEEDED"]
        tables = [one for one in elf.iter_sections() if isinstance(one, SymbolTableSection)]
        symbols = (symbol for table in tables if table.name == ".dynsym" for symbol in table.iter_symbols())
        opens = any(one.name in _OPENERS and one["st_shndx"] == "SHN_UNDEF" for one in symbols)
    return bool(needed) and not opens and all(map(_SYSTEM.fullmatch, needed))


def launcher_target(path: Path) -> str:
    """Return the path that one of our launchers starts, relative to its directory; "" for any other file."""
    with path.open("rb") as file:
        section = ELFFile(file).get_section_by_name(_LAUNCHER)
        return section.data().rstrip(b"\0").decode() if section else ""


def content(path: Path) -> dict[str, str]:
    """Return what the file says, except its RPATH, by name of the part."""
    with path.open("rb") as file:
        elf = ELFFile(file)
        parts = {"header": f"{elf['e_type']} {elf['e_machine']} {elf['e_entry']:#x} {elf['e_flags']:#x}"}
        parts["dynamic"] = repr([(tag, value) for tag, value in _dynamic(elf) if tag in _TAGS])
        parts["search path is"] = repr([tag for tag, _ in _dynamic(elf) if tag in _SEARCH])
        for number, section in enumerate(elf.iter_sections()):
            if section.name and section.name not in _MOVED:
                key = section.name if section.name not in parts else f"{section.name} {number}"
                parts[key] = f"{section['sh_type']} {section['sh_size']} {_digest(section)}"
    return parts


def _dynamic(elf: ELFFile) -> Iterator[tuple[str, Any]]:
    for section in elf.iter_sections():
        if isinstance(section, DynamicSection) and section["sh_type"] == "SHT_DYNAMIC":
            for tag in section.iter_tags():
                text = next(
                    (getattr(tag, name) for name in ("needed", "soname", "rpath", "runpath") if hasattr(tag, name)),
                    tag["d_val"],
                )
                yield tag["d_tag"], text


def _digest(section: Any) -> str:
    if section["sh_type"] == "SHT_NOBITS":
        return ""
    if isinstance(section, SymbolTableSection):
        symbols = [
            (one.name, *(one["st_value"], one["st_size"], *one["st_info"].values())) for one in section.iter_symbols()
        ]
        return hashlib.sha256(repr([one for one in symbols if one[0] != "_DYNAMIC"]).encode()).hexdigest()
    data = section.data()[8:] if section.name in _GOT else section.data()
    return hashlib.sha256(data).hexdigest()
