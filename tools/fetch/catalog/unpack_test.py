"""Tests of unpacking: trees come out as they went in, and nothing that is refused leaves anything behind."""

import os
import resource
import shutil
import subprocess
import sys
import tarfile
from contextlib import suppress
from pathlib import Path
from unittest.mock import patch

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
from tools.fetch.catalog import one_archive
from tools.fetch.catalog.archive import Limits
from tools.fetch.catalog.names import CatalogError
from tools.fetch.catalog.one_archive import Arguments, unpack, write

SUFFIXES = sorted(COMPRESS)


def attributed(key: str) -> Planted:
    """Make a program with an extended attribute, as tar (`--xattrs --acls`) and libarchive write it."""
    info, content = file("stage/s", b"program", 0o755)
    info.pax_headers = {key: "\1\0\0\2\0 " + "\0" * 14}  # cap_net_raw+ep
    return info, content


@pytest.fixture(params=SUFFIXES)
def archive(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Return where an archive may be planted, with each suffix."""
    return tmp_path / f"a_lib_generic{request.param}"


def refusal(path: Path, limits: Limits | None = None) -> str:
    """Make the repository; return the message, which names the archive. Nothing may be written, inside or outside."""
    inside = path.parent / "inside"
    inside.mkdir()
    before = tree(path.parent)
    with (
        pytest.raises(CatalogError) as caught,
        patch.object(one_archive, "Limits", lambda *_: limits or Limits()),
    ):
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
    unpack(archive, folder, Limits())
    found = tree(folder)
    assert {name: what[:2] for name, what in found.items()} == {
        "artifact_manifest.txt": ("file 644", b"./stage/\nempty/stage\n".hex()),
        "beside": ("directory 755", ""),
        "beside/unused": ("file 644", b"outside of the base directories".hex()),
        "empty": ("directory 755", ""),
        "empty/stage": ("directory 755", ""),
        "stage": ("directory 755", ""),
        "stage/bin": ("directory 755", ""),
        "stage/bin/dangling": ("link", "no where"),
        "stage/bin/hard": ("file 755", b"program".hex()),
        "stage/bin/harder": ("file 755", b"program".hex()),
        "stage/bin/other": ("link", "tool"),
        "stage/bin/tool": ("file 755", b"program".hex()),
        "stage/naïve a+b@c:d\\e.txt": ("file 644", b"name".hex()),
        "stage/private": ("directory 755", ""),
        "stage/share": ("directory 755", ""),
        "stage/share/read-only": ("file 644", b"text".hex()),
    }
    assert (folder / "stage/bin/hard").samefile(folder / "stage/bin/tool")


def test_a_base_directory_without_files_need_not_be_there(archive: Path, tmp_path: Path) -> None:
    plant(archive, [manifest("stage\nempty/stage\n"), file("stage/x")])
    write(Arguments(archive, "a_lib_generic", "r", tmp_path / "r", None))
    assert (tmp_path / "r/files/a_lib_generic/stage").readlink() == Path("../../unpacked/a_lib_generic/stage")


def test_members_that_nobody_may_read_are_made_readable(archive: Path, tmp_path: Path) -> None:
    """As all other modes are made 0644 or 0755; also for a user without root's privileges, who could not go on."""
    members = [
        manifest("stage\n"),
        directory("stage", 0),
        directory("stage/d", 0),
        file("stage/d/f", b"text", 0),
        file("stage/d/x", b"program", 0o100),
        hard_link("stage/d/h", "stage/d/f", 0),
    ]
    plant(archive, members)
    drop = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"] if os.geteuid() == 0 else []
    code = "import sys, pathlib as p, tools.fetch.catalog.one_archive as u"
    code += "; u.unpack(*map(p.Path, sys.argv[1:]), u.Limits())"
    command = [*drop, sys.executable, "-c", code, str(archive), str(tmp_path / "folder")]
    subprocess.run(command, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}, check=True)
    assert {name: what[:2] for name, what in tree(tmp_path / "folder/stage").items()} == {
        "d": ("directory 755", ""),
        "d/f": ("file 644", b"text".hex()),
        "d/h": ("file 644", b"text".hex()),
        "d/x": ("file 755", b"program".hex()),
    }


REFUSED: list[tuple[str, list[Planted], str]] = [
    ("up", [file("../x")], "member '../x': '..' leads out of the artifact's folder"),
    ("up inside", [file("stage/../../x")], "member 'stage/../../x': '..' leads out"),
    ("absolute", [file("/tmp/x")], "member '/tmp/x': an absolute path; expected one relative to the artifact's folder"),
    ("absolute directory", [directory("/tmp/planted")], "member '/tmp/planted': an absolute path"),
    ("the folder", [file(".")], "member '.': the artifact's folder itself; expected a directory"),
    (
        "below a link",
        [link("stage/l", "x"), file("stage/l/f")],
        "member 'stage/l/f': lies below 'stage/l', which is a link",
    ),
    (
        "below a link that leads outside",
        [link("stage/l", "../../.."), file("stage/l/escaped")],
        "member 'stage/l': the archive: the link stage/l -> ../../.. leads outside",
    ),
    ("through a link", [link("l", "."), hard_link("stage/h", "l/x")], "'l/x', which is not an earlier file"),
    ("below a file", [file("stage/f"), file("stage/f/g")], "member 'stage/f/g': lies below 'stage/f', which is a file"),
    ("twice", [file("stage/f", b"1"), file("stage/f", b"2")], "member 'stage/f': duplicate member name"),
    ("twice, spelled", [file("stage/f"), file("stage/.//f")], "member 'stage/.//f': duplicate member name"),
    ("link over file", [file("stage/f"), link("stage/f", "x")], "member 'stage/f': duplicate member name"),
    ("file over directory", [file("stage/d/f"), file("stage/d")], "member 'stage/d': duplicate member name"),
    ("directory twice", [directory("stage/d"), directory("stage/d")], "member 'stage/d': duplicate member name"),
    ("link over directory", [directory("stage/d"), link("stage/d", "..")], "member 'stage/d': duplicate member name"),
    ("link out", [link("stage/l", "../x")], "stage: the link l -> ../x leads outside the artifact"),
    (
        "link out, deeper",
        [link("stage/a/l", "../../x")],
        "stage: the link a/l -> ../../x leads outside the artifact tree",
    ),
    ("absolute link", [link("stage/l", "/etc/passwd")], "the archive: the link stage/l -> /etc/passwd leads outside"),
    ("link out of the folder", [link("l", "../x")], "member 'l': the archive: the link l -> ../x leads outside"),
    (
        "hard link out",
        [hard_link("stage/h", "../../etc/passwd")],
        "member 'stage/h': a hard link to '../../etc/passwd'",
    ),
    ("absolute hard link", [hard_link("stage/h", "/etc/passwd")], "a hard link to '/etc/passwd': an absolute path"),
    (
        "hard link to nothing",
        [hard_link("stage/h", "stage/f")],
        "a hard link to 'stage/f', which is not an earlier file",
    ),
    ("hard link to a link", [link("stage/l", "x"), hard_link("stage/h", "stage/l")], "is not an earlier file"),
    ("hard link to a directory", [directory("stage/d"), hard_link("stage/h", "stage/d")], "is not an earlier file"),
    ("device", [member("stage/c", tarfile.CHRTYPE)], "member 'stage/c': a character device; expected a file"),
    ("disk", [member("stage/b", tarfile.BLKTYPE)], "member 'stage/b': a block device; expected a file"),
    ("FIFO", [member("stage/p", tarfile.FIFOTYPE)], "member 'stage/p': a FIFO; expected a file, a directory or a link"),
    ("unknown", [member("stage/u", b"Z")], "member 'stage/u': of type b'Z' and 0 bytes; expected a file"),
    ("set-user-ID", [file("stage/s", b"", 0o4755)], "member 'stage/s': set-user-ID or set-group-ID file (mode 4755)"),
    ("set-group-ID", [file("stage/s", b"", 0o2755)], "member 'stage/s': set-user-ID or set-group-ID file (mode 2755)"),
    *(
        (key, [attributed(key)], "member 'stage/s': a file with capabilities, not allowed in packages; refused")
        for key in ("SCHILY.xattr.security.capability", "LIBARCHIVE.xattr.security.capability")
    ),
    ("not UTF-8", [file("stage/\udcff")], "member 'stage/\\udcff': a member: the name 'stage/\\udcff' is not UTF-8"),
    ("control character", [file("stage/a\nb")], "the name 'stage/a\\nb' contains a control character"),
    (
        "link not UTF-8",
        [link("stage/l", "\udcff")],
        "member 'stage/l': the archive/stage/l: the name '\\udcff' is not UTF-8",
    ),
    ("too long", [file("stage/" + "n" * 300)], f"member 'stage/{'n' * 300}' cannot be written: File name too long"),
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
        ([link("artifact_manifest.txt", "stage/x"), file("stage/x")], "it lists the base directories, one a line; ex"),
        ([directory("artifact_manifest.txt")], "'artifact_manifest.txt': it lists the base directories"),
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


def test_sparse_files_are_refused(tmp_path: Path) -> None:
    """A terabyte of zeros takes a hundred bytes as a sparse file, and none of it is compressed."""
    with (tmp_path / "sparse").open("wb") as file_:
        file_.truncate(1 << 40)
    path = tmp_path / "a_lib_generic.tar.gz"
    command = ["tar", "--sparse", "--transform=s,^,stage/,", "-C", str(tmp_path), "-czf", str(path), "sparse"]
    subprocess.run(command, check=True)
    (tmp_path / "sparse").unlink()
    assert "member 'stage/sparse': " in refusal(path)
    assert "a sparse file; expected a plain one" in refusal(path, Limits(size=1 << 50))


def test_a_million_empty_members_are_refused_quickly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    header = tar([file("stage/0000000")])[:512]
    unsummed = sum(header[:6] + header[13:148] + b" " * 8 + header[156:])
    blocks = bytearray()
    for number in range(1_000_000):
        name = b"%07d" % number
        blocks += b"%b%b%b%06o\0 %b" % (header[:6], name, header[13:148], unsummed + sum(name), header[156:])
    path = tmp_path / "a_lib_generic.tar.gz"
    path.write_bytes(COMPRESS[".tar.gz"](bytes(blocks)))
    made: list[object] = []
    monkeypatch.setattr(one_archive, "_make", lambda *arguments: made.append(arguments))
    assert "member 'stage/0100000': more than 100000 members, which is the limit" in refusal(path)
    assert not made, "which is what takes long"


def test_a_bomb_is_found_out_early(archive: Path) -> None:
    plant(archive, [manifest(), file("stage/zeros", bytes(64 << 20))])
    limits = Limits(ratio=100, ratio_from=8 << 20)
    message = refusal(archive, limits)
    assert "more than 100 times as many, which is the limit" in message
    assert int(message.split(" unpack to ")[1].split(",")[0]) < 20 << 20, "the rest was not unpacked"


def test_the_total_is_limited(archive: Path) -> None:
    plant(archive, [manifest(), file("stage/a", os.urandom(3 << 20)), file("stage/b", os.urandom(3 << 20))])
    assert "member 'stage/b': with it, files of 6291462 bytes, more than 4194304" in refusal(
        archive, Limits(size=4 << 20)
    )
    plant(archive, [manifest(), *(directory(f"d{number}") for number in range(300))])
    assert "unpacks to more than 100000 bytes" in refusal(archive, Limits(size=100_000)), "headers count, too"


def test_headers_are_not_read_into_memory_whole(tmp_path: Path) -> None:
    """A long name of gigabytes: `tarfile` would read it at once, up to Python 3.13."""
    long_name = bytearray(tar([file("x")])[:512])
    long_name[124:136] = b"77777777777\0"
    long_name[156:157] = b"L"
    long_name[148:156] = b" " * 8
    long_name[148:156] = b"%06o\0 " % sum(long_name)
    path = tmp_path / "a_lib_generic.tar.gz"
    path.write_bytes(COMPRESS[".tar.gz"](bytes(long_name) + bytes(1 << 20)))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert refusal(path).startswith(
        ("damaged: a header of 8589934592 bytes; expected at most 1048576", "expected a tar")
    )
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 << 10


def test_a_size_that_leads_back_is_refused(tmp_path: Path) -> None:
    """Up to Python 3.13, tarfile goes round in circles on it (CVE-2025-8194)."""
    info, _ = file("stage/x")
    info.pax_headers = {"size": "-2048"}
    message = refusal(plant(tmp_path / "a_lib_generic.tar.gz", [manifest(), (info, b"")]))
    assert message.startswith(
        ("member 'stage/x': of type b'0' and -2048 bytes", "truncated or corrupted: no valid header")
    )


@pytest.mark.parametrize("keep", [0, 1, 5, 100, -1, -9, -600])
def test_truncated(archive: Path, keep: int) -> None:
    plant(archive, [manifest(), *(file(f"stage/{number}", os.urandom(5000)) for number in range(20))])
    archive.write_bytes(archive.read_bytes()[:keep])
    message = refusal(archive)
    assert message.startswith(("truncated or corrupted", "expected a tar archive: "))
    assert message.endswith("replace it")


@pytest.mark.parametrize("size", [512, 1024, 1535, 1536, 2000, 2048, 2560])
def test_a_tar_that_ends_early(archive: Path, size: int) -> None:
    """Though its compression is whole: only the blocks of zeros tell that it is."""
    whole = tar([manifest(), file("stage/x", b"content")])
    archive.write_bytes(COMPRESS["".join(archive.suffixes)](whole[:size]))
    if size >= 2560:  # One block of zeros: what POSIX asks readers to take for the end, too.
        unpack(archive, archive.parent / "folder", Limits())
    else:
        assert "replace it" in refusal(archive)


def test_a_damaged_header_is_not_the_end(archive: Path) -> None:
    data = bytearray(tar([manifest(), file("stage/x", b"content"), file("stage/y", b"content")]))
    data[1024 + 10] ^= 1
    archive.write_bytes(COMPRESS["".join(archive.suffixes)](bytes(data)))
    assert refusal(archive).startswith("truncated or corrupted: no valid header after 1024 bytes of content")


def test_more_after_the_end(archive: Path) -> None:
    data = tar([manifest(), file("stage/x", b"content")])
    archive.write_bytes(COMPRESS["".join(archive.suffixes)](data + data))
    assert "there is more after the end of the archive" in refusal(archive)


@pytest.mark.parametrize("suffix", [".tar.gz", ".tar.xz"])
def test_a_flipped_bit_is_refused_or_changes_nothing(suffix: str, tmp_path: Path) -> None:
    """Of formats with a checksum; in one without, the lock file's digest finds it."""
    members = [manifest(), file("stage/x", os.urandom(100)), file("stage/y", os.urandom(100))]
    archive = plant(tmp_path / f"a_lib_generic{suffix}", members)
    data = archive.read_bytes()
    unpack(archive, archive.parent / "good", Limits())
    good = tree(archive.parent / "good")
    for at in range(len(data)):
        archive.write_bytes(data[:at] + bytes([data[at] ^ 1 << at % 8]) + data[at + 1 :])
        with suppress(CatalogError):
            unpack(archive, archive.parent / "bad", Limits())
            assert tree(archive.parent / "bad") == good
        shutil.rmtree(archive.parent / "bad")


def test_an_archive_that_cannot_be_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The message is all that is said: Python added that it cannot finalize a file."""
    more: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", more.append)
    with suppress(CatalogError):  # Not pytest.raises, which would keep the file.
        unpack(tmp_path / "a_lib_generic.tar.gz", tmp_path / "folder", Limits())
        more.append("it was opened")
    assert not more


def test_what_is_no_archive(archive: Path) -> None:
    archive.write_bytes(b"<html>404 Not Found</html>" * 30)
    assert "replace it" in refusal(archive)
    archive.write_bytes(COMPRESS["".join(archive.suffixes)](b"no tar at all" * 100))
    assert refusal(archive).startswith("expected a tar archive: ")


def test_a_window_of_two_gigabytes(tmp_path: Path) -> None:
    """What `zstd --ultra --long=31` asks of a decoder: exponent 21 above 2^10 in the frame's window descriptor."""
    data = tar([manifest(), file("stage/x", b"content")])
    block = ((len(data) << 3) | 1).to_bytes(3, "little")
    frame = b"\x28\xb5\x2f\xfd\x00" + bytes([21 << 3]) + block + data
    archive = tmp_path / "a_lib_generic.tar.zst"
    archive.write_bytes(frame)
    unpack(archive, tmp_path / "folder", Limits())
    assert (tmp_path / "folder/stage/x").read_bytes() == b"content"
    archive.write_bytes(frame[:5] + bytes([22 << 3]) + frame[6:])
    assert "Frame requires too much memory" in refusal(archive)


def test_skippable_frames(tmp_path: Path) -> None:
    """Tools that work in parallel put sizes into such frames (RFC 8878, 3.1.2)."""
    archive = plant(tmp_path / "a_lib_generic.tar.zst", [manifest(), file("stage/x", b"content")])
    skippable = b"\x50\x2a\x4d\x18\x04\x00\x00\x00abcd"
    archive.write_bytes(skippable + archive.read_bytes() + skippable)
    unpack(archive, tmp_path / "folder", Limits())
    assert (tmp_path / "folder/stage/x").read_bytes() == b"content"
