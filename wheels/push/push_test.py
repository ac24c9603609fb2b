"""Tests of pushing: what is chosen and refused, and how oras is called. tests/e2e/images has a real registry."""

import json
import stat
from pathlib import Path

import pytest

from lib.common.program import ToolError
from wheels.push.images import Destination, LayerSize, LocalImage, parse_destination, read_images
from wheels.push.limits import check_limits
from wheels.push.tool import main

DIGEST = "sha256:" + "1" * 64
#: Notes how it is called, fails as often as a file says, and resolves what was copied to one digest.
ORAS = """\
#!/bin/sh
echo "$@" >> {log}
left=$(cat {failures})
for reference; do :; done
if [ "$1" = resolve ]; then grep -q "^cp.* $reference$" {log} && echo {digest}; exit; fi
[ "$left" -gt 0 ] || exit 0
echo $((left - 1)) > {failures}
echo "Error: {error}" >&2
exit 1
"""


def layout(directory: Path, *names: str, sizes: tuple[int, ...] = (5,)) -> Path:
    """Write what a push reads of a layout."""
    top = directory / "-".join(names)
    (top / "blobs/sha256").mkdir(parents=True)
    layers = [{"digest": f"sha256:{number:064}", "size": size} for number, size in enumerate(sizes)]
    (top / "blobs/sha256" / DIGEST.partition(":")[2]).write_text(json.dumps({"layers": layers}))
    tags = [{"org.opencontainers.image.ref.name": f"1.0-{name}"} for name in names]
    manifests = [{"digest": DIGEST, "annotations": tag} for tag in tags]
    (top / "index.json").write_text(
        json.dumps({"manifests": [*manifests, {"digest": "sha256:2", "artifactType": "sbom"}]})
    )
    return top


@pytest.fixture
def oras(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put a program on PATH; return the directory with its log, and the file of how often it is to fail."""
    return put_oras(tmp_path, monkeypatch, failures=0)


def put_oras(
    directory: Path,
    monkeypatch: pytest.MonkeyPatch,
    failures: int,
    error: str = "connection reset",
    digest: str = DIGEST,
) -> Path:
    bin_directory = directory / "bin"
    bin_directory.mkdir(exist_ok=True)
    program = bin_directory / "oras"
    program.write_text(ORAS.format(log=directory / "log", failures=directory / "failures", error=error, digest=digest))
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    (directory / "failures").write_text(str(failures))
    monkeypatch.setenv("PATH", f"{bin_directory}:/usr/bin:/bin")
    monkeypatch.setattr("wheels.push.oras.PATIENCE", 0.0)
    return directory


def test_each_image_is_pushed_under_its_own_tag(oras: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([f"--layout={layout(oras, 'one', 'two')}", "docker://localhost:5000/a/rocm"]) == 0
    copied = [line.split() for line in (oras / "log").read_text().splitlines() if line.startswith("cp ")]
    assert [words[-1] for words in copied] == ["localhost:5000/a/rocm:1.0-one", "localhost:5000/a/rocm:1.0-two"]
    assert copied[0][-2] == f"{oras}/one-two:1.0-one"
    assert {"--recursive", "--from-oci-layout"} <= set(copied[0])
    assert capsys.readouterr().out.splitlines()[0] == f"pushed localhost:5000/a/rocm:1.0-one@{DIGEST}"


def test_one_image_under_another_tag(oras: Path) -> None:
    assert (
        main(
            [f"--layout={layout(oras, 'one', 'two')}", "--only=*-two", "--plain-http", "docker://example.com/rocm:mine"]
        )
        == 0
    )
    resolved, copied, *_ = (oras / "log").read_text().splitlines()
    assert copied.endswith(" example.com/rocm:mine")
    assert "--to-plain-http" in copied
    assert resolved == "resolve --plain-http example.com/rocm:mine"


def test_a_tag_that_is_right_is_not_set_again(oras: Path) -> None:
    """What refers to the image may be missing all the same."""
    for reference in ("example.com/rocm:mine", f"example.com/rocm@{DIGEST}"):
        (oras / "log").open("a").write("next\n")
        assert main([f"--layout={layout(oras / reference, 'one')}", "docker://example.com/rocm:mine"]) == 0
        assert (oras / "log").read_text().rpartition("next\n")[2].splitlines()[1].endswith(f" {reference}")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["docker://example.com/rocm:mine"], "2 images would have the tag mine; expected one. Choose it by --only"),
        (
            ["--only=three", "docker://example.com/rocm"],
            "--only=three: no such tag; expected one of 1.0-one, 1.0-two, or a pattern",
        ),
        (["example.com/rocm"], "example.com/rocm: no place for an image; expected docker://HOST/NAME"),
        (["docker://example.com/ROCm"], "the name in lower case"),
        (["docker://rocm:1.0"], "no place for an image"),
        (["docker://example.com/rocm:1.0+local"], "no place for an image"),
    ],
)
def test_what_nobody_means_is_refused(
    arguments: list[str], message: str, oras: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([f"--layout={layout(oras, 'one', 'two')}", *arguments]) == 1
    assert message in capsys.readouterr().err
    assert not (oras / "log").exists()


def test_a_failure_is_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put_oras(tmp_path, monkeypatch, failures=2)
    assert main([f"--layout={layout(tmp_path, 'one')}", "docker://example.com/rocm"]) == 0
    assert (tmp_path / "log").read_text().count("cp ") == 3


@pytest.mark.parametrize(
    ("error", "tries"), [("connection reset", 4), ("status code 401", 1), ("HEAD sha256:401: reset", 4)]
)
def test_a_failure_that_stays_is_told(
    error: str, tries: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    put_oras(tmp_path, monkeypatch, failures=9, error=error)
    assert main([f"--layout={layout(tmp_path, 'one')}", "docker://example.com/rocm"]) == 1
    assert (tmp_path / "log").read_text().count("cp ") == tries
    told = capsys.readouterr().err
    assert f"{error}. What was sent stays there: call this again" in told
    assert "log in by `oras login` or `docker login`" in told


def test_a_registry_without_tls_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    put_oras(tmp_path, monkeypatch, failures=9, error="http: server gave HTTP response to HTTPS client")
    assert main([f"--layout={layout(tmp_path, 'one')}", "docker://example.com/rocm"]) == 1
    assert (tmp_path / "log").read_text().count("cp ") == 1
    assert "HTTPS client. Call this with --plain-http\n" in capsys.readouterr().err


def test_another_digest_than_that_of_the_image_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    put_oras(tmp_path, monkeypatch, failures=0, digest="sha256:2")
    assert main([f"--layout={layout(tmp_path, 'one')}", "docker://example.com/rocm"]) == 1
    assert f"has the digest sha256:2; expected {DIGEST}" in capsys.readouterr().err


def test_without_oras(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert main([f"--layout={layout(tmp_path, 'one')}", "docker://example.com/rocm"]) == 1
    assert "oras: not on PATH; expected version 1.2 or newer" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("host", "limit"),
    [
        ("ghcr.io", 10_000_000_000),
        ("quay.io:443", 20_000_000_000),
        ("public.ecr.aws", 10_000 << 20),
        ("1234.dkr.ecr.eu-west-1.amazonaws.com", 52_000 << 20),
        ("mine.azurecr.io", 200 << 30),
    ],
)
def test_a_layer_over_a_registry_s_limit_is_refused_before_anything_is_sent(
    host: str, limit: int, oras: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    image = layout(oras, "big", sizes=(5, limit + 1))
    check_limits(read_images(layout(oras, "fits", sizes=(limit,)))[0], host)
    check_limits(read_images(image)[0], "registry.example.com")
    assert main([f"--layout={image}", f"docker://{host}/rocm"]) == 1
    told = capsys.readouterr().err
    assert f"1.0-big: layer sha256:{1:064} has " in told
    assert f"the limit of {host}" in told
    assert not (oras / "log").exists()


def test_more_layers_than_engines_take() -> None:
    layers = tuple(LayerSize(f"sha256:{number}", 1) for number in range(128))
    with pytest.raises(ToolError, match=r"1\.0-many: has 128 layers; expected at most 127"):
        check_limits(LocalImage(Path("many"), DIGEST, "1.0-many", layers), "example.com")


def test_what_a_destination_consists_of() -> None:
    assert parse_destination("docker://localhost:5000/a/b-c:1.0_x") == Destination("localhost:5000", "/a/b-c", "1.0_x")
    assert parse_destination("docker://example.com/rocm") == Destination("example.com", "/rocm", "")
