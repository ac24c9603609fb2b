"""Reads the table of an offload bundle, plain or compressed.

clang's documentation of the offload bundler has the layout ("Bundled Binary File Layout"): a magic string,
how many entries there are, and of each its offset, its size and its ID, then the code objects.
"""

from collections.abc import Iterable, Sequence
from struct import Struct
from typing import Final

from lib.device.content import Forward
from lib.device.inflate import MAGIC as COMPRESSED_MAGIC
from lib.device.inflate import find_size, read_header
from lib.device.model import Bundle, CodeObject, parse_entry_id
from lib.elf.source import Source

MAGIC: Final = b"__CLANG_OFFLOAD_BUNDLE__"
_HEAD: Final = Struct(f"<{len(MAGIC)}sQ")
_ENTRY: Final = Struct("<QQQ")
#: No bundle has more entries, no entry ID is longer, in bytes.
MAX_ENTRIES: Final = 1 << 10
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
    if count > MAX_ENTRIES:
        raise source.error(offset, f"an offload bundle of {count} entries; no more than {MAX_ENTRIES} are expected")
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
