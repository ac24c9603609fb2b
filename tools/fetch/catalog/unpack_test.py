"""Tests of unpacking: trees come out as they went in, and nothing that is refused leaves anything behind."""

import os
import shutil
import sys
import tarfile
from contextlib import suppress
from pathlib import Path

import pytest

from develop.testing.planted_archives import (
    COMPRESS,
    Planted,
    directory,
    file,
    hard_link,
    link,
    manifest,
    member,
    plant,
    tar,
    tree,
)
from tools.fetch.catalog.names import CatalogError
from tools.fetch.catalog.one_archive import Arguments, unpack, write

SUFFIXES = sorted(COMPRESS)


@pytest.fixture(params=SUFFIXES)
def archive(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Return where an archive may be planted, with each suffix."""
    return tmp_path / f"a_lib_generic{request.param}"


def refusal(path: Path) -> str:
    """Make the repository; return the message, which names the archive. Nothing may be written, inside or outside."""
    inside = path.parent / "inside"
    inside.mkdir()
    before = tree(path.parent)
    with pytest.raises(CatalogError) as caught:
        write(Arguments(path, "a_lib_generic", "r", inside, None))
    assert tree(path.parent) == before
    inside.rmdir()
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    return message.removeprefix(f"{path}: ")


def test_all_kinds_come_out(archive: Path, tmp_path: Path) -> None:
    members = [
        manifest("./stage/\nempty/stage\n"),
        directory("stage", 0o755),
        directory("stage/bin/", 0o750),
        file("stage/bin/tool", b"program", 0o755),
        file("stage/share/read-only", b"text", 0o444),
        directory("stage/share", 0o555),
        directory("stage/private", 0o700),
        link("stage/bin/other", "tool"),
        link("stage/bin/dangling", "no where"),
        hard_link("stage/bin/hard", "stage/bin/tool", 0o755),
        hard_link("stage/bin/harder", "stage/bin/hard", 0o755),
        file("./stage/naïve a+b@c:d\\e.txt", b"name"),
        file("beside/unused", b"outside of the base directories"),
        directory("empty/stage"),
    ]
    plant(archive, members)
    folder = tmp_path / "unpacked"
    unpack(archive, folder)
    found = tree(folder)
    assert {name: what[:2] for name, what in found.items()} == {
        "artifact_manifest.txt": ("file 644", b"./stage/\nempty/stage\n".hex()),
        "beside": ("directory 755", ""),
        "beside/unused": ("file 644", b"outside of the base directories".hex()),
        "empty": ("directory 755", ""),
        "empty/stage": ("directory 755", ""),
        "stage": ("directory 755", ""),
        "stage/bin": ("directory 750", ""),
        "stage/bin/dangling": ("link", "no where"),
        "stage/bin/hard": ("file 755", b"program".hex()),
        "stage/bin/harder": ("file 755", b"program".hex()),
        "stage/bin/other": ("link", "tool"),
        "stage/bin/tool": ("file 755", b"program".hex()),
        "stage/naïve a+b@c:d\\e.txt": ("file 644", b"name".hex()),
        "stage/private": ("directory 700", ""),
        "stage/share": ("directory 755", ""),
        "stage/share/read-only": ("file 444", b"text".hex()),
    }
    assert (folder / "stage/bin/hard").samefile(folder / "stage/bin/tool")


def test_a_base_directory_without_files_need_not_be_there(archive: Path, tmp_path: Path) -> None:
    plant(archive, [manifest("stage\nempty/stage\n"), file("stage/x")])
    write(Arguments(archive, "a_lib_generic", "r", tmp_path / "r", None))
    assert (tmp_path / "r/files/a_lib_generic/stage").readlink() == Path("../../unpacked/a_lib_generic/stage")


REFUSED: list[tuple[str, list[Planted], str]] = [
    ("up", [file("../x")], "tar refuses it: ../x: Member name contains '..'"),
    ("up inside", [file("stage/../../x")], "tar refuses it: stage/../../x: Member name contains '..'"),
    ("below a link that leads outside", [link("stage/l", "../../.."), file("stage/l/escaped")], "tar refuses it: "),
    ("below a file", [file("stage/f"), file("stage/f/g")], "tar refuses it: stage/f/g: Cannot open"),
    ("twice", [file("stage/f", b"1"), file("stage/f", b"2")], "tar refuses it: stage/f: Cannot open: File exists"),
    ("twice, spelled", [file("stage/f"), file("stage/.//f")], "tar refuses it: stage/.//f: Cannot open: File exists"),
    ("link over file", [file("stage/f"), link("stage/f", "x")], "tar refuses it: stage/f: Cannot create symlink"),
    ("file over directory", [file("stage/d/f"), file("stage/d")], "tar refuses it: stage/d: Cannot open"),
    (
        "link over directory",
        [directory("stage/d"), link("stage/d", "..")],
        "tar refuses it: stage/d: Cannot open: File exists",
    ),
    ("link out", [link("stage/l", "../x")], "stage: the link l -> ../x leads outside the artifact"),
    ("link out, deeper", [link("stage/a/l", "../../x")], "the link a/l -> ../../x leads outside the artifact tree"),
    ("absolute link", [link("stage/l", "/etc/passwd")], "stage: the link l -> /etc/passwd leads outside"),
    ("hard link out", [hard_link("stage/h", "../../etc/passwd")], "tar refuses it: "),
    ("hard link to nothing", [hard_link("stage/h", "stage/f")], "tar refuses it: stage/h: Cannot hard link to"),
    ("FIFO", [member("stage/p", tarfile.FIFOTYPE)], "stage/p: neither a file, a directory nor a link; remove it"),
    ("set-user-ID", [file("stage/s", b"", 0o4755)], "stage/s: set-user-ID or set-group-ID file (mode 4755)"),
    ("set-group-ID", [file("stage/s", b"", 0o2755)], "stage/s: set-user-ID or set-group-ID file (mode 2755)"),
    ("not readable", [file("stage/s", b"", 0)], "stage/s: cannot be read (mode 0000); make it readable"),
    ("not UTF-8", [file("stage/\udcff")], "the name '\\udcff' is not UTF-8"),
    ("control character", [file("stage/a\nb")], "the name 'a\\nb' contains a control character"),
    ("link not UTF-8", [link("stage/l", "\udcff")], "stage/l: the name '\\udcff' is not UTF-8"),
    ("too long", [file("stage/" + "n" * 300)], "Cannot open: File name too long"),
]


@pytest.mark.parametrize(("members", "message"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED])
@pytest.mark.parametrize("first", [True, False], ids=["manifest first", "manifest last"])
def test_refused(members: list[Planted], message: str, first: bool, tmp_path: Path) -> None:
    planted = [manifest(), *members] if first else [*members, manifest()]
    assert message in refusal(plant(tmp_path / "a_lib_generic.tar.gz", planted))


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ([file("stage/x")], "no artifact_manifest.txt in it; each artifact lists its base directories"),
        ([], "no artifact_manifest.txt in it"),
        ([directory("artifact_manifest.txt")], "no artifact_manifest.txt in it"),
        ([manifest("stage\n" * 3_000_000)], "artifact_manifest.txt: 18000000 bytes; expected a text of at most"),
        ([file("artifact_manifest.txt", b"st\xffage\n")], "artifact_manifest.txt: expected a text in UTF-8 ("),
        ([manifest("stag\n"), file("stage/x")], "artifact_manifest.txt: names 'stag', which is not there, and no dir"),
        ([manifest("../x\n")], "artifact_manifest.txt: '../x' leads outside the artifact"),
        ([manifest("/etc\n")], "artifact_manifest.txt: '/etc' leads outside the artifact"),
        ([manifest(".\n")], "artifact_manifest.txt: '.' is the artifact's folder itself"),
        ([manifest("a\x01b\n")], "artifact_manifest.txt: the name 'a\\x01b' contains a control character"),
        ([manifest("l/x\n"), link("l", "s")], "artifact_manifest.txt: names 'l/x', but l is not a directory"),
        ([manifest("f/x\n"), file("f")], "artifact_manifest.txt: names 'f/x', but f is not a directory"),
        ([manifest("f\n"), file("f")], "artifact_manifest.txt: names 'f', but f is not a directory; replace it"),
    ],
)
def test_manifests_that_are_refused(members: list[Planted], message: str, tmp_path: Path) -> None:
    assert message in refusal(plant(tmp_path / "a_lib_generic.tar.xz", members))


@pytest.mark.parametrize("keep", [0, 1, 5, 100, -1, -9, -600])
def test_truncated(archive: Path, keep: int) -> None:
    plant(archive, [manifest(), *(file(f"stage/{number}", os.urandom(5000)) for number in range(20))])
    archive.write_bytes(archive.read_bytes()[:keep])
    message = refusal(archive)
    assert message.startswith(("truncated", "tar refuses it: "))
    assert message.lower().endswith("replace it")


@pytest.mark.parametrize("size", [512, 1024, 1535, 1536, 2000, 2048, 2560])
def test_a_tar_that_ends_early(archive: Path, size: int) -> None:
    """Though its compression is whole: only the blocks of zeros tell that it is."""
    whole = tar([manifest(), file("stage/x", b"content")])
    archive.write_bytes(COMPRESS["".join(archive.suffixes)](whole[:size]))
    if size >= 2560:  # One block of zeros: what POSIX asks readers to take for the end, too.
        unpack(archive, archive.parent / "folder")
    else:
        assert "eplace it" in refusal(archive)


def test_a_damaged_header_is_not_the_end(archive: Path) -> None:
    data = bytearray(tar([manifest(), file("stage/x", b"content"), file("stage/y", b"content")]))
    data[1024 + 10] ^= 1
    archive.write_bytes(COMPRESS["".join(archive.suffixes)](bytes(data)))
    assert refusal(archive).startswith("tar refuses it: Skipping to next header")


def test_a_machine_without_tar(archive: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(archive, [manifest(), file("stage/x")])
    monkeypatch.setenv("PATH", "/nowhere")
    assert refusal(archive) == "the program tar cannot be run: No such file or directory. Install it"


@pytest.mark.parametrize("suffix", [".tar.gz", ".tar.xz"])
def test_a_flipped_bit_is_refused_or_changes_nothing(suffix: str, tmp_path: Path) -> None:
    """Of formats with a checksum; in one without, the lock file's digest finds it."""
    members = [manifest(), file("stage/x", os.urandom(100)), file("stage/y", os.urandom(100))]
    archive = plant(tmp_path / f"a_lib_generic{suffix}", members)
    data = archive.read_bytes()
    unpack(archive, archive.parent / "good")
    good = tree(archive.parent / "good")
    for at in range(len(data)):
        archive.write_bytes(data[:at] + bytes([data[at] ^ 1 << at % 8]) + data[at + 1 :])
        with suppress(CatalogError):
            unpack(archive, archive.parent / "bad")
            assert tree(archive.parent / "bad") == good
        shutil.rmtree(archive.parent / "bad")


def test_an_archive_that_cannot_be_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The message is all that is said: Python added that it cannot finalize a file."""
    more: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", more.append)
    with suppress(CatalogError):  # Not pytest.raises, which would keep the file.
        unpack(tmp_path / "a_lib_generic.tar.gz", tmp_path / "folder")
        more.append("it was opened")
    assert not more


def test_what_is_no_archive(archive: Path) -> None:
    archive.write_bytes(b"<html>404 Not Found</html>" * 30)
    assert "eplace it" in refusal(archive)
    archive.write_bytes(COMPRESS["".join(archive.suffixes)](b"no tar at all" * 100))
    assert refusal(archive).startswith("tar refuses it: This does not look like a tar archive")


def test_a_window_of_two_gigabytes(tmp_path: Path) -> None:
    """What `zstd --ultra --long=31` asks of a decoder: exponent 21 above 2^10 in the frame's window descriptor."""
    data = tar([manifest(), file("stage/x", b"content")])
    block = ((len(data) << 3) | 1).to_bytes(3, "little")
    frame = b"\x28\xb5\x2f\xfd\x00" + bytes([21 << 3]) + block + data
    archive = tmp_path / "a_lib_generic.tar.zst"
    archive.write_bytes(frame)
    unpack(archive, tmp_path / "folder")
    assert (tmp_path / "folder/stage/x").read_bytes() == b"content"
    archive.write_bytes(frame[:5] + bytes([22 << 3]) + frame[6:])
    assert "Frame requires too much memory" in refusal(archive)


def test_skippable_frames(tmp_path: Path) -> None:
    """Tools that work in parallel put sizes into such frames (RFC 8878, 3.1.2)."""
    archive = plant(tmp_path / "a_lib_generic.tar.zst", [manifest(), file("stage/x", b"content")])
    skippable = b"\x50\x2a\x4d\x18\x04\x00\x00\x00abcd"
    archive.write_bytes(skippable + archive.read_bytes() + skippable)
    unpack(archive, tmp_path / "folder")
    assert (tmp_path / "folder/stage/x").read_bytes() == b"content"
