"""Reads the wrappers of a library: the structures that it hands to HIP when it is loaded, one per bundle.

clang calls it `__CudaFatBinaryWrapper`: a magic number, a version, a pointer to the bundle, and an unused pointer.
The pointer is what the file has in its place, or what a relocation puts there: R_*_RELATIVE of DT_RELA (psABI), DT_RELR
(gABI, "Relative Relocation Table") or, where the bundle is a symbol (-fgpu-rdc), R_X86_64_64 and R_AARCH64_ABS64.

Where a library's code was split off (ROCm's rocm-kpack), the magic number is another, the pointer leads to what says in
which archives the code is, and the last field holds the number of the bundle.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from struct import Struct
from typing import Final

from lib.device.model import Pointer, SplitWrapper, Wrapper
from lib.elf import constants as c
from lib.elf.model import ElfFile, SectionHeader
from lib.elf.platforms import BY_MACHINE
from lib.elf.references import RELA, WORD, rela_batches, relr_runs
from lib.elf.source import Source
from lib.pe.model import PeImage, Section

SECTION: Final = ".hipFatBinSegment"
MAGIC: Final = 0x48495046
#: "HIPK": the bundle was split off.
SPLIT_MAGIC: Final = 0x4B504948
VERSION: Final = 1
_WRAPPER: Final = Struct("<IIQQ")
#: Where in a wrapper the pointer to its bundle is, in bytes.
POINTER: Final = 8

#: Elf64_Sym: of its fields, st_shndx and st_value.
_SYMBOL: Final = Struct("<4x2xHQ8x")
SHN_UNDEF: Final = 0


def read_wrappers(source: Source, elf: ElfFile, section: SectionHeader) -> list[Wrapper | SplitWrapper]:
    """Read the wrappers in a section, by address.

    Raises ElfError for anything else that is there, and for a pointer that leads to no byte of the file.
    """
    if section.type == c.SHT_NOBITS or section.size % _WRAPPER.size:
        reason = f"{SECTION} has {section.size} bytes in the file; expected wrappers of {_WRAPPER.size}"
        raise source.error(section.position, reason)
    if elf.offset_of(section.addr, section.size or 1) != section.offset:
        raise source.error(section.position, f"{SECTION} is not loaded from where it stands in the file")
    places = range(section.addr + POINTER, section.addr + section.size, _WRAPPER.size)
    relocated = dict(_relocations(source, elf, places))

    def pointed(place: int, value: int) -> tuple[Pointer, int]:
        pointer, address = relocated.get(place, (Pointer.IN_PLACE, None))
        return pointer, value if address is None else address

    return _wrappers(source, section.offset, places, pointed, elf.offset_of)


def read_pe_wrappers(source: Source, image: PeImage, section: Section) -> list[Wrapper | SplitWrapper]:
    """Read the wrappers in a section of a PE image, by address: their pointers stand in place.

    Addresses are as linked, with the image's base. Raises ElfError as `read_wrappers` does.
    """
    size = section.size_in_file
    if not section.pointer_to_raw_data or size % _WRAPPER.size:
        reason = f"{section.name} has {size} bytes in the file; expected wrappers of {_WRAPPER.size}"
        raise source.error(section.position, reason)
    begin = image.image_base + section.virtual_address
    places = range(begin + POINTER, begin + size, _WRAPPER.size)

    def offset_of(address: int) -> int | None:
        return image.offset_of(address - image.image_base)

    return _wrappers(source, section.begin, places, lambda _, value: (Pointer.IN_PLACE, value), offset_of)


def _wrappers(
    source: Source,
    begin: int,
    places: Sequence[int],
    pointed: Callable[[int, int], tuple[Pointer, int]],
    offset_of: Callable[[int], int | None],
) -> list[Wrapper | SplitWrapper]:
    """Read wrappers from file offset `begin` on, whose pointers lie at the addresses `places`.

    `pointed` returns where a pointer leads of which address and value in place are given, `offset_of` which byte of the
    file an address is.
    """
    wrappers: list[Wrapper | SplitWrapper] = []
    raw = source.unpack_all(_WRAPPER, begin, len(places) * _WRAPPER.size, SECTION)
    for at, ((magic, version, value, number), place) in enumerate(zip(raw, places, strict=True)):
        offset = begin + at * _WRAPPER.size
        if magic not in (MAGIC, SPLIT_MAGIC) or version != VERSION:
            known = f"{MAGIC:#x} or {SPLIT_MAGIC:#x}, and {VERSION}"
            reason = f"a wrapper with magic {magic:#x} and version {version}; expected {known}"
            raise source.error(offset, reason)
        pointer, address = pointed(place, value)
        found = offset_of(address)
        if found is None:
            raise source.error(offset + POINTER, f"a wrapper points to {address:#x}, which is not in the file")
        if magic == SPLIT_MAGIC:
            wrappers.append(SplitWrapper(place - POINTER, offset, number & 0xFFFFFFFF, found))
        else:
            wrappers.append(Wrapper(place - POINTER, offset, pointer, address, found))
    return wrappers


def _relocations(
    source: Source, elf: ElfFile, places: Sequence[int]
) -> Iterator[tuple[int, tuple[Pointer, int | None]]]:
    """Yield the relocated places among these virtual addresses (sorted), with kind and target of the relocation.

    The target is None where the bytes in place hold it.
    """
    wanted = frozenset(places)
    for at, batch in rela_batches(source, elf):
        for number, (place, info, addend) in enumerate(RELA.iter_unpack(batch)):
            if place in wanted:
                yield place, _relocated(source, elf, at + number * RELA.size, info, addend)
    for start, mask in relr_runs(source, elf):
        end = start + WORD.size * mask.bit_length()
        for place in places[bisect_left(places, start) : bisect_left(places, end)]:
            number, beside = divmod(place - start, WORD.size)
            if not beside and mask >> number & 1:
                yield place, (Pointer.RELR, None)


def _relocated(source: Source, elf: ElfFile, at: int, info: int, addend: int) -> tuple[Pointer, int]:
    """Return the kind and the target address of the relocation at file offset `at`."""
    symbol, kind = divmod(info, 1 << 32)
    cpu = BY_MACHINE.get(elf.machine)
    known = [cpu.relative, cpu.symbolic] if cpu else []
    if cpu and kind == cpu.relative:
        return Pointer.RELATIVE, addend
    if kind not in known:
        reason = f"the pointer of a wrapper in {SECTION} has relocation type {kind} of machine {elf.machine}"
        raise source.error(at, f"{reason}; expected one of {known}")
    table = elf.offset_of(elf.dynamic_value(c.DT_SYMTAB) or 0)
    if table is None:
        reason = f"the pointer of a wrapper in {SECTION} is relocated by symbol {symbol}, but DT_SYMTAB is missing"
        raise source.error(at, reason)
    section, value = source.unpack(_SYMBOL, table + symbol * _SYMBOL.size, f"symbol {symbol}")
    if section == SHN_UNDEF:
        reason = f"the pointer of a wrapper in {SECTION} is relocated by symbol {symbol} of another library"
        raise source.error(at, f"{reason}; expected a symbol of this file")
    return Pointer.SYMBOL, value + addend
