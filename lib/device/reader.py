"""Reads the device code of a program or library for HIP, of Linux or Windows, or of a bundle file.

    with open(path, "rb") as file:
        device = read_device_code(file, path)
    for code in device.code_objects(): print(code.entry.target, code.size)

Reads headers and tables, not code: 1.6 GB of it cost a few hundred kilobytes of reading. Damage of any kind is a
`DeviceError`, never another exception. Sections are found by name; a file without section headers seems to have no
device code.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import BinaryIO, Final

from lib.device.bundle import MAGIC, is_bundle, read_bundle
from lib.device.model import Bundle, DeviceCode, Span, SplitWrapper, Wrapper, device_errors
from lib.device.wrapper import SECTION as WRAPPER_SECTION
from lib.device.wrapper import read_pe_wrappers, read_wrappers
from lib.elf import constants as c
from lib.elf.model import ElfFile
from lib.elf.reader import is_elf, read_elf
from lib.elf.source import Source
from lib.pe.model import PeImage
from lib.pe.reader import is_pe, read_pe

SECTION: Final = ".hip_fatbin"
#: Linkers cut the names of sections of PE images.
PE_NAME_BYTES: Final = 8
#: No file has more bundles, all bundles together no more entries.
MAX_BUNDLES: Final = 1 << 16
MAX_ENTRIES: Final = 1 << 19
#: Bytes of padding that are read at a time.
_PADDING: Final = 1 << 12


def read_device_code(file: BinaryIO, path: str) -> DeviceCode:
    """Read the device code of the file open in `file` (seekable), called `path` in errors.

    A file of another kind than ELF, PE and bundle file has none, nor has one without the section for it.
    Raises DeviceError when the file is damaged, and for an object file: its pointers are not linked yet.
    """
    with device_errors():
        source = Source(file, path)
        head = source.read(0, min(len(MAGIC), source.size), "the first bytes")
        if is_bundle(head):
            span = Span("", 0, source.size, 0)
            return DeviceCode(path, (span,), tuple(_read_span(source, span, [])))
        if is_pe(head):
            return _read_pe(source, read_pe(file, path))
        if not is_elf(head):
            return DeviceCode(path)
        return _read_elf(source, read_elf(file, path))


def _read_elf(source: Source, elf: ElfFile) -> DeviceCode:
    if elf.type == c.ET_REL and elf.machine != c.EM_AMDGPU:
        raise source.error(16, "an object file; expected a linked program or library, or a bundle file")
    if elf.debug_only:
        return DeviceCode(source.path)
    wrapper_sections = [section for section in elf.section_headers if section.name == WRAPPER_SECTION]
    found = [wrapper for section in wrapper_sections for wrapper in read_wrappers(source, elf, section)]
    return _device_code(source, found, lambda split: _spans(source, elf, split))


def _read_pe(source: Source, image: PeImage) -> DeviceCode:
    wrapper_sections = [section for section in image.sections if _is_named(section.name, WRAPPER_SECTION)]
    found = [wrapper for section in wrapper_sections for wrapper in read_pe_wrappers(source, image, section)]
    spans = [
        Span(one.name, one.begin, min(one.size_in_memory, one.size_of_raw_data), image.image_base + one.virtual_address)
        for one in image.sections
        if _is_named(one.name, SECTION) and one.pointer_to_raw_data
    ]
    return _device_code(source, found, lambda _: spans)


def _is_named(name: str, section: str) -> bool:
    """Whether the PE section `name` stands for an ELF section: it has that name, cut after PE_NAME_BYTES."""
    return name in (section, section[:PE_NAME_BYTES])


def _device_code(
    source: Source,
    found: list[Wrapper | SplitWrapper],
    spans_beside: Callable[[Sequence[SplitWrapper]], Iterable[Span]],
) -> DeviceCode:
    """Read what wrappers lead to; `spans_beside` returns the sections of bundles of a file with such split wrappers."""
    found.sort(key=lambda wrapper: wrapper.address)
    wrappers = tuple(wrapper for wrapper in found if isinstance(wrapper, Wrapper))
    split = tuple(wrapper for wrapper in found if isinstance(wrapper, SplitWrapper))
    spans = sorted(spans_beside(split), key=lambda span: span.offset)
    bundles: list[Bundle] = []
    for before, span in zip([None, *spans], spans, strict=False):
        if before is not None and span.offset < before.end:
            raise source.error(span.offset, f"two sections {SECTION} overlap")
        bundles += _read_span(source, span, bundles)
    _check_wrappers(source, bundles, wrappers)
    return DeviceCode(source.path, tuple(spans), tuple(bundles), wrappers, split)


def _spans(source: Source, elf: ElfFile, split: Sequence[SplitWrapper]) -> Iterator[Span]:
    """Yield the sections of bundles; one without bytes is as it should be where its code was split off."""
    for section in elf.section_headers:
        if section.name == SECTION and section.type != c.SHT_NOBITS:
            yield Span(section.name, section.offset, section.size, section.addr)
        elif section.name == SECTION and not split:
            raise source.error(section.position, f"{SECTION} has no bytes in the file (SHT_NOBITS)")


def _read_span(source: Source, span: Span, before: Sequence[Bundle]) -> list[Bundle]:
    """Read bundle after bundle; between them, and behind the last, zeros pad."""
    found: list[Bundle] = []
    entries = sum(len(bundle.code_objects) for bundle in before)
    at = _skip_padding(source, span.offset, span.end)
    while at < span.end:
        bundle = read_bundle(source, at, span.end)
        found.append(bundle)
        entries += len(bundle.code_objects)
        if len(before) + len(found) > MAX_BUNDLES or entries > MAX_ENTRIES:
            raise source.error(at, f"more than {MAX_BUNDLES} bundles, or {MAX_ENTRIES} entries in them")
        at = _skip_padding(source, bundle.end, span.end)
    return found


def _skip_padding(source: Source, at: int, end: int) -> int:
    """Return the file offset of the first byte from `at` on that is not zero; `end` if there is none."""
    while at < end:
        data = source.read(at, min(_PADDING, end - at), "padding")
        rest = data.lstrip(b"\0")
        if rest:
            return at + len(data) - len(rest)
        at += len(data)
    return end


def _check_wrappers(source: Source, bundles: Sequence[Bundle], wrappers: Sequence[Wrapper]) -> None:
    starts = {bundle.offset for bundle in bundles}
    for wrapper in wrappers:
        if wrapper.bundle_offset not in starts:
            reason = f"a wrapper points to {wrapper.bundle_address:#x}, where no bundle of {SECTION} begins"
            raise source.error(wrapper.offset, reason)
