"""Tests of eStargz, by a reader that follows its specification: footer, table of contents, members by offset."""

import gzip
import hashlib
import io
import json
import stat
import tarfile
import tempfile
import zlib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lib.deflate.library import deflate_block
from lib.wheel.deflated_run import small_run
from tools.actions.layer.estargz import estargz_layer, footer
from tools.actions.layer.installed_wheel import InstalledFile, directory, symbolic_link
from tools.actions.layer.layer_file import gzip_layer, write_layer
from tools.actions.layer.model import LANDMARK, TOC_NAME


def installed(contents: dict[str, bytes]) -> list[InstalledFile]:
    """Return files with these contents."""
    return [
        InstalledFile(path, 0o755, small_run(data), hashlib.sha256(data).hexdigest()) for path, data in contents.items()
    ]


def member_at(layer: bytes, offset: int) -> bytes:
    """Inflate the one gzip member that begins at an offset."""
    return zlib.decompressobj(31).decompress(layer[offset:])


def toc_of(layer: bytes) -> tuple[bytes, dict[str, dict[str, Any]]]:
    """Read the table of contents as a snapshotter does; return its bytes, and its entries by name."""
    last = layer[-51:]
    assert last[:10] == bytes.fromhex("1f8b08040000000000ff")
    assert last[10:16] == bytes.fromhex("1a00") + b"SG" + bytes.fromhex("1600")
    assert last[32:38] == b"STARGZ"
    assert gzip.decompress(last) == b""
    with tarfile.open(fileobj=io.BytesIO(member_at(layer, int(last[16:32], 16)))) as archive:
        (member,) = archive
        assert member.name == TOC_NAME
        toc = archive.extractfile(member).read()  # type: ignore[union-attr]
    document = json.loads(toc)
    assert document["version"] == 1
    return toc, {entry["name"]: entry for entry in document["entries"]}


def files_of(layer: bytes) -> dict[str, tarfile.TarInfo]:
    """Read the layer as an engine that does not know the format."""
    with tarfile.open(fileobj=io.BytesIO(layer), mode="r:gz") as archive:
        return {member.name: member for member in archive}


NAMES = st.lists(st.text("aé-", min_size=1, max_size=9), min_size=1, max_size=3).map("/".join)


@given(st.dictionaries(NAMES, st.binary(max_size=1500), max_size=5))
def test_each_file_is_where_the_table_says(contents: dict[str, bytes]) -> None:
    above = {"/".join(name.split("/")[:end]) for name in contents for end in range(1, name.count("/") + 1)}
    contents = {name: data for name, data in contents.items() if name not in above}
    made = estargz_layer(installed(contents))
    with tempfile.NamedTemporaryFile() as file:
        written = write_layer(made, file.name)
        layer = Path(file.name).read_bytes()
    assert written.sha256 == hashlib.sha256(layer).hexdigest()
    toc, entries = toc_of(layer)
    assert made.annotations["containerd.io/snapshot/stargz/toc.digest"] == f"sha256:{hashlib.sha256(toc).hexdigest()}"
    inflated = gzip.decompress(layer)
    assert made.annotations["io.containers.estargz.uncompressed-size"] == str(len(inflated))
    assert written.diff_id == hashlib.sha256(inflated).hexdigest()
    members = files_of(layer)
    assert {name.rstrip("/") for name in entries} == members.keys() - {TOC_NAME}
    assert {name: entry["size"] for name, entry in entries.items() if entry["type"] == "reg"} == {
        name: len(data) for name, data in {**contents, LANDMARK: b"\x0f"}.items()
    }
    for name, data in contents.items():
        entry = entries[name]
        assert ("offset" in entry) == bool(data)
        if data:
            assert member_at(layer, entry["offset"]) == data
            assert entry["digest"] == entry["chunkDigest"] == f"sha256:{hashlib.sha256(data).hexdigest()}"
        assert stat.S_IMODE(entry["mode"]) == members[name].mode


def test_the_same_archive_but_for_what_the_format_adds() -> None:
    contents = {"usr/a": b"a" * 700, "usr/b/c": b"", "usr/b/d": b"d"}
    plain = b"".join(gzip_layer(installed(contents)).archive.inflated())
    ours = b"".join(estargz_layer(installed(contents)).archive.inflated())
    assert ours[1024:].startswith(plain[:-1024])
    assert ours[:1024].startswith(LANDMARK.encode())


def test_links_and_directories_have_entries() -> None:
    made = estargz_layer([symbolic_link("usr/lib/a.so", "a.so.1"), directory("usr/share")])
    toc = b"".join(made.members[-1].inflated())[512:].rstrip(b"\0")
    entries = {entry["name"]: entry for entry in json.loads(toc)["entries"]}
    assert entries["usr/lib/a.so"]["type"] == "symlink"
    assert entries["usr/lib/a.so"]["linkName"] == "a.so.1"
    assert entries["usr/share/"]["type"] == "dir"
    assert entries.keys() == {LANDMARK, "usr/", "usr/lib/", "usr/lib/a.so", "usr/share/"}


def test_no_byte_is_compressed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    files = installed({"a": bytes(range(256)) * 5000, "b": b"b" * 100_000})
    deflated: list[int] = []

    def counted(data: bytes, level: int) -> bytes:
        deflated.append(len(data))
        return deflate_block(data, level)

    monkeypatch.setattr("lib.wheel.deflated_run.deflate_block", counted)
    estargz_layer(files)
    assert deflated
    assert max(deflated) <= 1024


def test_the_footer_is_as_specified() -> None:
    field = b"SG" + b"\x16\0" + b"0000000000001234STARGZ"
    assert footer(0x1234) == bytes.fromhex("1f8b08040000000000ff1a00") + field + bytes.fromhex("010000ffff") + bytes(8)
    assert len(footer(1 << 40)) == 51
