"""Tests of a segment's index."""

import json

from lib.pack.segment import Packed, SegmentIndex


def test_an_index_is_what_was_written() -> None:
    packed = Packed("lib/ï", "0755", offset=3, length=5, size=1 << 40, crc32=0xFFFFFFFF, sha256="ab" * 32)
    index = SegmentIndex((packed, packed), {"a_lib_generic/stage/x": "cd" * 32})
    assert SegmentIndex.from_document(json.loads(json.dumps(index.to_document()))) == index
