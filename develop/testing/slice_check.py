"""Compares a sliced file with the original, by reading both from scratch: for tests.

    differences(original, sliced, targets)

Knows nothing of how a slice is made. Every code object that one of the targets can load must be there with the same
bytes, aligned as before, and no other; each wrapper must point to the same bundle as before; and at every other address
that the original loads, the same byte must be loaded, except where the change is recorded.
"""

from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise
from typing import BinaryIO

from lib.device.content import digests
from lib.device.model import Bundle, CodeObject, DeviceCode
from lib.device.reader import read_device_code
from lib.device.wrapper import SECTION
from lib.elf import constants as c
from lib.elf.model import ElfFile, ProgramHeader
from lib.elf.reader import EHDR64, PHDR64, SHDR64, is_elf, read_elf
from lib.elf.references import DT_RELA, DT_RELASZ
from lib.gpus.target_id import TargetId, can_load

PAGE = 4096
_CHUNK = 1 << 16


def differences(old_file: BinaryIO, new_file: BinaryIO, targets: Collection[TargetId]) -> Iterator[str]:
    """Yield what is wrong with a slice for some targets, in words."""
    old, new = read_device_code(old_file, "old"), read_device_code(new_file, "new")
    if len(old.bundles) != len(new.bundles):
        yield f"{len(old.bundles)} bundles became {len(new.bundles)}"
        return
    for number, (before, after) in enumerate(zip(old.bundles, new.bundles, strict=True)):
        wanted = [code for code in before.code_objects if code.entry.is_host or _is_loadable(code, targets)]
        yield from (f"bundle {number}: {text}" for text in _bundle_differences(before, after, wanted))
        was, is_now = digests(old_file, old, before), digests(new_file, new, after)
        if [was[code] for code in wanted] != [is_now[code] for code in after.code_objects]:
            yield f"bundle {number}: other bytes"
        if _address(new, after) % min(PAGE, _alignment(_address(old, before))):
            yield f"bundle {number}: at {_address(new, after):#x}, before at {_address(old, before):#x}"
    if _pointers(old) != _pointers(new):
        yield f"wrappers: {_pointers(old)} became {_pointers(new)}"
    old_file.seek(0)
    if is_elf(old_file.read(4)):
        yield from _image_differences(old_file, new_file, old)


def _is_loadable(code: CodeObject, targets: Collection[TargetId]) -> bool:
    wanted = code.entry.target
    return wanted is not None and any(can_load(wanted, target) for target in targets)


def _bundle_differences(before: Bundle, after: Bundle, wanted: Sequence[CodeObject]) -> Iterator[str]:
    expected = [(code.entry, code.size) for code in wanted]
    found = [(code.entry, code.size) for code in after.code_objects]
    if found != expected:
        yield f"{expected} expected, {found} found"
        return
    was, is_now = (one.compression and one.compression.version for one in (before, after))
    if was != is_now:
        yield f"compressed with version {was} of the header (None: not at all) before, {is_now} now"
    for old, new in zip(wanted, after.code_objects, strict=True):
        if new.size and new.offset % min(PAGE, _alignment(old.offset)):
            yield f"{new.entry.text} at {new.offset:#x}, before at {old.offset:#x}"


def _alignment(value: int) -> int:
    return value & -value or PAGE


def _address(device: DeviceCode, bundle: Bundle) -> int:
    span = next(span for span in device.spans if span.offset <= bundle.offset < span.end)
    return span.address + bundle.offset - span.offset


def _pointers(device: DeviceCode) -> list[tuple[int, str, int]]:
    numbers = {bundle.offset: number for number, bundle in enumerate(device.bundles)}
    return [(one.address, one.pointer.value, numbers[one.bundle_offset]) for one in device.wrappers]


def _image_differences(old_file: BinaryIO, new_file: BinaryIO, device: DeviceCode) -> Iterator[str]:
    """Compare what both files load, address by address, outside of the device code."""
    old, new = read_elf(old_file, "old"), read_elf(new_file, "new")
    for name in (
        "type",
        "entry",
        "soname",
        "needed",
        "rpath",
        "runpath",
        "interpreter",
        "versions_needed",
        "versions_defined",
        "build_id",
    ):
        if getattr(old, name) != getattr(new, name):
            yield f"{name}: {getattr(old, name)} became {getattr(new, name)}"
    spans = [range(span.address, span.address + span.size) for span in device.spans]
    table = old.loads[0].vaddr - old.loads[0].offset + old.phoff
    free = [range(table, table + PHDR64.size * len(new.program_headers)), *spans]
    free += [range(old.loads[0].vaddr, old.loads[0].vaddr + EHDR64.size)]
    free += _telling(old)
    for load in old.loads:
        yield from _segment_differences(old_file, new_file, load, new, free, spans)
    yield from _disorder(new)


def _telling(elf: ElfFile) -> list[range]:
    """List the addresses whose words may change, because they tell where things are."""
    places = [(one.addr, one.size) for one in elf.section_headers if one.type == c.SHT_DYNSYM or one.name == SECTION]
    places += [(one.vaddr, one.filesz) for one in elf.program_headers if one.type == c.PT_DYNAMIC]
    size = SHDR64.size * len(elf.section_headers)
    places += [
        (one.vaddr - one.offset + elf.shoff, size) for one in elf.loads if one.offset <= elf.shoff < one.file_end
    ]
    places.append((elf.dynamic_value(DT_RELA) or 0, elf.dynamic_value(DT_RELASZ) or 0))
    return [range(start, start + size) for start, size in places]


def _segment_differences(
    old_file: BinaryIO, new_file: BinaryIO, load: ProgramHeader, new: ElfFile, free: list[range], spans: list[range]
) -> Iterator[str]:
    at = load.vaddr
    while at < load.vaddr + load.filesz:
        span = next((span for span in spans if at in span), None)
        if span is not None:
            at = span.stop
            continue
        stop = min([load.vaddr + load.filesz, at + _CHUNK, *(span.start for span in spans if span.start > at)])
        offset = new.offset_of(at, stop - at)
        flags = {one.flags for one in new.loads if one.vaddr <= at and stop <= one.memory_end}
        if offset is None or not flags <= {load.flags, load.flags & ~c.PF_X}:
            yield f"{at:#x} to {stop:#x} is not loaded any more, or in another way"
            return
        old_file.seek(load.offset + at - load.vaddr)
        new_file.seek(offset)
        before, after = old_file.read(stop - at), new_file.read(stop - at)
        if before != after:
            yield from _byte_differences(before, after, at, free, spans)
        at = stop
    zeros = load.vaddr + load.filesz
    if load.memsz > load.filesz and not any(
        one.vaddr <= zeros and load.memory_end <= one.memory_end for one in new.loads
    ):
        yield f"the memory from {zeros:#x} to {load.memory_end:#x} is not there any more"


def _byte_differences(before: bytes, after: bytes, at: int, free: list[range], spans: list[range]) -> Iterator[str]:
    for way, (old, new) in enumerate(zip(before, after, strict=True)):
        if old == new or any(at + way in one for one in free):
            continue
        start = way - (at + way) % 8
        if int.from_bytes(before[start : start + 8], "little") not in spans[0]:
            yield f"another byte at {at + way:#x}"
            return


def _disorder(elf: ElfFile) -> Iterator[str]:
    """Yield what is wrong with the program headers by themselves."""
    loads = [load for load in elf.loads if load.memsz]
    for before, after in pairwise(loads):
        if before.memory_end > after.vaddr - after.vaddr % PAGE:
            yield f"the segments at {before.vaddr:#x} and {after.vaddr:#x} share a page"
    for load in loads:
        if (load.offset - load.vaddr) % PAGE:
            yield f"the segment at {load.vaddr:#x} has its file offset at {load.offset:#x}"
    own, size = elf.program_header(c.PT_PHDR), PHDR64.size * len(elf.program_headers)
    if own is not None and (own.offset, own.filesz, own.memsz) != (elf.phoff, size, size):
        yield f"PT_PHDR tells of {own.filesz} bytes at {own.offset:#x}; there are {size} at {elf.phoff:#x}"
