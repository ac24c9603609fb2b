"""How answers are read, and what servers answer that we have none of. tests/e2e/publish/places.py has the rest."""

import base64
import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError

from lib.common.program import ToolError
from wheels.publish.files import LocalFile, headers
from wheels.publish.place import Bucket, TakenError, parse_bucket
from wheels.publish.s3 import PART, S3Place, make_client, stored_sha256

DIGEST = hashlib.sha256(b"content")
CHECKED = base64.b64encode(DIGEST.digest()).decode()


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ({}, None),
        ({"ChecksumSHA256": CHECKED}, DIGEST.hexdigest()),
        ({"ChecksumSHA256": CHECKED, "Metadata": {"sha256": "of the publisher"}}, DIGEST.hexdigest()),
        ({"ChecksumSHA256": f"{CHECKED}-3", "Metadata": {"sha256": "of the whole"}}, "of the whole"),
        ({"ChecksumSHA256": f"{CHECKED}-3"}, None),
        ({"ChecksumSHA256": CHECKED, "ETag": '"0123-3"', "Metadata": {"sha256": "of the whole"}}, "of the whole"),
        ({"ChecksumSHA256": CHECKED, "ChecksumType": "COMPOSITE"}, None),
        ({"ChecksumSHA256": CHECKED, "ETag": '"0123"', "ChecksumType": "FULL_OBJECT"}, DIGEST.hexdigest()),
        ({"ChecksumCRC32": "AAAAAA==", "Metadata": {}}, None),
        ({"Metadata": {"sha256": "of the whole"}}, "of the whole"),
    ],
)
def test_the_digest_of_an_object(head: dict[str, object], expected: str | None) -> None:
    assert stored_sha256(head) == expected


def test_places(monkeypatch: pytest.MonkeyPatch) -> None:
    assert parse_bucket("s3://bucket") == parse_bucket("s3://bucket/") == Bucket("bucket", "")
    assert parse_bucket("s3://bucket/a/b/") == Bucket("bucket", "a/b")
    assert S3Place(Bucket("bucket", ""), "", None).shown == "s3://bucket/"
    place = S3Place(Bucket("bucket", "a/b"), "1-linux/python", None, "http://127.0.0.1:9").shown
    assert place == "s3://bucket/a/b/1-linux/python/ of http://127.0.0.1:9"


def test_a_server_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "any")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    monkeypatch.setattr("wheels.publish.s3.RETRIES", 1)
    place = S3Place(Bucket("bucket", ""), "", make_client("http://127.0.0.1:1"))
    with pytest.raises(ToolError, match=r"s3://bucket/: cannot list what is there: .*127\.0\.0\.1:1"):
        place.listing()


def test_without_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/nonexistent")
    monkeypatch.setenv("AWS_CONFIG_FILE", "/nonexistent")
    place = S3Place(Bucket("bucket", ""), "", make_client("http://127.0.0.1:1"))
    with pytest.raises(ToolError, match="no credentials; set AWS_ACCESS_KEY_ID"):
        place.listing()


class Refusing:
    """A client of a server that answers conditional writes with an error; of all others it keeps the requests."""

    def __init__(self, code: str, part_code: str = "") -> None:
        self.asked: list[str] = []
        self._code, self._part_code = code, part_code

    def _answer(self, name: str, arguments: Mapping[str, Any]) -> dict[str, str]:
        self.asked.append(name)
        code = self._code if "IfNoneMatch" in arguments else self._part_code if name == "UploadPart" else ""
        if code:
            raise ClientError({"Error": {"Code": code}}, name)
        return {"UploadId": "1", "ETag": "2"}

    def put_object(self, **arguments: object) -> dict[str, str]:
        """Answer to PutObject."""
        return self._answer("PutObject", arguments)

    def create_multipart_upload(self, **arguments: object) -> dict[str, str]:
        """Answer to CreateMultipartUpload."""
        return self._answer("CreateMultipartUpload", arguments)

    def upload_part(self, **arguments: object) -> dict[str, str]:
        """Answer to UploadPart."""
        return self._answer("UploadPart", arguments)

    def complete_multipart_upload(self, **arguments: object) -> dict[str, str]:
        """Answer to CompleteMultipartUpload."""
        return self._answer("CompleteMultipartUpload", arguments)

    def abort_multipart_upload(self, **arguments: object) -> dict[str, str]:
        """Answer to AbortMultipartUpload."""
        return self._answer("AbortMultipartUpload", arguments)


def put(client: Refusing, path: Path, size: int) -> None:
    """Put a file of zeros."""
    path.write_bytes(bytes(size))
    file = LocalFile(path.name, path, size, hashlib.sha256(bytes(size)).hexdigest())
    S3Place(Bucket("bucket", ""), "", client).put(file, lambda count: None)


BEGIN, PARTS = "CreateMultipartUpload", ["UploadPart", "UploadPart"]


@pytest.mark.parametrize(("code", "size"), [("PreconditionFailed", 1), ("ConditionalRequestConflict", PART + 1)])
def test_an_object_that_came_before_ours(tmp_path: Path, code: str, size: int) -> None:
    client = Refusing(code)
    with pytest.raises(TakenError):
        put(client, tmp_path / "a.whl", size)
    assert client.asked[-1] == ("PutObject" if size == 1 else "AbortMultipartUpload")


def test_a_server_without_conditional_writes(tmp_path: Path) -> None:
    client = Refusing("NotImplemented")
    put(client, tmp_path / "a.whl", 1)
    assert client.asked == ["PutObject", "PutObject"]
    client = Refusing("NotImplemented")
    put(client, tmp_path / "b.whl", PART + 1)
    once = [BEGIN, *PARTS, "CompleteMultipartUpload"]
    assert client.asked == [*once, "AbortMultipartUpload", *once]


def test_parts_that_cannot_be_sent_are_given_up(tmp_path: Path) -> None:
    client = Refusing("", part_code="InternalError")
    with pytest.raises(ToolError, match=r"cannot send a\.whl: .*InternalError"):
        put(client, tmp_path / "a.whl", PART + 1)
    assert client.asked == [BEGIN, *PARTS, "AbortMultipartUpload"]


@pytest.mark.parametrize("size", [1, PART + 1])
def test_a_file_that_changes_while_it_is_sent(tmp_path: Path, size: int) -> None:
    path = tmp_path / "a.whl"
    path.write_bytes(bytes(size))
    client = Refusing("")
    with pytest.raises(ToolError, match="changed while it was published"):
        S3Place(Bucket("bucket", ""), "", client).put(LocalFile("a.whl", path, size, "00" * 32), lambda count: None)
    assert "PutObject" not in client.asked
    assert "CompleteMultipartUpload" not in client.asked


@pytest.mark.parametrize(
    ("path", "content_type", "cache_control"),
    [
        ("a.whl", "application/zip", "public, max-age=31536000, immutable"),
        ("a.whl.metadata", "text/plain; charset=utf-8", "public, max-age=31536000, immutable"),
        ("a.tar.gz", "application/gzip", "public, max-age=31536000, immutable"),
        ("index.html", "text/html; charset=utf-8", "no-cache"),
        ("simple/rocm/index.json", "application/vnd.pypi.simple.v1+json", "no-cache"),
        ("rocm-7.0-variants.json", "application/json", "public, max-age=31536000, immutable"),
        ("rocm-7.0-py3-none-any-gfx942.whl", "application/zip", "public, max-age=31536000, immutable"),
        ("unknown", "application/octet-stream", "no-cache"),
    ],
)
def test_headers(path: str, content_type: str, cache_control: str) -> None:
    found = headers(path)
    assert (found.content_type, found.cache_control) == (content_type, cache_control)
