"""Small libraries that the mini SDK has none of: with symbol versions, and with device code in every form.

They are made byte by byte, with no compiler, and hold no code. `with_search_path` and its siblings change any library.
"""

import io
from collections.abc import Mapping, Sequence
from dataclasses import replace
from struct import pack, pack_into

from develop.testing.device_sample import HOST, PREFIX, bundle
from develop.testing.elf_sample import Sample
from develop.testing.pe_sample import Sample as PeSample
from lib.device.kpack import MAGIC, PE_REFERENCE_SECTION, REFERENCE_SECTION, VERSION
from lib.device.wrapper import SECTION as WRAPPERS
from lib.device.wrapper import SPLIT_MAGIC
from lib.elf import constants as c
from lib.elf.dynamic_edit import DynamicEdit
from lib.elf.editor import plan_patch
from lib.elf.model import ElfFile
from lib.elf.reader import DYN64, EHDR64, PHDR64, SHDR64, read_elf
from lib.elf.versions import VERDAUX, VERDEF
from lib.pe.reader import read_pe

#: What is left free in a library for its version definitions, in bytes.
_ROOM = 256


def facts(data: bytes) -> ElfFile:
    """Read the facts about a file."""
    return read_elf(io.BytesIO(data), "a library")


def with_search_path(data: bytes, entries: Sequence[str], tag: int = c.DT_RPATH) -> bytes:
    """Return a library with these search path entries and no others."""
    file = io.BytesIO(data)
    patch = plan_patch(facts(data), file, DynamicEdit(tuple(entries)))
    changed = bytearray(b"".join(bytes(chunk) for chunk in patch.chunks(file)))
    for entry in (entry for entry in facts(bytes(changed)).dynamic if entry.tag == c.DT_RPATH):
        DYN64.pack_into(changed, entry.position, tag, entry.value)
    return bytes(changed)


def with_needed(data: bytes, old: str, new: str) -> bytes:
    """Return a library with another name, of the same length, for a library that it needs."""
    before, after = (b"\0" + name.encode() + b"\0" for name in (old, new))
    assert len(before) == len(after)
    assert before in data
    return data.replace(before, after)


def with_segment(data: bytes, kind: int, **fields: int) -> bytes:
    """Return a file whose first program header of that type has other fields."""
    header = facts(data).program_header(kind)
    assert header is not None
    names = ("type", "flags", "offset", "vaddr", "paddr", "filesz", "memsz", "align")
    changed = bytearray(data)
    values = {name: getattr(header, name) for name in names} | fields
    PHDR64.pack_into(changed, header.position, *(values[name] for name in names))
    return bytes(changed)


def with_dynamic(data: bytes, *entries: tuple[int, int]) -> bytes:
    """Return a file with more dynamic entries, instead of spare ones."""
    elf, changed = facts(data), bytearray(data)
    assert elf.dynamic_spare >= len(entries), f"{elf.dynamic_spare} spare entries for {len(entries)}"
    for number, entry in enumerate(entries, 1):
        DYN64.pack_into(changed, elf.dynamic[-1].position + DYN64.size * number, *entry)
    return bytes(changed)


def with_section(data: bytes, name: str, content: bytes, at: int = 0, kind: int = c.SHT_PROGBITS) -> bytes:
    """Return a file with one more section, which is not loaded; or, where it stands at this file offset, loaded."""
    elf, changed = facts(data), bytearray(data)
    names = bytearray(b"\0")
    old = [data[one.position : one.position + SHDR64.size] for one in elf.section_headers[:-1]]
    headers = bytearray()
    for raw, section in zip(old, elf.section_headers, strict=False):
        headers += pack("<I", len(names) if section.name else 0) + raw[4:]
        names += section.name.encode() + b"\0" if section.name else b""
    changed += bytes(-len(changed) % 16)
    flags, offset = (c.SHF_ALLOC, at) if at else (0, len(changed))
    headers += SHDR64.pack(len(names), kind, flags, at, offset, len(content), 0, 0, 1, 0)
    names += name.encode() + b"\0.shstrtab\0"
    changed += b"" if at else content
    at = len(names) - len(b".shstrtab\0")
    headers += SHDR64.pack(at, c.SHT_STRTAB, 0, 0, len(changed), len(names), 0, 0, 1, 0)
    changed += names
    changed += bytes(-len(changed) % 16)
    *head, _, _, _ = EHDR64.unpack_from(changed)
    head[5] = len(changed)
    count = len(headers) // SHDR64.size
    changed[:64] = data[:16] + EHDR64.pack(*head, SHDR64.size, count, count - 1)[16:]
    return bytes(changed + headers)


def versioned(soname: str, versions: Sequence[str]) -> bytes:
    """Return a library that defines symbol versions (LSB Core, "Symbol Version Definitions")."""
    sample = Sample(soname=soname, symbols=("function", *versions), slack=_ROOM)
    data = bytearray(sample.build())
    elf = facts(bytes(data))
    first = elf.loads[0]
    strings = elf.offset_of(elf.dynamic_value(c.DT_STRTAB) or 0) or 0
    names = [(soname, 1), *((version, 0) for version in versions)]
    table, size = b"", VERDEF.size + VERDAUX.size
    for number, (name, flags) in enumerate(names, 1):
        following = size if number < len(names) else 0
        table += VERDEF.pack(1, flags, number, 1, 0, VERDEF.size, following)
        table += VERDAUX.pack(data.index(b"\0" + name.encode() + b"\0", strings) + 1 - strings, 0)
    assert len(table) <= _ROOM
    data[first.file_end : first.file_end + len(table)] = table
    grown = with_segment(bytes(data), c.PT_LOAD, filesz=first.filesz + len(table), memsz=first.memsz + len(table))
    return with_dynamic(grown, (c.DT_VERDEF, first.memory_end), (c.DT_VERDEFNUM, len(names)))


def using(soname: str, library: str, versions: Sequence[str], rpath: str = "$ORIGIN") -> bytes:
    """Return a library that needs symbols of these versions of another one."""
    wanted = ((library, tuple(versions)),) if versions else ()
    return Sample(soname=soname, needed=(library,), rpath=rpath, versions=wanted).build()


def offload_bundle(targets: Sequence[str]) -> bytes:
    """Return an offload bundle with code for these targets."""
    return bundle([(HOST, b""), *((PREFIX + target, target.encode() * 9) for target in targets)], align=64)


def fat(soname: str, bundles: Sequence[bytes]) -> bytes:
    """Return a library with these offload bundles inside."""
    plain = replace(Sample(soname=soname), symtab=False).build()
    return with_section(plain, ".hip_fatbin", b"".join(one + bytes(-len(one) % 64) for one in bundles))


def msgpack(value: object) -> bytes:
    """Encode what a table of contents has: maps, lists, strings, numbers (MessagePack)."""
    if isinstance(value, Mapping):
        return bytes([0xDE]) + pack(">H", len(value)) + b"".join(msgpack(one) for pair in value.items() for one in pair)
    if isinstance(value, (list, tuple)):
        return bytes([0xDC]) + pack(">H", len(value)) + b"".join(msgpack(one) for one in value)
    if isinstance(value, str):
        return bytes([0xDA]) + pack(">H", len(value.encode())) + value.encode()
    assert isinstance(value, int)
    return bytes([0xCE]) + pack(">I", value)


def split_off(soname: str, name: str, path: str, numbers: Sequence[int] = (0, 1)) -> bytes:
    """Return a library whose device code is in archives: under `name`, in archives at `path` relative to it.

    As AMD's splitter leaves it: the section of bundles has no bytes, and each wrapper, here for the bundles of these
    numbers, points to what says where the archives are.
    """
    data = bytearray(replace(Sample(soname=soname), symtab=False, slack=1024).build())
    first = facts(bytes(data)).loads[0]
    reference = msgpack({"kernel_name": name, "kpack_search_paths": [path]})
    at = first.file_end + -first.file_end % 8
    wrappers = b"".join(pack("<IIQQ", SPLIT_MAGIC, 1, at, number) for number in numbers)
    start = at + len(reference) + -len(reference) % 8
    end = start + len(wrappers)
    data[at : at + len(reference)], data[start:end] = reference, wrappers
    grown = with_segment(bytes(data), c.PT_LOAD, filesz=end - first.offset, memsz=end - first.offset)
    grown = with_section(grown, REFERENCE_SECTION, reference, at)
    grown = with_section(grown, WRAPPERS, wrappers, start)
    return with_section(grown, ".hip_fatbin", b"", end, c.SHT_NOBITS)


def windows_split_off(name: str, path: str, numbers: Sequence[int] = (0, 1)) -> bytes:
    """Return a DLL whose device code is in archives, likewise."""
    reference = msgpack({"kernel_name": name, "kpack_search_paths": [path]})

    def built(address: int) -> bytes:
        wrappers = b"".join(pack("<IIQQ", SPLIT_MAGIC, 1, address, number) for number in numbers)
        sections = ((".hipFatB", wrappers), (PE_REFERENCE_SECTION, reference))
        return PeSample(name="split.dll", sections=sections).build()

    image = read_pe(io.BytesIO(built(0)), "a library")
    return built(image.image_base + image.sections[-1].virtual_address)


def kpack(contents: Mapping[str, Sequence[str]]) -> bytes:
    """Return an archive of device code: targets by `library#number`."""
    blob = bytes(48) + b"code" * 16
    toc = {
        name: {target: {"type": "hsaco", "ordinal": 0, "original_size": 64} for target in targets}
        for name, targets in contents.items()
    }
    head = bytearray(16)
    pack_into("<4sIQ", head, 0, MAGIC, VERSION, 16 + len(blob))
    return bytes(head) + blob + msgpack({"format_version": 1, "compression_scheme": "none", "toc": toc})
