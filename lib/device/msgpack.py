"""Decodes MessagePack, of which tables of contents are made (the specification: msgpack.org, "spec.md").

No library: the one there is comes compiled for each Python, and its pure form is not published by itself.
"""

from struct import Struct
from typing import Any, Final

#: Deeper documents are damage.
MAX_DEPTH: Final = 32
#: Fixed sizes: how many bytes behind the first, and how to read them.
_SCALARS: Final = {
    0xCA: Struct(">f"),
    0xCB: Struct(">d"),
    0xCC: Struct(">B"),
    0xCD: Struct(">H"),
    0xCE: Struct(">I"),
    0xCF: Struct(">Q"),
    0xD0: Struct(">b"),
    0xD1: Struct(">h"),
    0xD2: Struct(">i"),
    0xD3: Struct(">q"),
}
_CONSTANTS: Final = {0xC0: None, 0xC2: False, 0xC3: True}
_LENGTHS: Final = {1: Struct(">B"), 2: Struct(">H"), 4: Struct(">I")}
#: Sized ones: bytes of the length.
_BINARY: Final = {0xC4: 1, 0xC5: 2, 0xC6: 4}
_STRINGS: Final = {0xD9: 1, 0xDA: 2, 0xDB: 4}
_ARRAYS: Final = {0xDC: 2, 0xDD: 4}
_MAPS: Final = {0xDE: 2, 0xDF: 4}


class MsgpackError(ValueError):
    """Bytes that are no whole MessagePack document."""


class _Reader:
    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def take(self, size: int) -> bytes:
        if self.at + size > len(self.data):
            raise MsgpackError(f"the document ends inside a value at byte {self.at}")
        self.at += size
        return self.data[self.at - size : self.at]

    def value(self, depth: int) -> Any:
        if depth > MAX_DEPTH:
            raise MsgpackError(f"values are nested deeper than {MAX_DEPTH}")
        first = self.take(1)[0]
        if first < 0x80 or first >= 0xE0:
            return first if first < 0x80 else first - 0x100
        if first < 0x90:
            return self.pairs(first & 0xF, depth)
        if first < 0xA0:
            return self.items(first & 0xF, depth)
        if first < 0xC0:
            return self.text(first & 0x1F)
        return self.long(first, depth)

    def long(self, first: int, depth: int) -> Any:
        if first in _CONSTANTS:
            return _CONSTANTS[first]
        if first in _SCALARS:
            return _SCALARS[first].unpack(self.take(_SCALARS[first].size))[0]
        if first in _STRINGS:
            return self.text(self.length(_STRINGS[first]))
        if first in _BINARY:
            return self.take(self.length(_BINARY[first]))
        if first in _ARRAYS:
            return self.items(self.length(_ARRAYS[first]), depth)
        if first in _MAPS:
            return self.pairs(self.length(_MAPS[first]), depth)
        raise MsgpackError(f"byte {self.at - 1} is {first:#x}, which begins no value that is expected")

    def length(self, size: int) -> int:
        return int(_LENGTHS[size].unpack(self.take(size))[0])

    def text(self, size: int) -> str:
        return self.take(size).decode("utf-8", "surrogateescape")

    def items(self, count: int, depth: int) -> list[Any]:
        self.require(count)
        return [self.value(depth + 1) for _ in range(count)]

    def pairs(self, count: int, depth: int) -> dict[Any, Any]:
        self.require(2 * count)
        found = {}
        for _ in range(count):
            key = self.value(depth + 1)
            if isinstance(key, (list, dict)):
                raise MsgpackError(f"a key before byte {self.at} is a list or a map")
            found[key] = self.value(depth + 1)
        return found

    def require(self, count: int) -> None:
        """Each value takes a byte or more: more than there are bytes is damage."""
        if count > len(self.data) - self.at:
            raise MsgpackError(f"{count} values are announced after byte {self.at}, but fewer bytes follow")


def decode(data: bytes) -> Any:
    """Return the document; raises MsgpackError when the bytes are not one, or more than one."""
    decoder = _Reader(data)
    value = decoder.value(0)
    if decoder.at != len(data):
        raise MsgpackError(f"{len(data) - decoder.at} bytes behind the document")
    return value
