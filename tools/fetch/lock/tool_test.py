"""Tests of the command against a server on loopback: what it writes, what it fetches, what it says."""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from develop.testing.bucket import Bucket, serve
from develop.testing.planted_archives import COMPRESS, file, manifest, tar
from tools.fetch.lock import web
from tools.fetch.lock.tool import main

RUN = "77-linux/"
THEROCK = "stage/share/therock/therock_manifest.json"
DIST_INFO = "stage/share/therock/dist_info.json"


def archive(*members: tuple[str, str]) -> bytes:
    return COMPRESS[".tar.zst"](tar([manifest(), *(file(name, text.encode()) for name, text in members)]))


BASE = archive(
    (THEROCK, '{"flags": {"KPACK_SPLIT_ARTIFACTS": true}}'), (DIST_INFO, '{"dist_amdgpu_targets": "gfx1100;gfx942"}')
)


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No proxies, no waiting, and not where `bazel run` says that it was called."""
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    for name in ("BUILD_WORKING_DIRECTORY", "BUILD_WORKSPACE_DIRECTORY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(web, "_RETRIES", web._RETRIES.new(backoff_factor=0))


@pytest.fixture
def bucket() -> Iterator[Bucket]:
    """Serve a run of four archives."""
    made = Bucket()
    made.add(RUN + "base_lib_generic.tar.zst", BASE)
    made.add(RUN + "blas_lib_generic.tar.zst", archive(("stage/x", "blas")))
    made.add(RUN + "blas_lib_gfx1100.tar.zst", archive(("stage/x", "gfx1100")))
    made.add(RUN + "blas_lib_gfx942:xnack+.tar.zst", archive(("stage/x", "gfx942")))
    made.files[RUN + "index.txt"] = b"nothing"
    made.files["78-linux/other_lib_generic.tar.zst"] = b"another run's"
    with serve(made):
        yield made


def lock(bucket: Bucket, tmp_path: Path, *options: str, base: str = "") -> Any:
    """Run the command; return what it wrote."""
    output = tmp_path / "lock.json"
    assert main(["lock", f"--base-url={base or bucket.url}", "--run-id=77", f"--output={output}", *options]) == 0
    return json.loads(output.read_text())


def error(
    bucket: Bucket, tmp_path: Path, capsys: pytest.CaptureFixture[str], *options: str, base: str = "", code: int = 2
) -> str:
    """Run the command, which has to fail and to write nothing; return its message."""
    output = tmp_path / "lock.json"
    assert main(["lock", f"--base-url={base or bucket.url}", "--run-id=77", f"--output={output}", *options]) == code
    assert not list(tmp_path.iterdir())
    progress, _, said = capsys.readouterr().err.rpartition("lock: ")
    assert all(line.startswith("reading ") for line in progress.splitlines())
    return said.rstrip("\n").replace(bucket.url, "URL")


def row(bucket: Bucket, name: str, url: str) -> dict[str, Any]:
    content = bucket.files[f"{RUN}{name}.tar.zst"]
    return {"name": name, "url": url, "sha256": hashlib.sha256(content).hexdigest(), "size": len(content)}


@pytest.mark.parametrize("listing", ["s3", "html"])
def test_the_lock_file(bucket: Bucket, tmp_path: Path, listing: str) -> None:
    bucket.listing = listing
    written = lock(bucket, tmp_path, "--mirror=https://mirror/path/", "--mirror=https://other")
    assert written == {
        "version": 1,
        "base_urls": [bucket.url, "https://mirror/path", "https://other"],
        "run_id": "77",
        "platform": "linux",
        "group": "",
        "archives": [
            row(bucket, "base_lib_generic", "77-linux/base_lib_generic.tar.zst"),
            row(bucket, "blas_lib_generic", "77-linux/blas_lib_generic.tar.zst"),
            row(bucket, "blas_lib_gfx1100", "77-linux/blas_lib_gfx1100.tar.zst"),
            row(bucket, "blas_lib_gfx942:xnack+", "77-linux/blas_lib_gfx942%3Axnack%2B.tar.zst"),
        ],
    }
    fetched = [one for one in bucket.requests if one.startswith("GET") and one.endswith(".tar.zst")]
    assert fetched == [], "checksums serve"
    first = (tmp_path / "lock.json").read_bytes()
    lock(bucket, tmp_path, "--mirror=https://mirror/path/", "--mirror=https://other")
    assert (tmp_path / "lock.json").read_bytes() == first


def test_a_listing_of_s3_has_pages(bucket: Bucket, tmp_path: Path) -> None:
    bucket.page = 1
    assert len(lock(bucket, tmp_path)["archives"]) == 4
    assert sum("continuation-token" in request for request in bucket.requests) == 8


def test_a_directory_inside_of_a_bucket(bucket: Bucket, tmp_path: Path) -> None:
    """S3 lists from the bucket's root; forks of TheRock have a directory of their own in it."""
    bucket.files = {f"owner-repo/{path}": content for path, content in bucket.files.items()}
    written = lock(bucket, tmp_path, base=f"{bucket.url}/owner-repo/")
    assert [one["url"] for one in written["archives"]][:1] == ["77-linux/base_lib_generic.tar.zst"]
    assert written["base_urls"] == [f"{bucket.url}/owner-repo"]


def test_a_directory_of_the_machine(bucket: Bucket, tmp_path: Path) -> None:
    served = lock(bucket, tmp_path)
    directory = tmp_path / "my runs"
    for path, content in bucket.files.items():
        (directory / path).parent.mkdir(parents=True, exist_ok=True)
        (directory / path).write_bytes(content)
    written = lock(bucket, tmp_path, base=directory.as_uri())
    assert written | {"base_urls": []} == served | {"base_urls": []}
    assert written["base_urls"] == [directory.as_uri()]


def test_the_page_of_a_group(bucket: Bucket, tmp_path: Path) -> None:
    """As CI uploads it beside the archives; the server itself lists nothing."""
    bucket.listing = "none"
    bucket.files[RUN + "index-gfx110X-all.html"] = bucket.list_html(RUN).replace(b"blas_lib_gfx942", b"moved/away")
    written = lock(bucket, tmp_path, "--group=gfx110X-all")
    assert [one["name"] for one in written["archives"]] == ["base_lib_generic", "blas_lib_generic", "blas_lib_gfx1100"]
    assert written["group"] == "gfx110X-all"


def test_filters(bucket: Bucket, tmp_path: Path) -> None:
    written = lock(bucket, tmp_path, "--target=gfx942")
    assert [one["name"] for one in written["archives"]] == [
        "base_lib_generic",
        "blas_lib_generic",
        "blas_lib_gfx942:xnack+",
    ]
    bucket.add(RUN + "blas_dev_generic.tar.xz", b"not read")
    written = lock(bucket, tmp_path, "--component=dev")
    names = ["base_lib_generic.tar.zst", "blas_dev_generic.tar.xz"]  # The first tells about the build.
    assert [one["url"] for one in written["archives"]] == [f"77-linux/{name}" for name in names]


def test_a_missing_checksum(bucket: Bucket, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    del bucket.files[RUN + "blas_lib_generic.tar.zst.sha256sum"]
    assert error(bucket, tmp_path, capsys) == (
        "URL/77-linux/blas_lib_generic.tar.zst.sha256sum: not found; use --download-missing to download "
        "blas_lib_generic.tar.zst and compute its SHA-256"
    )
    written = lock(bucket, tmp_path, "--download-missing")
    assert written["archives"][1] == row(bucket, "blas_lib_generic", "77-linux/blas_lib_generic.tar.zst")


def test_a_flipped_byte_is_found_by_verify(bucket: Bucket, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = RUN + "blas_lib_gfx1100.tar.zst"
    good = bucket.files[path]
    bad = good[:50] + bytes([good[50] ^ 1]) + good[51:]
    bucket.files[path] = bad
    assert error(bucket, tmp_path, capsys, "--verify", code=1) == (
        f"URL/{path}: has the SHA-256 {hashlib.sha256(bad).hexdigest()}; blas_lib_gfx1100.tar.zst.sha256sum says "
        f"{hashlib.sha256(good).hexdigest()}. The upload is damaged"
    )
    bucket.files[path] = good
    assert len(lock(bucket, tmp_path, "--verify")["archives"]) == 4


@pytest.mark.parametrize("listing", ["s3", "html"])
def test_sizes_that_contradict(
    bucket: Bucket, tmp_path: Path, capsys: pytest.CaptureFixture[str], listing: str
) -> None:
    bucket.listing = listing
    path = RUN + "blas_lib_generic.tar.zst"
    bucket.said[path] = 5
    size = len(bucket.files[path])
    expected = f"URL/{path}: has {size} bytes; the listing says 5. Run it again when the upload is done"
    assert error(bucket, tmp_path, capsys, "--verify", code=1) == expected


def test_a_run_that_is_not_there(bucket: Bucket, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = error(bucket, tmp_path, capsys, "--run-id=99", "--group=gfx942").splitlines()
    assert said == [
        "URL/99-linux/: no listing of this run was found; check --base-url, --run-id and --platform. Tried:",
        "  URL/: nothing below '99-linux/', or no listing of S3",
        "  URL/99-linux/index-gfx942.html: the server answers 404 Not Found",
        "  URL/99-linux/: the server answers 404 Not Found",
        "  URL/99-linux/index.html: the server answers 404 Not Found",
    ]
    nowhere = (tmp_path / "nowhere").as_uri()
    assert error(bucket, tmp_path, capsys, base=nowhere).startswith(f"{nowhere}/77-linux/: there is no such directory")


@pytest.mark.parametrize(
    ("page", "message"),
    [
        (b'{"files": []}', "expected an HTML page with links, or a listing of S3; found neither. Check --base-url"),
        (b'<a href="../">up</a>', "lists no archives of artifacts, among 0 files; check --run-id"),
        (b'<a href="ninja.tar.gz">x</a>', "lists ninja.tar.gz: expected an archive named {name}_{component}_{target}"),
    ],
)
def test_listings_as_they_should_not_be(
    bucket: Bucket, tmp_path: Path, capsys: pytest.CaptureFixture[str], page: bytes, message: str
) -> None:
    bucket.listing = "none"
    bucket.files[RUN + "index.html"] = page
    assert message in error(bucket, tmp_path, capsys)


@pytest.mark.parametrize(
    ("base", "message"),
    [
        ("s3://bucket", "--base-url=s3://bucket: expected a URL that begins with https://, http:// or file:///"),
        ("host/path", "--base-url=host/path: expected a URL that begins with"),
        ("https://", "--base-url=https://: expected a URL that begins with"),
        ("https://host/?x=y", "--base-url=https://host/?x=y: expected a URL without '?' and '#'"),
        ("https://me:secret@host/", "--base-url: contains a user name or password, which must not be in a lock file"),
    ],
)
def test_base_urls(bucket: Bucket, tmp_path: Path, capsys: pytest.CaptureFixture[str], base: str, message: str) -> None:
    said = error(bucket, tmp_path, capsys, base=base)
    assert said.startswith(message)
    assert "secret" not in said


def test_a_server_that_has_trouble_is_asked_again(bucket: Bucket, tmp_path: Path) -> None:
    bucket.trouble = {
        "": [503],
        RUN + "blas_lib_generic.tar.zst.sha256sum": [500, 429],
        RUN + "base_lib_generic.tar.zst": ["break", 502, "break"],
    }
    assert len(lock(bucket, tmp_path, "--verify")["archives"]) == 4
    assert not any(bucket.trouble.values())


def test_a_server_that_breaks_off_again_and_again(
    bucket: Bucket, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bucket.trouble[RUN + "base_lib_generic.tar.zst"] = ["break"] * 100
    assert "URL/77-linux/base_lib_generic.tar.zst: broke off after " in error(bucket, tmp_path, capsys, "--verify")


def test_a_server_that_is_not_there(bucket: Bucket, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = error(bucket, tmp_path, capsys, base="http://127.0.0.1:1")
    assert said.startswith("http://127.0.0.1:1/?list-type=2&prefix=77-linux%2F&delimiter=%2F: cannot be reached: ")


def test_a_proxy_of_the_environment(bucket: Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The bucket stands for the proxy: what it is asked then names the host."""
    monkeypatch.setenv("http_proxy", bucket.url)
    monkeypatch.setenv("no_proxy", "")
    main(["lock", "--base-url=http://far.invalid", "--run-id=77", f"--output={tmp_path / 'lock.json'}"])
    assert bucket.requests[0].startswith("GET http://far.invalid/?list-type=2")


def test_where_the_file_goes(bucket: Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BUILD_WORKSPACE_DIRECTORY", str(tmp_path / "workspace"))
    monkeypatch.setenv("BUILD_WORKING_DIRECTORY", str(tmp_path / "working"))
    for name in ("workspace", "working"):
        (tmp_path / name).mkdir()
    assert main(["lock", f"--base-url={bucket.url}", "--run-id=77"]) == 0
    assert main(["lock", f"--base-url={bucket.url}", "--run-id=77", "--output=my.json"]) == 0
    assert sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.json")) == [
        "working/my.json",
        "workspace/rocm_artifacts.lock.json",
    ]


def test_help_teaches(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["lock", "--help"])
    said = capsys.readouterr().out
    assert "bazel run @rules_rocm_python//tools/fetch/lock -- lock" in said
    assert "--repo_env=ROCM_ARTIFACTS=locked" in said
