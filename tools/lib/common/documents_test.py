"""Tests of the documents that actions hand to each other."""

from pathlib import Path

import pytest

from tools.lib.common.documents import read_document, write_document
from tools.lib.common.errors import ToolError


def test_equal_content_is_equal_bytes_one_field_a_line(tmp_path: Path) -> None:
    path = tmp_path / "document"
    document = {"b": ["ï", 1], "a": None}
    write_document(str(path), document)
    assert path.read_bytes() == '{\n "b": [\n  "ï",\n  1\n ],\n "a": null\n}\n'.encode()
    assert read_document(str(path)) == document


@pytest.mark.parametrize("content", [b"", b"{", b'"\xff"'])
def test_what_is_no_json_is_named(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "document"
    path.write_bytes(content)
    with pytest.raises(ToolError) as error:
        read_document(str(path))
    assert str(error.value).startswith(f"{path}: expected a JSON document: ")
