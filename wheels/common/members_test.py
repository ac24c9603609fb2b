"""Archives that cannot be read to the end are errors that name them."""

import tarfile
from contextlib import suppress
from pathlib import Path

import pytest

from develop.testing.wheel_sample import Sample
from lib.common.program import ToolError
from wheels.common.members import read_members

CONTENT = bytes(range(256)) * 40
ACME = Sample({"acme/a.bin": CONTENT, "acme/b.bin": b"b"}, name="acme")


def test_damaged_wheels(tmp_path: Path) -> None:
    whole = ACME.build()
    path = tmp_path / ACME.filename
    for at in range(0, len(whole), 7):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :])
        for trust_record in (False, True):
            with suppress(ToolError):  # Not every byte of an archive is read.
                read_members(path, trust_record=trust_record)


def test_a_cut_sdist(tmp_path: Path) -> None:
    path = tmp_path / "acme-1.0.tar.gz"
    (tmp_path / "a").write_bytes(CONTENT)
    with tarfile.open(path, "w:gz") as archive:
        archive.add(tmp_path / "a", "acme-1.0/a")
    path.write_bytes(path.read_bytes()[:60])
    with pytest.raises(ToolError, match=r"acme-1\.0\.tar\.gz: cannot be read: "):
        read_members(path)
