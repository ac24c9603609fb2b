"""Reads what a PE image, a DLL or an EXE of Windows, says about itself, from its headers and tables alone.

    with open(path, "rb") as file:
        image = read_pe(file, path)
    print(image.libraries, image.exports)

A library of gigabytes costs a few kilobytes of reading. Damage of any kind is an `ElfError`, never another exception.
Own code: pefile cuts names after 512 bytes (mangled C++ has longer ones) and puts names where there are ordinals, lief
reads whole files into memory and takes longer to import than this takes for 100 files. The tests compare with pefile.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from struct import Struct
from typing import Any, BinaryIO, Final

from lib.elf.source import MAX_COUNT, MAX_STRING, MAX_TABLE, ElfError, Source
from lib.pe import constants as c
from lib.pe.model import Import, PeImage, Section, Symbol

DOS_MAGIC: Final = b"MZ"
PE_MAGIC: Final = b"PE\0\0"
WORD: Final = Struct("<H")
DWORD: Final = Struct("<I")
#: Where the DOS header says at which offset the PE header is.
E_LFANEW: Final = 0x3C
PE_HEADER: Final = Struct("<4sHH4xIIHH")
#: Where in the optional header the subsystem is, whatever the magic.
SUBSYSTEM: Final = 68
#: By the magic: ImageBase, SizeOfHeaders, Subsystem and NumberOfRvaAndSizes, which is the last field.
OPTIONAL_HEADER: Final = {c.PE32: Struct("<28xI28xI4xH22xI"), c.PE32_PLUS: Struct("<24xQ28xI4xH38xI")}
DIRECTORY: Final = Struct("<II")
SECTION_HEADER: Final = Struct("<8sIIII12xI")
COFF_SYMBOL_BYTES: Final = 18
EXPORT_DIRECTORY: Final = Struct("<12xIIIIIII")
IMPORT_DESCRIPTOR: Final = Struct("<I8xII")
DELAY_DESCRIPTOR: Final = Struct("<II8xI12x")
#: By the magic: an entry of a table of imports.
LOOKUP: Final = {c.PE32: DWORD, c.PE32_PLUS: Struct("<Q")}
#: Attribute of a delay descriptor: its fields are RVAs, and not addresses as linked.
RVA_BASED: Final = 1
#: Strings are read in pieces of this size, in bytes.
PIECE: Final = 256


class Image:
    """An image in a file. Addresses are RVAs; an address outside of the image is an error in the file."""

    def __init__(self, source: Source, size_of_headers: int, sections: tuple[Section, ...]) -> None:
        self._source = source
        self._size_of_headers = min(size_of_headers, source.size)
        self._sections = sections
        # Tables that lead into each other could be read for ever. In a real image they do not.
        self._left = 2 * source.size + MAX_STRING

    def _place(self, address: int, what: str) -> tuple[int, int, int]:
        """Return where an address lies: the file offset, the bytes in the file from there, those in memory."""
        if 0 <= address < self._size_of_headers:
            return address, self._size_of_headers - address, self._size_of_headers - address
        for section in self._sections:
            at = address - section.virtual_address
            if 0 <= at < section.size_in_memory:
                return section.begin + at, max(section.size_in_file - at, 0), section.size_in_memory - at
        raise self._source.error(0, f"{what} is at RVA {address:#x}, which is in no section")

    def error(self, address: int, reason: str) -> ElfError:
        """Make an error about what is at an address, to be raised."""
        offset, _, _ = self._place(address, reason)
        return self._source.error(min(offset, self._source.size), reason)

    def _spend(self, address: int, size: int, what: str) -> None:
        self._left -= size
        if self._left < 0:
            raise self.error(address, f"{what}: with it, tables have more than twice the bytes of the file")

    def _read(self, address: int, size: int, what: str) -> bytes:
        offset, in_file, in_memory = self._place(address, what)
        if size > min(in_memory, MAX_TABLE):
            raise self.error(address, f"{what} takes {size} bytes from RVA {address:#x} on; there are {in_memory}")
        return self._source.read(offset, min(size, in_file), what).ljust(size, b"\0")

    def read(self, address: int, size: int, what: str) -> bytes:
        """Read exactly `size` bytes; `what` names them in errors. What a section has beyond the file is zero."""
        if not size:
            return b""
        self._spend(address, size, what)
        return self._read(address, size, what)

    def unpack(self, layout: Struct, address: int, what: str) -> tuple[Any, ...]:
        """Read the fields of the structure `layout`."""
        return layout.unpack(self.read(address, layout.size, what))

    def unpack_all(self, layout: Struct, address: int, count: int, what: str) -> list[tuple[Any, ...]]:
        """Read the fields of `count` structures `layout`."""
        return list(layout.iter_unpack(self.read(address, layout.size * count, what)))

    def string(self, address: int, what: str) -> str:
        """Read a NUL-terminated string; bytes that are not UTF-8 come back as surrogate escapes."""
        found = bytearray()
        while (nul := found.find(0)) < 0:
            at = address + len(found)
            if len(found) > MAX_STRING:
                raise self.error(address, f"{what} is longer than {MAX_STRING} bytes")
            _, _, in_memory = self._place(at, what)
            found += self._read(at, min(PIECE, in_memory), what)
        self._spend(address, nul + 1, what)
        return found[:nul].decode("utf-8", "surrogateescape")


@dataclass(frozen=True, slots=True)
class _Header:
    """Optional header, with RVA and size in bytes of each data directory."""

    magic: int
    image_base: int
    size_of_headers: int
    subsystem: int
    directories: tuple[tuple[int, int], ...]

    def directory(self, number: int) -> tuple[int, int]:
        return self.directories[number] if number < len(self.directories) else (0, 0)


def is_pe(head: bytes) -> bool:
    """Whether a file that begins with `head` (two bytes or more) may be a PE image. DOS programs begin the same way."""
    return head.startswith(DOS_MAGIC)


def read_pe(file: BinaryIO, path: str) -> PeImage:
    """Read the facts about the PE image open in `file` (seekable), called `path` in errors.

    Raises ElfError when the file is no PE image, is truncated, or contradicts itself.
    """
    source = Source(file, path)
    if not is_pe(source.read(0, len(DOS_MAGIC), "the DOS header")):
        raise source.error(0, "not a PE image: it does not begin with MZ")
    (begin,) = source.unpack(DWORD, E_LFANEW, "the offset of the PE header")
    magic, machine, count, symbols, symbol_count, size, characteristics = source.unpack(
        PE_HEADER, begin, "the PE header"
    )
    if magic != PE_MAGIC:
        raise source.error(begin, f"not a PE image: the signature is {magic!r}, not {PE_MAGIC!r}")
    header = _read_header(source, begin + PE_HEADER.size, size)
    strings = symbols + symbol_count * COFF_SYMBOL_BYTES if symbols else 0
    sections = tuple(_read_sections(source, begin + PE_HEADER.size + size, count, strings))
    image = Image(source, header.size_of_headers, sections)
    return PeImage(
        path=path,
        size=source.size,
        machine=machine,
        characteristics=characteristics,
        magic=header.magic,
        subsystem=header.subsystem,
        subsystem_offset=begin + PE_HEADER.size + SUBSYSTEM,
        image_base=header.image_base,
        sections=sections,
        exports=_read_exports(image, header.directory(c.EXPORT_TABLE)[0]),
        imports=(*_read_imports(image, header), *_read_delayed(image, header)),
        is_managed=bool(header.directory(c.CLR_RUNTIME_HEADER)[0]),
    )


def _read_header(source: Source, begin: int, size: int) -> _Header:
    """Read the optional header, which images must have; it takes `size` bytes, with the data directories."""
    (magic,) = source.unpack(WORD, begin, "the optional header")
    if magic not in OPTIONAL_HEADER:
        raise source.error(begin, f"the optional header's magic is {magic:#x}, neither PE32 nor PE32+")
    layout = OPTIONAL_HEADER[magic]
    image_base, size_of_headers, subsystem, count = source.unpack(layout, begin, "the optional header")
    room = size - layout.size
    if room < 0:
        raise source.error(begin, f"the optional header takes {size} bytes; expected at least {layout.size}")
    size = min(count * DIRECTORY.size, room)
    directories = source.unpack_all(DIRECTORY, begin + layout.size, size, "the data directories")
    return _Header(magic, image_base, size_of_headers, subsystem, tuple(directories))


def _read_sections(source: Source, begin: int, count: int, strings: int) -> Iterator[Section]:
    """Read the section headers; `strings` is the offset of COFF's string table, 0 if there is none."""
    headers = source.unpack_all(SECTION_HEADER, begin, count * SECTION_HEADER.size, f"the table of {count} sections")
    for number, (raw, *fields) in enumerate(headers):
        position = begin + number * SECTION_HEADER.size
        name = raw.rstrip(b"\0").decode("utf-8", "surrogateescape")
        if strings and name[:1] == "/" and name[1:].isascii() and name[1:].isdigit():
            name = source.read_string(strings + int(name[1:]), source.size, f"the name of section {number}")
        section = Section(position, name, *fields)
        if section.pointer_to_raw_data:
            source.require(section.pointer_to_raw_data, section.size_of_raw_data, f"section {name!r}")
        yield section


def _read_exports(image: Image, begin: int) -> tuple[Symbol, ...]:
    """Read the export table: the symbols by name, then those that have an ordinal alone."""
    if not begin:
        return ()
    _, base, count, name_count, addresses, names, numbers = image.unpack(EXPORT_DIRECTORY, begin, "the export table")
    if max(count, name_count) > MAX_COUNT:
        raise image.error(begin, f"{count} exports and {name_count} names: more than ordinals there are")
    what = f"the table of {count} exports"
    targets = [target for (target,) in image.unpack_all(DWORD, addresses, count, what)]
    where = [at for (at,) in image.unpack_all(DWORD, names, name_count, f"the table of {name_count} names")]
    indices = [index for (index,) in image.unpack_all(WORD, numbers, name_count, "the table of names' ordinals")]
    found, named = [], set()
    for at, index in zip(where, indices, strict=True):
        if index >= count:
            raise image.error(numbers, f"a name has export {index} of {count}")
        named.add(index)
        found.append((image.string(at, "the name of an export"), index))
    unnamed = [(None, index) for index, target in enumerate(targets) if target and index not in named]
    return tuple(Symbol(symbol, base + index) for symbol, index in (*found, *unnamed))


def _read_imports(image: Image, header: _Header) -> Iterator[Import]:
    """Read what is imported at start; the table ends as for the loader, whatever its size is said to be."""
    begin, _ = header.directory(c.IMPORT_TABLE)
    for number in range(MAX_COUNT if begin else 0):
        at = begin + number * IMPORT_DESCRIPTOR.size
        lookup, name, addresses = image.unpack(IMPORT_DESCRIPTOR, at, "the import table")
        if not name or not addresses:
            return
        library = image.string(name, "the name of an imported DLL")
        yield Import(library, tuple(_read_lookup(image, header, lookup or addresses, library)))


def _read_delayed(image: Image, header: _Header) -> Iterator[Import]:
    """Read what is imported when it is first called."""
    begin, _ = header.directory(c.DELAY_IMPORT_DESCRIPTOR)
    for number in range(MAX_COUNT if begin else 0):
        at = begin + number * DELAY_DESCRIPTOR.size
        attributes, name, lookup = image.unpack(DELAY_DESCRIPTOR, at, "the table of delayed imports")
        if not name:
            return
        base = 0 if attributes & RVA_BASED else header.image_base
        library = image.string(name - base, "the name of a DLL that is imported late")
        yield Import(library, tuple(_read_lookup(image, header, lookup - base, library, base)), delayed=True)


def _read_lookup(image: Image, header: _Header, begin: int, library: str, base: int = 0) -> Iterator[Symbol]:
    """Read the symbols that are imported from one DLL; `base` is what their addresses have beyond RVAs."""
    layout = LOOKUP[header.magic]
    by_ordinal = 1 << (8 * layout.size - 1)
    what = f"what is imported from {library}"
    for number in range(MAX_COUNT):
        (entry,) = image.unpack(layout, begin + number * layout.size, what)
        if not entry:
            return
        if entry & by_ordinal:
            yield Symbol(None, entry & 0xFFFF)
        else:
            yield Symbol(image.string(entry - base + WORD.size, what), None)  # A hint stands before the name.
    raise image.error(begin, f"{what}: more than {MAX_COUNT} symbols")
