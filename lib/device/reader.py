"""Reads the device code of a program or library for HIP, of Linux or Windows, or of a bundle file.

    with open(path, "rb") as file:
        device = read_device_code(file, path)
    for code in device.code_objects(): print(code.entry.target, code.size)

Reads headers and tables, not code: 1.6 GB of it cost a few hundred kilobytes of reading. Damage of any kind is a
`DeviceError`, never another exception. Sections are found by name; a file without section headers seems to have no
device code.

clang's documentation of the offload bundler has the layout of a bundle ("Bundled Binary File Layout"): a magic string,
how many entries there are, and of each its offset, its size and its ID, then the code objects.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from struct import Struct
from typing import BinaryIO, Final

from lib.device.content import COMPRESSED_MAGIC, Forward, find_size, read_header
from lib.device.model import Bundle, CodeObject, DeviceCode, Span, SplitWrapper, Wrapper, device_errors, parse_entry_id
from lib.device.wrapper import SECTION as WRAPPER_SECTION
from lib.device.wrapper import read_pe_wrappers, read_wrappers
from lib.elf import constants as c
from lib.elf.model import ElfFile
from lib.elf.reader import is_elf, read_elf
from lib.elf.source import Source
from lib.pe.model import PeImage
from lib.pe.reader import is_pe, read_pe

MAGIC: Final = b"__CLANG_OFFLOAD_BUNDLE__"
_HEAD: Final = Struct(f"<{len(MAGIC)}sQ")
_ENTRY: Final = Struct("<QQQ")
#: No bundle has more entries, no entry ID is longer, in bytes.
_MOST_IN_ONE: Final = 1 << 10
MAX_ID: Final = 1 << 10


def is_bundle(head: bytes) -> bool:
    """Whether bytes that begin with `head` (24 or more) are an offload bundle, plain or compressed."""
    return head.startswith((MAGIC, COMPRESSED_MAGIC))


def table_size(entry_ids: Iterable[str]) -> int:
    """Return the size in bytes of the table of a bundle whose entries have these IDs."""
    return _HEAD.size + sum(_ENTRY.size + len(_encoded(text)) for text in entry_ids)


def bundle_table(code_objects: Sequence[CodeObject]) -> bytes:
    """Make the table of a plain bundle that holds these code objects: all of it but their bytes."""
    table = _HEAD.pack(MAGIC, len(code_objects))
    for code in code_objects:
        name = _encoded(code.entry.text)
        table += _ENTRY.pack(code.offset, code.size, len(name)) + name
    return table


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def read_bundle(source: Source, offset: int, end: int) -> Bundle:
    """Read the bundle at file offset `offset`, which must end before `end`.

    Of a compressed one no more is inflated than the table, unless its size is not in its header.
    Raises ElfError when there is none, or what it says of itself cannot be.
    """
    head = source.read(offset, min(len(MAGIC), end - offset), "an offload bundle")
    if head.startswith(COMPRESSED_MAGIC):
        compression, size = read_header(source, offset, end)
        if size is None:
            size = find_size(source, offset, end, compression)
        forward = Forward(source, offset, size, compression)
        return Bundle(offset, size, compression, _read_table(source, offset, forward, compression.inflated_size)[0])
    if head != MAGIC:
        raise source.error(offset, f"neither an offload bundle nor padding: {head[:8]!r}")
    code_objects, table = _read_table(source, offset, Forward(source, offset, end - offset, None), end - offset)
    size = max([table, *(code.end for code in code_objects if code.size)])
    return Bundle(offset, size, None, code_objects)


def _read_table(source: Source, offset: int, forward: Forward, limit: int) -> tuple[tuple[CodeObject, ...], int]:
    """Read the table of a bundle of no more than `limit` bytes; returns its entries and its size in bytes."""
    magic, count = _HEAD.unpack(forward.read(_HEAD.size, "its header"))
    if magic != MAGIC:
        raise source.error(offset, f"the inflated bytes are no offload bundle: {magic[:8]!r}")
    if count > _MOST_IN_ONE:
        raise source.error(offset, f"an offload bundle of {count} entries; no more than {_MOST_IN_ONE} are expected")
    code_objects = []
    for number in range(count):
        what = f"entry {number} of {count}"
        start, size, length = _ENTRY.unpack(forward.read(_ENTRY.size, what))
        if not 0 < length <= MAX_ID:
            raise source.error(offset, f"{what} has an ID of {length} bytes; expected 1 to {MAX_ID}")
        raw = forward.read(length, what)
        try:
            code_objects.append(CodeObject(parse_entry_id(raw.decode("utf-8", "surrogateescape")), start, size))
        except ValueError as error:
            raise source.error(offset, f"{what}: {error}") from None
    _check_places(source, offset, code_objects, forward.position, limit)
    return tuple(code_objects), forward.position


def _check_places(source: Source, offset: int, code_objects: list[CodeObject], table: int, limit: int) -> None:
    """Check that code objects lie behind the table, in the bundle, and not over each other; that IDs differ."""
    before, end = "the table", table
    for code in sorted((code for code in code_objects if code.size), key=lambda code: code.offset):
        if code.offset < end:
            raise source.error(offset, f"the code object {code.entry.text} at {code.offset:#x} overlaps {before}")
        if code.end > limit:
            reason = f"takes {code.size} bytes from {code.offset:#x} on, the bundle has {limit} at most"
            raise source.error(offset, f"the code object {code.entry.text} {reason}")
        before, end = code.entry.text, code.end
    texts = [code.entry.text for code in code_objects]
    twice = next((text for number, text in enumerate(texts) if text in texts[:number]), None)
    if twice is not None:
        raise source.error(offset, f"the entry ID {twice} is there twice")


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
        Span(one.name, one.begin, one.size_in_file, image.image_base + one.virtual_address)
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
