"""Promotes candidates: as they are, built again, and rewritten; and what is refused."""

import hashlib
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from develop.testing.channel_sample import LINUX, broken, build, directory_objects, sdist, sound, wheel, write
from lib.common.command import FOUND, OK
from wheels.channel.tool import main

RC, NEW = "10.1.0rc2", "10.1.0"
TORCH = f"torch-2.9.0+rocm{RC}-{LINUX}.whl"
PAYLOAD = "torch/lib/libtorch.so"


def run(place: Path, command: str, *arguments: object) -> int:
    """Run a command on a channel."""
    return main([command, f"--channel={place}", *map(str, arguments)])


def torch(*lines: str, version: str = f"2.9.0+rocm{RC}", files: dict[str, str] | None = None) -> tuple[str, bytes]:
    """Return a framework's wheel that pins the candidate, with deflated members and a RECORD that is right."""
    members = files or {PAYLOAD: "code " * 999, "torch/version.py": f"__version__ = '{version}'\nrocm = '{RC}'\n"}
    name, data = wheel("torch", version, *(lines or (f"Requires-Dist: acme[libraries]=={RC}",)), files=members)
    return name, sound(data)


@pytest.fixture(name="place")
def _place(tmp_path: Path) -> Path:
    """Return a channel with a candidate, and a framework that pins it."""
    place = tmp_path / "channel"
    assert run(place, "init", "--stream=rc", "--stream=stable", "--grace=0s", "--settle=0s") == OK
    assert run(place, "add", "--stream=rc", build(tmp_path / "rc", RC)) == OK
    assert run(place, "add", "--stream=rc", write(tmp_path / "torch", [torch(), wheel("filelock", "3.0")])) == OK
    return place


def state(place: Path) -> Any:
    """Return channel.json."""
    return json.loads((place / "channel.json").read_text())


def listed(place: Path, stream: str) -> list[str]:
    """Return the names of all files of a stream."""
    return sorted(name for one in state(place)["streams"][stream]["builds"] for name in one["files"])


def stored(place: Path, name: str) -> zipfile.ZipFile:
    """Open a file of the store."""
    return zipfile.ZipFile(place / state(place)["files"][name]["path"])


def raw(archive: zipfile.ZipFile, name: str) -> bytes:
    """Return the bytes of a member as they are deflated."""
    info = archive.getinfo(name)
    with Path(str(archive.filename)).open("rb") as file:
        file.seek(info.header_offset + 26)
        lengths = file.read(4)
        file.seek(int.from_bytes(lengths[:2], "little") + int.from_bytes(lengths[2:], "little"), 1)
        return file.read(info.compress_size)


def promote(place: Path, *arguments: object, version: str = RC) -> int:
    """Promote from `rc` to `stable`."""
    return run(place, "promote", version, "--from=rc", "--to=stable", *arguments)


def test_a_release_is_built_again_and_the_framework_rewritten(place: Path, tmp_path: Path) -> None:
    assert promote(place, build(tmp_path / "new", NEW), "--rewrite=torch/version.py") == OK
    name = f"torch-2.9.0+rocm{NEW}-{LINUX}.whl"
    assert name in listed(place, "stable")
    assert len(listed(place, "stable")) == 4
    old, new = stored(place, TORCH), stored(place, name)
    assert raw(old, PAYLOAD) == raw(new, PAYLOAD), "the payload is not copied as it is deflated"
    info = f"torch-2.9.0+rocm{NEW}.dist-info"
    metadata = new.read(f"{info}/METADATA").decode()
    assert f"Version: 2.9.0+rocm{NEW}\n" in metadata
    assert f"Requires-Dist: acme[libraries]=={NEW}\n" in metadata
    assert new.read("torch/version.py").decode() == f"__version__ = '2.9.0+rocm{NEW}'\nrocm = '{NEW}'\n"
    assert run(place, "check") == OK
    assert broken(directory_objects(place, "stable"), "stable") == []


def test_the_proof_says_what_differs_and_why(place: Path, tmp_path: Path) -> None:
    assert promote(place, build(tmp_path / "new", NEW), "--rewrite=torch/version.py") == OK
    [built] = state(place)["streams"]["stable"]["builds"]
    promoted = built["promoted"]
    assert (promoted["stream"], promoted["version"]) == ("rc", RC)
    files = state(place)["files"]
    name = f"torch-2.9.0+rocm{NEW}-{LINUX}.whl"
    assert promoted["digests"][name] == files[TORCH]["sha256"]
    content = (place / promoted["proof"]).read_bytes()
    assert hashlib.sha256(content).hexdigest() == promoted["proof"].split("/")[1]
    proof = json.loads(content)
    assert {key: proof[key] for key in ("format", "stream", "version", "to", "release")} == {
        "format": 1,
        "stream": "rc",
        "version": RC,
        "to": "stable",
        "release": NEW,
    }
    one = proof["files"][name]
    assert (one["kind"], one["candidate"], one["after"]) == ("rewritten", TORCH, files[name]["sha256"])
    members = {member["path"].rpartition("/")[2]: member for member in one["members"]}
    payload = hashlib.sha256(b"code " * 999).hexdigest()
    assert members["libtorch.so"] == {"path": PAYLOAD, "before": payload, "after": payload}
    assert sorted(key for key, member in members.items() if "why" in member) == ["METADATA", "RECORD", "version.py"]
    assert proof["files"][f"acme_core-{NEW}-{LINUX}.whl"]["kind"] == "built"


def test_a_proof_that_is_lost_or_changed_is_a_complaint(
    place: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert promote(place, build(tmp_path / "new", NEW)) == OK
    path = place / state(place)["streams"]["stable"]["builds"][0]["promoted"]["proof"]
    path.write_bytes(path.read_bytes() + b" ")
    assert run(place, "check") == FOUND
    assert "other-bytes: " in capsys.readouterr().out
    path.unlink()
    assert run(place, "check") == FOUND
    assert "is missing, but proves a promotion" in capsys.readouterr().out


def test_a_final_version_is_promoted_as_it_is(tmp_path: Path, place: Path) -> None:
    files = [torch(f"Requires-Dist: acme=={NEW}", "Requires-Dist: triton>=3", version=f"2.9.1+rocm{NEW}")]
    files += [wheel("triton", "3.0"), wheel("triton", "3.1")]
    assert run(place, "add", "--stream=rc", build(tmp_path / "final", NEW), write(tmp_path / "more", files)) == OK
    before = sorted((place / "files").rglob("*.whl"))
    assert promote(place, version=NEW) == OK
    assert sorted((place / "files").rglob("*.whl")) == before, "files were written"
    names = listed(place, "stable")
    assert [name for name in names if not name.startswith("acme")] == [files[0][0], files[2][0]]
    assert run(place, "check") == OK
    assert promote(place, version=NEW) == OK
    assert listed(place, "stable") == names, "the second call changed something"


def test_wheels_whose_version_does_not_name_the_candidate_get_a_local_version(place: Path, tmp_path: Path) -> None:
    vision = wheel("vision", "0.9", "Requires-Dist: torch==2.8")
    wheels = [torch(f"Requires-Dist: acme=={RC}", version="2.8"), (vision[0], sound(vision[1]))]
    assert run(place, "add", "--stream=rc", "--older", write(tmp_path / "plain", wheels)) == OK
    assert promote(place, build(tmp_path / "new", NEW)) == OK
    name = f"torch-2.8+acme.10.1.0.0-{LINUX}.whl"
    assert name in listed(place, "stable")
    requires = state(place)["files"][f"vision-0.9+acme.10.1.0.0-{LINUX}.whl"]["requires"]
    assert requires == ["torch==2.8+acme.10.1.0.0"]
    assert run(place, "check") == OK


def test_products_with_one_version_are_told_apart_by_name(
    place: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = write(tmp_path / "other", [wheel("other", RC)])
    assert run(place, "add", "--stream=rc", other) == OK
    names = ("--project=acme", "--project=acme-*")
    assert promote(place, build(tmp_path / "new", NEW), *names) == OK
    assert f"other-{NEW}-{LINUX}.whl" not in listed(place, "stable")
    assert run(place, "withdraw", NEW, "--stream=stable", "--reason=x", "--project=acme-core") == OK
    assert list(state(place)["streams"]["stable"]["withdrawn"]) == [f"acme_core-{NEW}-{LINUX}.whl"]
    assert run(place, "withdraw", NEW, "--stream=stable", "--reason=x", "--project=acne") == FOUND
    assert "--project=acne: stable has no project of that name" in capsys.readouterr().err


def test_a_candidate_keeps_its_version_if_that_is_asked_for(place: Path) -> None:
    assert promote(place, f"--version={RC}") == OK
    assert TORCH in listed(place, "stable")
    assert f"acme-{RC}-py3-none-any.whl" in listed(place, "stable")
    assert run(place, "check") == OK


def test_a_post_release(tmp_path: Path, place: Path) -> None:
    assert run(place, "add", "--stream=rc", build(tmp_path / "1", f"{NEW}.post1")) == OK
    assert promote(place, version=f"{NEW}.post1") == OK
    assert f"acme-{NEW}.post1-py3-none-any.whl" in listed(place, "stable")


def test_a_dry_run_changes_nothing(place: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = {path: path.read_bytes() for path in place.rglob("*") if path.is_file()}
    capsys.readouterr()
    assert promote(place, build(tmp_path / "new", NEW), "--dry-run", "--json") == OK
    document = json.loads(capsys.readouterr().out)
    assert document["streams"] == {"stable": "grow"}
    assert len(document["files"]) == 4
    assert {path: path.read_bytes() for path in place.rglob("*") if path.is_file()} == before


def test_what_is_refused(place: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    new = build(tmp_path / "new", NEW)
    cases: list[tuple[str, list[object], str]] = [
        ("9.9", [], "rc: has no 9.9; expected one of its versions: "),
        (RC, [], f"acme-{NEW}-py3-none-any.whl: is missing, the release of acme-{RC}-py3-none-any.whl"),
        (RC, [new, write(tmp_path / "more", [wheel("more", NEW)])], "is no file of this release, whose version is"),
        (RC, [new, "--rewrite=torch/other.py"], "--rewrite=torch/other.py: is in no wheel that is rewritten"),
        (RC, [new, f"--rewrite={PAYLOAD}"], f"--rewrite={PAYLOAD}: {TORCH} has no "),
    ]
    for version, arguments, said in cases:
        assert promote(place, *arguments, version=version) == FOUND, said
        assert said in capsys.readouterr().err
    assert run(place, "promote", RC, "--from=rc", "--to=rc") == FOUND
    assert "is the stream of the candidate" in capsys.readouterr().err
    assert (
        run(place, "add", "--stream=rc", write(tmp_path / "s", [sdist("plain", "1", f"Requires-Dist: acme=={RC}")]))
        == OK
    )
    assert promote(place, new) == FOUND
    assert "plain-1.tar.gz: is an sdist that pins the candidate; only wheels are rewritten" in capsys.readouterr().err
    assert run(place, "withdraw", RC, "--stream=rc", "--reason=wrong licence") == OK
    assert promote(place, new) == FOUND
    assert "was withdrawn: wrong licence. Promote another version" in capsys.readouterr().err
    assert listed(place, "stable") == []


def test_aggregates_and_damaged_candidates_are_refused(
    place: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    new = build(tmp_path / "new", NEW)
    assert run(place, "init", "--aggregate=all=../rc/") == OK
    assert run(place, "add", "--stream=all") == OK
    assert run(place, "promote", RC, "--from=rc", "--to=all", new) == FOUND
    assert "--to=all: is an aggregate; expected a stream with files of its own" in capsys.readouterr().err
    assert run(place, "promote", RC, "--from=all", "--to=stable", new) == FOUND
    assert "--from=all: is an aggregate" in capsys.readouterr().err
    path = place / state(place)["files"][f"acme_core-{RC}-{LINUX}.whl"]["path"]
    path.write_bytes(path.read_bytes() + b"\0")
    assert promote(place, new) == FOUND
    assert "has other bytes than channel.json says" in capsys.readouterr().err
    assert listed(place, "stable") == []


def test_a_release_with_other_bytes_is_refused(place: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    new = build(tmp_path / "new", NEW)
    assert promote(place, new) == OK
    assert promote(place, new, "--rewrite=torch/version.py") == FOUND
    assert "other bytes under the same name" in capsys.readouterr().err


def test_a_member_that_is_no_text(place: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name, data = torch(version=f"2.9.1+rocm{RC}")
    path = write(tmp_path / "binary", [(name, sound(data, {"torch/version.py": b"\xff\xfe"}))])
    assert run(place, "add", "--stream=rc", path) == OK
    assert promote(place, build(tmp_path / "new", NEW), "--rewrite=torch/version.py") == 2
    assert f"--rewrite=torch/version.py: is no text in {name}; expected UTF-8" in capsys.readouterr().err


def test_withdrawn_versions_are_shown_and_offered_again(
    place: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert promote(place, build(tmp_path / "new", NEW)) == OK
    assert run(place, "withdraw", NEW, "--stream=stable", "--reason=breaks <gfx942>") == OK
    pages = place / "stable/simple/acme-core"
    [file] = json.loads((pages / "index.json").read_text())["files"]
    assert file["yanked"] == "breaks <gfx942>"
    assert 'data-yanked="breaks &lt;gfx942&gt;"' in (pages / "index.html").read_text()
    assert run(place, "check") == OK
    assert run(place, "show") == OK
    assert f"withdrawn, from {RC} of rc" in capsys.readouterr().out
    assert run(place, "withdraw", NEW, "--stream=stable", "--undo") == OK
    [file] = json.loads((pages / "index.json").read_text())["files"]
    assert "yanked" not in file
    assert run(place, "withdraw", NEW, "--stream=stable") == 2
    assert "--reason: expected a reason" in capsys.readouterr().err
    assert run(place, "withdraw", "1.0", "--stream=stable", "--reason=x") == FOUND
    assert "stable: has no 1.0; expected one of its versions" in capsys.readouterr().err


def test_what_others_require_without_a_pin_cannot_be_withdrawn(
    place: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    loose = write(tmp_path / "loose", [wheel("loose", "1.0", "Requires-Dist: acme-core>=10")])
    for number in (NEW, f"{NEW}.post1"):
        assert run(place, "add", "--stream=stable", build(tmp_path / "builds", number)) == OK
    assert run(place, "add", "--stream=stable", loose) == OK
    assert run(place, "withdraw", f"{NEW}.post1", "--stream=stable", "--reason=broken") == OK
    assert run(place, "withdraw", NEW, "--stream=stable", "--reason=broken") == FOUND
    assert "requires acme-core>=10" in capsys.readouterr().err
    # What was withdrawn serves nobody who does not pin it: the older one stays.
    assert run(place, "retire", "--stream=stable", "--older-than=0s", "--keep-last=2") == OK
    assert f"acme_core-{NEW}-{LINUX}.whl" in listed(place, "stable")
    assert run(place, "check") == OK
