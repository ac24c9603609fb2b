"""Makes small PE images for the tests, byte by byte, with no compiler.

    data = Sample(imports=(("KERNEL32.dll", ("Sleep", 7)),), exports=("function",)).build()

Each has the sections .text and .rdata, in which all tables lie, and those that are asked for. It follows the PE format
closely enough for pefile; it holds no code and is not meant to be run.
"""

from dataclasses import dataclass
from struct import pack

from lib.pe import constants as c

PAGE = 0x1000
SECTOR = 0x200
PE_OFFSET = 0x80
#: RVA of .rdata.
TABLES = 2 * PAGE

#: A DLL, and the names or ordinals that are taken from it.
Imported = tuple[str, tuple[str | int, ...]]


@dataclass(frozen=True)
class Sample:
    """What the image shall be like."""

    machine: int = c.IMAGE_FILE_MACHINE_AMD64
    magic: int = c.PE32_PLUS
    dll: bool = True
    subsystem: int = c.IMAGE_SUBSYSTEM_WINDOWS_CUI
    name: str | None = "sample.dll"
    exports: tuple[str, ...] = ("function",)
    unnamed: int = 0
    """How many more exports there are that have an ordinal alone."""
    imports: tuple[Imported, ...] = (("KERNEL32.dll", ("Sleep",)),)
    delayed: tuple[Imported, ...] = ()
    sections: tuple[tuple[str, bytes], ...] = ()
    """Further sections: name and bytes. A name of more than eight characters stands in COFF's string table."""
    zeros: int = 0
    """Bytes of .rdata that are not in the file."""

    def build(self) -> bytes:
        """Lay the image out."""
        return _Layout(self).build()


class _Layout:
    def __init__(self, sample: Sample) -> None:
        self.sample = sample
        self.tables = bytearray()
        self.directories = [(0, 0)] * 16
        self.word = 8 if sample.magic == c.PE32_PLUS else 4

    def put(self, data: bytes, align: int = 8) -> int:
        """Put bytes into .rdata; returns their RVA."""
        self.tables += bytes(-len(self.tables) % align)
        self.tables += data
        return TABLES + len(self.tables) - len(data)

    def text(self, text: str, prefix: bytes = b"") -> int:
        return self.put(prefix + text.encode("utf-8", "surrogateescape") + b"\0", 2)

    def lookup(self, symbols: tuple[str | int, ...]) -> int:
        ordinal = 1 << (8 * self.word - 1)
        entries = [one | ordinal if isinstance(one, int) else self.text(one, b"\0\0") for one in symbols]
        return self.put(b"".join(entry.to_bytes(self.word, "little") for entry in (*entries, 0)))

    def put_exports(self) -> None:
        sample = self.sample
        named = sample.exports
        if sample.name is None and not named and not sample.unnamed:
            return
        count = len(named) + sample.unnamed
        begin = self.put(bytes(40))
        functions = self.put(pack(f"<{count}I", *[PAGE] * count))
        names = self.put(pack(f"<{len(named)}I", *map(self.text, named)))
        numbers = self.put(pack(f"<{len(named)}H", *range(len(named))))
        name = self.text(sample.name or "")
        table = pack("<12xIIIIIII", name, 1, count, len(named), functions, names, numbers)
        self.tables[begin - TABLES : begin - TABLES + 40] = table
        self.directories[c.EXPORT_TABLE] = (begin, TABLES + len(self.tables) - begin)

    def put_imports(self) -> None:
        rows = [
            (self.lookup(symbols), self.text(library), self.lookup(symbols)) for library, symbols in self.sample.imports
        ]
        if rows:
            table = b"".join(pack("<I8xII", *row) for row in (*rows, (0, 0, 0)))
            self.directories[c.IMPORT_TABLE] = (self.put(table), len(table))
        late = [(1, self.text(library), self.lookup(symbols)) for library, symbols in self.sample.delayed]
        if late:
            table = b"".join(pack("<II8xI12x", *row) for row in (*late, (0, 0, 0)))
            self.directories[c.DELAY_IMPORT_DESCRIPTOR] = (self.put(table), len(table))

    def build(self) -> bytes:
        self.put_exports()
        self.put_imports()
        self.put(b"")
        names, strings = self.section_names()
        bodies = [(b".text", b"\xc3", 0), (b".rdata", bytes(self.tables), self.sample.zeros)]
        bodies += [(name, data, 0) for name, (_, data) in zip(names, self.sample.sections, strict=True)]
        optional = (96 if self.sample.magic == c.PE32 else 112) + 8 * len(self.directories)
        begin = _up(PE_OFFSET + 24 + optional + 40 * len(bodies), SECTOR)
        headers, content, address = bytearray(), bytearray(), PAGE
        for name, data, zeros in bodies:
            raw = data.ljust(_up(len(data), SECTOR), b"\0")
            row = (len(data) + zeros, address, len(raw), begin + len(content))
            headers += pack("<8sIIII12xI", name, *row, 0x40000040)
            content += raw
            address += _up(len(data) + zeros, PAGE)
        pe = self.pe_header(len(bodies), begin + len(content) if strings else 0, optional)
        pe += self.optional_header(address, begin) + b"".join(pack("<II", *one) for one in self.directories)
        dos = b"MZ".ljust(0x3C, b"\0") + pack("<I", PE_OFFSET)
        return (dos.ljust(PE_OFFSET, b"\0") + pe + headers).ljust(begin, b"\0") + content + strings

    def section_names(self) -> tuple[list[bytes], bytes]:
        """Return what the headers of further sections name them, and COFF's string table, empty if none needs it."""
        names, strings = [], b""
        for name in (name.encode() for name, _ in self.sample.sections):
            names.append(name if len(name) <= 8 else f"/{4 + len(strings)}".encode())
            strings += b"" if len(name) <= 8 else name + b"\0"
        return names, pack("<I", 4 + len(strings)) + strings if strings else b""

    def pe_header(self, sections: int, symbols: int, optional: int) -> bytes:
        characteristics = c.IMAGE_FILE_EXECUTABLE_IMAGE | (c.IMAGE_FILE_DLL if self.sample.dll else 0)
        row = (b"PE\0\0", self.sample.machine, sections, symbols, 0, optional, characteristics)
        return pack("<4sHH4xIIHH", *row)

    def optional_header(self, size_of_image: int, size_of_headers: int) -> bytes:
        row = (PAGE, SECTOR, size_of_image, size_of_headers, self.sample.subsystem, len(self.directories))
        if self.sample.magic == c.PE32:
            return pack("<H26xIII16xII4xH22xI", c.PE32, 0x400000, *row)
        return pack("<H22xQII16xII4xH38xI", self.sample.magic, 1 << 32, *row)


def _up(size: int, unit: int) -> int:
    return (size + unit - 1) // unit * unit
