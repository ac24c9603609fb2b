"""Makes small ELF files for the tests, byte by byte, with no compiler.

    data = Sample(needed=("libc.so.6",), rpath="$ORIGIN", spare=2).build()

Each is a library of two segments: read-only (headers, interpreter, note, hash table, symbols, strings, versions) and
writable (dynamic section, data, zeroed memory). It follows the gABI closely enough for readelf and for pyelftools; it
holds no code and is not meant to be run.
"""

from dataclasses import dataclass
from struct import pack

from lib.elf import constants as c

PAGE = 0x1000
BUILD_ID = bytes(range(20))
#: Offset and address of a segment without bytes in the file.
FAR = 0x1000000


@dataclass(frozen=True)
class Sample:
    """What the file shall be like. Strings given in `names` and `symbols` stand in the string table in this order."""

    machine: int = c.EM_X86_64
    kind: int = c.ET_DYN
    soname: str | None = "libsample.so.1"
    needed: tuple[str, ...] = ("libc.so.6",)
    rpath: str | None = None
    runpath: str | None = None
    interpreter: str | None = None
    symbols: tuple[str, ...] = ("function",)
    """Defined dynamic symbols. A name that ends another string shares its bytes, as linkers do it."""
    undefined: tuple[str, ...] = ()
    """Dynamic symbols that other files have to define."""
    versions: tuple[tuple[str, tuple[str, ...]], ...] = (("libc.so.6", ("GLIBC_2.2.5",)),)
    spare: int = 3
    slack: int = 0
    """Bytes of padding between the segments."""
    zeros: int = 0
    sections: bool = True
    symtab: bool = True
    constants: bytes = b""
    """Content of .rodata; without any, there is no such section."""
    tail: bytes = b"a comment\0"
    page: int = PAGE
    """What segments are aligned to, in bytes: 0x10000 for machines whose pages may be that large."""
    empty_load: bool = False
    """Whether there is a segment of zeroed memory alone, whose file offset is past the file's end."""

    def build(self) -> bytes:
        """Lay the file out."""
        return _Layout(self).build()


class _Layout:
    def __init__(self, sample: Sample) -> None:
        self.sample = sample
        self.data = bytearray(64 + 56 * (7 + (sample.interpreter is not None) + sample.empty_load))
        self.strings = bytearray(b"\0")
        self.placed: dict[str, tuple[int, int]] = {}
        self.headers: list[bytes] = []
        self.section_names = bytearray(b"\0")
        self.section_headers: list[bytes] = [bytes(64)]

    def string(self, text: str) -> int:
        found = self.strings.find(text.encode() + b"\0")
        if found < 0:
            found = len(self.strings)
            self.strings += text.encode() + b"\0"
        return found

    def place(self, name: str, content: bytes, align: int = 8) -> int:
        """Put a section's bytes behind the others; file offset and address are the same below the second segment."""
        self.data += bytes(-len(self.data) % align)
        self.placed[name] = (len(self.data), len(content))
        self.data += content
        return len(self.data) - len(content)

    def build(self) -> bytes:
        sample = self.sample
        if sample.interpreter is not None:
            self.place(".interp", sample.interpreter.encode() + b"\0", 1)
        self.place(".note.gnu.build-id", pack("<III4s", 4, 20, c.NT_GNU_BUILD_ID, b"GNU\0") + BUILD_ID, 4)
        wanted = [text for text in (*sample.needed, sample.soname, sample.rpath, sample.runpath) if text is not None]
        tags = [self.string(text) for text in wanted]
        symbols = bytes(24)
        for name in sample.undefined:
            symbols += pack("<IBBHQQ", self.string(name), 0x12, 0, 0, 0, 0)
        first = 1 + len(sample.undefined)
        for name in sample.symbols:
            symbols += pack("<IBBHQQ", self.string(name), 0x12, 0, 1, 0x40, 1)
        verneed = self.verneed()
        chain = [pack("<I", number == len(sample.symbols)) for number, _ in enumerate(sample.symbols, 1)]
        self.place(".gnu.hash", pack("<IIIIQI", 1, first, 1, 0, 0, first * bool(chain)) + b"".join(chain))
        self.place(".dynsym", symbols)
        self.place(".dynstr", bytes(self.strings), 1)
        self.place(".gnu.version_r", verneed)
        if sample.constants:
            self.place(".rodata", sample.constants)
        first_end = len(self.data)
        self.data += bytes(sample.slack)
        self.data += bytes(-len(self.data) % 16)
        return self.build_writable(first_end, tags)

    def verneed(self) -> bytes:
        table = b""
        for number, (library, names) in enumerate(self.sample.versions, 1):
            places = [(self.string(name), 16 * (at < len(names))) for at, name in enumerate(names, 1)]
            aux = b"".join(pack("<IHHII", 0, 0, 2, *place) for place in places)
            following = (16 + len(aux)) * (number < len(self.sample.versions))
            table += pack("<HHIII", 1, len(names), self.string(library), 16, following) + aux
        return table

    def build_writable(self, first_end: int, strings: list[int]) -> bytes:
        sample = self.sample
        start, page = len(self.data), sample.page
        entries = self.dynamic_entries(strings)
        dynamic = b"".join(pack("<qQ", *entry) for entry in entries) + bytes(16 * (1 + sample.spare))
        self.place(".dynamic", dynamic)
        self.place(".data", pack("<Q", sample.page + self.placed[".dynamic"][0]) + b"some data")
        end = len(self.data)
        self.program_header(c.PT_LOAD, c.PF_R, 0, 0, first_end, first_end)
        self.program_header(c.PT_LOAD, c.PF_R | c.PF_W, start, start + page, end - start, end - start + sample.zeros)
        self.program_header(c.PT_DYNAMIC, c.PF_R | c.PF_W, start, start + page, len(dynamic), len(dynamic), 8)
        offset, size = self.placed[".note.gnu.build-id"]
        self.program_header(c.PT_NOTE, c.PF_R, offset, offset, size, size, 4)
        self.program_header(c.PT_GNU_RELRO, c.PF_R, start, start + page, len(dynamic), len(dynamic), 1)
        self.program_header(c.PT_GNU_STACK, c.PF_R | c.PF_W, 0, 0, 0, 0, 16)
        count = len(self.headers) + 1 + (".interp" in self.placed) + sample.empty_load
        self.program_header(c.PT_PHDR, c.PF_R, 64, 64, 56 * count, 0, 8)
        if ".interp" in self.placed:
            offset, size = self.placed[".interp"]
            self.program_header(c.PT_INTERP, c.PF_R, offset, offset, size, size, 1)
        if sample.empty_load:
            self.program_header(c.PT_LOAD, c.PF_R | c.PF_W, FAR, FAR, 0, 64)
        self.headers = self.headers[6:] + self.headers[:6]
        shoff = self.build_sections(end) if sample.sections else 0
        count = len(self.section_headers) if shoff else 0
        self.data[:64] = pack(
            "<16sHHIQQQIHHHHHH",
            b"\x7fELF\2\1\1".ljust(16, b"\0"),
            *(sample.kind, sample.machine, 1, 0, 64, shoff, 0),
            *(64, 56, len(self.headers), 64, count, max(0, count - 1)),
        )
        self.data[64 : 64 + 56 * len(self.headers)] = b"".join(self.headers)
        return bytes(self.data)

    def dynamic_entries(self, strings: list[int]) -> list[tuple[int, int]]:
        sample = self.sample
        optional = ((c.DT_SONAME, sample.soname), (c.DT_RPATH, sample.rpath), (c.DT_RUNPATH, sample.runpath))
        tags = [c.DT_NEEDED] * len(sample.needed) + [tag for tag, text in optional if text is not None]
        entries = list(zip(tags, strings, strict=True))
        entries += [(c.DT_GNU_HASH, self.placed[".gnu.hash"][0]), (c.DT_STRTAB, self.placed[".dynstr"][0])]
        entries += [(c.DT_SYMTAB, self.placed[".dynsym"][0]), (c.DT_STRSZ, len(self.strings)), (c.DT_SYMENT, 24)]
        if sample.versions:
            entries += [(c.DT_VERNEED, self.placed[".gnu.version_r"][0]), (c.DT_VERNEEDNUM, len(sample.versions))]
        data = len(self.data) + 16 * (len(entries) + 2 + sample.spare)
        return [*entries, (c.DT_PLTGOT, data + sample.page)]

    def program_header(
        self, kind: int, flags: int, offset: int, vaddr: int, filesz: int, memsz: int, align: int = 0
    ) -> None:
        align = align or self.sample.page
        self.headers.append(pack("<IIQQQQQQ", kind, flags, offset, vaddr, vaddr, filesz, memsz or filesz, align))

    def build_sections(self, end: int) -> int:
        kinds = {
            ".interp": c.SHT_PROGBITS,
            ".note.gnu.build-id": c.SHT_NOTE,
            ".gnu.hash": c.SHT_GNU_HASH,
            ".dynsym": c.SHT_DYNSYM,
        }
        kinds |= {
            ".dynstr": c.SHT_STRTAB,
            ".gnu.version_r": c.SHT_GNU_VERNEED,
            ".rodata": c.SHT_PROGBITS,
            ".dynamic": c.SHT_DYNAMIC,
            ".data": c.SHT_PROGBITS,
        }
        order = [name for name in kinds if name in self.placed]
        numbers = {name: at for at, name in enumerate(order, 1)}
        links = {".gnu.hash": ".dynsym", ".dynsym": ".dynstr", ".gnu.version_r": ".dynstr", ".dynamic": ".dynstr"}
        infos = {".dynsym": 1, ".gnu.version_r": len(self.sample.versions)}
        entry_sizes = {".dynsym": 24, ".dynamic": 16}
        for name in order:
            offset, size = self.placed[name]
            writable = name in (".dynamic", ".data")
            flags = c.SHF_ALLOC | (c.SHF_WRITE if writable else 0)
            address = offset + (self.sample.page if writable else 0)
            link = numbers[links[name]] if name in links else 0
            extra = (link, infos.get(name, 0), entry_sizes.get(name, 0))
            self.section(name, kinds[name], flags, address, offset, size, *extra)
        self.section(".bss", c.SHT_NOBITS, c.SHF_ALLOC | c.SHF_WRITE, end + self.sample.page, end, self.sample.zeros)
        self.section(
            ".comment", c.SHT_PROGBITS, 0, 0, self.place(".comment", self.sample.tail, 1), len(self.sample.tail)
        )
        if self.sample.symtab:
            self.symtab(numbers[".dynamic"])
        self.section(".shstrtab", c.SHT_STRTAB, 0, 0, len(self.data), len(self.section_names) + len(".shstrtab") + 1)
        self.place(".shstrtab", bytes(self.section_names), 1)
        return self.place("section headers", b"".join(self.section_headers))

    def symtab(self, dynamic: int) -> None:
        address = self.placed[".dynamic"][0] + self.sample.page
        starts = ((1, 1, 0, dynamic), (0, 3, 0, dynamic), (1, 1, 0, c.SHN_ABS), (10, 1, 0, c.SHN_ABS))
        symbols = bytes(24) + b"".join(pack("<IBBHQQ", *start, address, 0) for start in starts)
        offset = self.place(".symtab", symbols)
        names = b"\0_DYNAMIC\0other\0"
        self.section(".symtab", c.SHT_SYMTAB, 0, 0, offset, len(symbols), len(self.section_headers) + 1, 5, 24)
        self.section(".strtab", c.SHT_STRTAB, 0, 0, self.place(".strtab", names, 1), len(names))

    def section(self, name: str, kind: int, flags: int, address: int, offset: int, size: int, *extra: int) -> None:
        """Add a section header; `extra` are sh_link, sh_info and sh_entsize."""
        at = len(self.section_names)
        self.section_names += name.encode() + b"\0"
        link, info, entry_size = extra or (0, 0, 0)
        self.section_headers.append(
            pack("<IIQQQQIIQQ", at, kind, flags, address, offset, size, link, info, 1, entry_size)
        )
