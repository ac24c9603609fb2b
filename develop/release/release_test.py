"""Tests of what a release is made of; tests/e2e/release makes one, and builds with it."""

import gzip
import io
import json
import tarfile
from pathlib import Path

import pytest

from develop.release.commit import declared_module
from develop.release.entry import Release, Templates, add_entry
from develop.release.release import compressed, documentation, integrity, with_files_for_links
from lib.common.program import ToolError

TEMPLATES = Templates(
    metadata='{"homepage": "https://github.com/OWNER/acme", "repository": ["github:OWNER/acme"], "versions": []}',
    source='{"integrity": "", "strip_prefix": "acme-{VERSION}", "url": "https://github.com/{OWNER}/{REPO}/{TAG}.tar.gz"}',
    presubmit="tasks: {}\n",
    module='module(name = "acme", version = "1.2.0")\n',
)


def release(version: str, url: str = "") -> Release:
    """Return a release of `acme`."""
    return Release("acme", version, "someone", "sha256-AAAA", url)


def test_an_entry(tmp_path: Path) -> None:
    folder = add_entry(tmp_path, TEMPLATES, release("1.2.0"))
    assert folder == tmp_path / "modules/acme/1.2.0"
    assert json.loads((folder / "source.json").read_text()) == {
        "integrity": "sha256-AAAA",
        "strip_prefix": "acme-1.2.0",
        "url": "https://github.com/someone/acme/v1.2.0.tar.gz",
    }
    assert (folder / "MODULE.bazel").read_text() == TEMPLATES.module
    assert (folder / "presubmit.yml").read_text() == TEMPLATES.presubmit
    add_entry(tmp_path, TEMPLATES, release("1.10.0", "file:///there.tar.gz"))
    assert json.loads((tmp_path / "modules/acme/metadata.json").read_text()) == {
        "homepage": "https://github.com/someone/acme",
        "repository": ["github:someone/acme"],
        "versions": ["1.2.0", "1.10.0"],
    }
    assert json.loads((tmp_path / "modules/acme/1.10.0/source.json").read_text())["url"] == "file:///there.tar.gz"


def test_a_version_that_is_there(tmp_path: Path) -> None:
    add_entry(tmp_path, TEMPLATES, release("1.2.0"))
    with pytest.raises(ToolError, match=r"acme 1\.2\.0 is in this registry already; expected a new version"):
        add_entry(tmp_path, TEMPLATES, release("1.2.0"))


def test_what_a_module_declares() -> None:
    text = '"""About."""\n\nmodule(\n    name = "acme",\n    version = "1.2.0",\n    compatibility_level = 1,\n)\n'
    assert declared_module(text) == ("acme", "1.2.0")
    for bad in ("", 'module(name = "acme")', 'bazel_dep(name = "other", version = "1.0")'):
        with pytest.raises(ToolError, match=r"MODULE\.bazel: no name or version"):
            declared_module(bad)


def test_digests_and_dates() -> None:
    assert integrity(b"") == "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
    data = compressed(b"data")
    assert gzip.decompress(data) == b"data"
    # No name, and a date of zero (RFC 1952, 2.3).
    assert data[3] == 0
    assert data[4:8] == bytes(4)


@pytest.mark.parametrize("name", ["there", "nowhere"])
def test_links_become_files(name: str) -> None:
    """Also a link to a file that comes later. A link that leads nowhere is refused."""
    stream = io.BytesIO()
    with tarfile.open(
        fileobj=stream, mode="w", format=tarfile.PAX_FORMAT, pax_headers={"comment": "commit"}
    ) as archive:
        link, file = tarfile.TarInfo("acme/a/link"), tarfile.TarInfo("acme/there")
        link.type, link.linkname, link.mode, file.size = tarfile.SYMTYPE, f"../{name}", 0o777, 4
        archive.addfile(link)
        archive.addfile(file, io.BytesIO(b"text"))
    if name == "nowhere":
        with pytest.raises(ToolError, match=r"acme/a/link: a link to \.\./nowhere, which the archive does not have"):
            with_files_for_links(stream.getvalue())
        return
    with tarfile.open(fileobj=io.BytesIO(with_files_for_links(stream.getvalue()))) as archive:
        assert archive.pax_headers == {"comment": "commit"}
        assert [(one.name, one.isfile(), oct(one.mode)) for one in archive] == [
            ("acme/a/link", True, "0o644"),
            ("acme/there", True, "0o644"),
        ]
        linked = archive.extractfile("acme/a/link")
        assert linked
        assert linked.read() == b"text"


def test_documentation(tmp_path: Path) -> None:
    for name in ("wheel", "artifact"):
        (tmp_path / f"{name}.binaryproto").write_bytes(name.encode())
    with tarfile.open(fileobj=io.BytesIO(documentation(tmp_path, 17))) as archive:
        found = [(member.name, member.mtime, member.uid, member.mode) for member in archive]
    assert found == [(f"docs/api/{name}.binaryproto", 17, 0, 0o644) for name in ("artifact", "wheel")]
    with pytest.raises(ToolError, match=r"no \*.binaryproto; expected what the targets of //docs/api write"):
        documentation(tmp_path / "wheel", 17)
