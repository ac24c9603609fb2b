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
    assert main([f"--base-url={base or bucket.url}", "--run-id=77", f"--output={output}", *options]) == 0
    return json.loads(output.read_text())


def error(
    bucket: Bucket, tmp_path: Path, capsys: pytest.CaptureFixture[str], *options: str, base: str = "", code: int = 2
) -> str:
    """Run the command, which has to fail and to write nothing; return its message."""
    output = tmp_path / "lock.json"
    assert main([f"--base-url={base or bucket.url}", "--run-id=77", f"--output={output}", *options]) == code
    assert not list(tmp_path.iterdir())
    said = capsys.readouterr().err.removeprefix("lock: ")
    return said.rstrip("\n").replace(bucket.url, "URL")


def row(bucket: Bucket, name: str, url: str) -> dict[str, Any]:
    content = bucket.files[f"{RUN}{name}.tar.zst"]
    return {"name": name, "url": url, "sha256": hashlib.sha256(content).hexdigest(), "size": len(content)}


def test_the_lock_file(bucket: Bucket, tmp_path: Path) -> None:
    written = lock(bucket, tmp_path)
    assert written == {
        "version": 1,
        "base_urls": [bucket.url],
        "run_id": "77",
        "platform": "linux",
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
    lock(bucket, tmp_path)
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


def test_filters(bucket: Bucket, tmp_path: Path) -> None:
    written = lock(bucket, tmp_path, "--target=gfx942")
    assert [one["name"] for one in written["archives"]] == [
        "base_lib_generic",
        "blas_lib_generic",
        "blas_lib_gfx942:xnack+",
    ]


def test_a_missing_checksum(bucket: Bucket, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    del bucket.files[RUN + "blas_lib_generic.tar.zst.sha256sum"]
    assert error(bucket, tmp_path, capsys) == (
        "URL/77-linux/blas_lib_generic.tar.zst.sha256sum: the server answers 404 Not Found; expected the checksum of "
        "blas_lib_generic.tar.zst. Upload what sha256sum prints of it"
    )


def test_the_checksum_of_another_archive(bucket: Bucket, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = RUN + "blas_lib_{}.tar.zst.sha256sum"
    bucket.files[path.format("generic")] = bucket.files[path.format("gfx1100")]
    assert "has the digest of 'blas_lib_gfx1100.tar.zst'" in error(bucket, tmp_path, capsys, code=1)


def test_a_run_that_is_not_there(bucket: Bucket, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, *tried = error(bucket, tmp_path, capsys, "--run-id=99", base=f"{bucket.url}/owner").splitlines()
    assert first == (
        "URL/owner/99-linux/: no listing of this run was found; expected a bucket that answers ListObjectsV2. Check "
        "--base-url, --run-id and --platform. Tried:"
    )
    assert tried == [
        "  URL/owner/?list-type=2&prefix=99-linux%2F&delimiter=%2F: the server answers 404 Not Found",
        "  URL/: nothing below 'owner/99-linux/', or no listing of S3",
    ]


def test_a_listing_that_names_no_artifact(bucket: Bucket, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bucket.files[RUN + "ninja.tar.gz"] = b"logs"
    assert "lists ninja.tar.gz: expected an archive named {name}_{component}_{target}" in error(
        bucket, tmp_path, capsys
    )


@pytest.mark.parametrize(
    ("base", "message"),
    [
        ("s3://bucket", "--base-url=s3://bucket: expected a URL that begins with https:// or http://"),
        ("file:///runs", "--base-url=file:///runs: expected a URL that begins with https:// or http://"),
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
    bucket.trouble = {"": [503], RUN + "blas_lib_generic.tar.zst.sha256sum": [500, 429]}
    assert len(lock(bucket, tmp_path)["archives"]) == 4
    assert not any(bucket.trouble.values())


def test_a_server_that_breaks_off(bucket: Bucket, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = RUN + "base_lib_generic.tar.zst.sha256sum"
    bucket.trouble[path] = ["break"] * 100
    assert error(bucket, tmp_path, capsys).startswith(f"URL/{path}: cannot be read: ")


def test_a_server_that_is_not_there(bucket: Bucket, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = error(bucket, tmp_path, capsys, base="http://127.0.0.1:1")
    assert said.startswith("http://127.0.0.1:1/?list-type=2&prefix=77-linux%2F&delimiter=%2F: cannot be read: ")


def test_a_proxy_of_the_environment(bucket: Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The bucket stands for the proxy: what it is asked then names the host."""
    monkeypatch.setenv("http_proxy", bucket.url)
    monkeypatch.setenv("no_proxy", "")
    main(["--base-url=http://far.invalid", "--run-id=77", f"--output={tmp_path / 'lock.json'}"])
    assert bucket.requests[0].startswith("GET http://far.invalid/?list-type=2")


def test_where_the_file_goes(bucket: Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BUILD_WORKSPACE_DIRECTORY", str(tmp_path / "workspace"))
    monkeypatch.setenv("BUILD_WORKING_DIRECTORY", str(tmp_path / "working"))
    for name in ("workspace", "working"):
        (tmp_path / name).mkdir()
    assert main([f"--base-url={bucket.url}", "--run-id=77"]) == 0
    assert main([f"--base-url={bucket.url}", "--run-id=77", "--output=my.json"]) == 0
    assert sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.json")) == [
        "working/my.json",
        "workspace/rocm_artifacts.lock.json",
    ]


def test_help_teaches(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    said = capsys.readouterr().out
    assert "bazel run @rules_rocm_python//tools/fetch/lock -- " in said
    assert "--repo_env=ROCM_ARTIFACTS=locked" in said
