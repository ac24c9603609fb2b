"""A channel in an S3 bucket, of AWS or of any server that speaks its protocol, through AWS's own client.

What uploads, lists and retries is boto3's. Pages and the state are written with `If-Match` and `If-None-Match`, so one
of two writers is refused; the store needs no conditions, as a path there has the digest of its content. The client
finds credentials and region: environment, `~/.aws`, or the machine's role.
"""

import base64
import binascii
import hashlib
import posixpath
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any, Final

import boto3
from boto3.exceptions import S3UploadFailedError
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError, NoCredentialsError

from lib.common.command import CannotRunError
from wheels.channel.local_files import LocalFile
from wheels.channel.model import METADATA_SUFFIX, STORE
from wheels.channel.place import ANYTHING, ChangedError, Place, StoredFile, StoredText

#: Name of the user-defined metadata with the SHA-256 of the whole object, in hex (`x-amz-meta-sha256`).
SHA256: Final = "sha256"
#: How often a request is tried again, each time after a longer pause (botocore's `max_attempts` in a Config).
RETRIES: Final = 8
#: Error codes: the object is not as expected; another write of it was under way.
_CHANGED: Final = frozenset({"412", "PreconditionFailed", "409", "ConditionalRequestConflict"})
#: Error codes of servers that do not know conditional writes.
_UNKNOWN_CONDITION: Final = frozenset({"400", "InvalidArgument", "501", "NotImplemented"})
_ABSENT: Final = frozenset({"404", "NoSuchKey"})
#: Each with the types of its files. Browsers want `text/html` of pages, which installers take, too.
_TYPES: Final = {
    "index.json": "application/vnd.pypi.simple.v1+json",
    ".gz": "application/gzip",
    ".html": "text/html; charset=utf-8",
    ".json": "application/json",
    METADATA_SUFFIX: "text/plain; charset=utf-8",
    ".toml": "application/toml",
    ".whl": "application/zip",
}


def _headers(path: str, sha256: str) -> dict[str, Any]:
    """Return what to store an object with, by boto3's names: caches may keep files for ever, and ask for pages."""
    kind = next((suffix for suffix in _TYPES if path.endswith(suffix)), "")
    return {
        "ContentType": _TYPES.get(kind, "application/octet-stream"),
        "CacheControl": "public, max-age=31536000, immutable" if path.startswith(STORE) else "no-cache",
        "Metadata": {SHA256: sha256},
    }


def _make_client(endpoint_url: str) -> Any:
    config = Config(
        retries={"mode": "standard", "max_attempts": RETRIES},
        # Servers beside AWS mostly have no host name per bucket, and not all know the newer checksums.
        s3={"addressing_style": "path" if endpoint_url else "auto"},
        request_checksum_calculation="when_required",
        response_checksum_validation="when_required",
    )
    return boto3.session.Session().client("s3", endpoint_url=endpoint_url or None, config=config)


def _code(error: ClientError) -> str:
    return str(error.response.get("Error", {}).get("Code"))


def _stored_sha256(head: Mapping[str, Any]) -> str | None:
    """Return the SHA-256 of an object in hex, out of the answer to HeadObject, or None if that does not have it.

    The sum that the server has checked counts first. For an object in parts, it is no sum of the whole: AWS says so by
    its form (`…-3`), other servers only by the type of the sum or by the form of the ETag.
    """
    in_parts = head.get("ChecksumType") == "COMPOSITE" or "-" in head.get("ETag", "")
    with suppress(binascii.Error):
        checked = base64.b64decode(head.get("ChecksumSHA256", ""), validate=True)
        if len(checked) == hashlib.sha256().digest_size and not in_parts:
            return checked.hex()
    stored: str | None = head.get("Metadata", {}).get(SHA256)
    return stored


class BucketPlace(Place):
    """A bucket, or what is below a prefix in it."""

    def __init__(self, bucket: str, prefix: str, endpoint_url: str) -> None:
        """Use what is below a prefix, on AWS's server if `endpoint_url` is empty."""
        self._client = _make_client(endpoint_url)
        self._bucket = bucket
        self._prefix = f"{prefix}/" if prefix else ""
        self.shown = f"s3://{bucket}/{self._prefix}" + (f" of {endpoint_url}" if endpoint_url else "")
        self._conditions = {"IfMatch", "IfNoneMatch"}

    @contextmanager
    def _errors(self, what: str) -> Iterator[None]:
        """Raise what the client cannot do as a CannotRunError, with the remedy where it is known."""
        try:
            yield
        except NoCredentialsError:
            remedy = "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE, in the environment"
            raise CannotRunError(f"{self.shown}: no credentials; {remedy}") from None
        except (BotoCoreError, ClientError, S3UploadFailedError) as error:
            again = "What is listed is whole; call this again when it answers"
            raise CannotRunError(f"{self.shown}: cannot {what}: {error}. {again}") from None

    def _object(self, path: str) -> dict[str, str]:
        return {"Bucket": self._bucket, "Key": posixpath.normpath(self._prefix + path)}

    def read(self, path: str) -> StoredText | None:
        """Return a small object, None if there is none."""
        with self._errors(f"read {path}"):
            try:
                answer = self._client.get_object(**self._object(path))
                return StoredText(answer["Body"].read(), answer["ETag"])
            except ClientError as error:
                if _code(error) in _ABSENT:
                    return None
                raise

    def write(self, path: str, content: bytes, expected: str | None = ANYTHING) -> None:
        """Write a small object. Raises ChangedError unless what is there has the ETag `expected`, or is absent (None).

        A server that does not know the condition is asked before the write, instead of by it.
        """
        if expected == f'"{hashlib.md5(content, usedforsecurity=False).hexdigest()}"':
            return  # An ETag mostly is this sum.
        digest = hashlib.sha256(content)
        given = {
            **self._object(path),
            **_headers(path, digest.hexdigest()),
            "Body": content,
            "ChecksumSHA256": base64.b64encode(digest.digest()).decode(),
        }
        condition = "" if expected == ANYTHING else "IfNoneMatch" if expected is None else "IfMatch"
        with self._errors(f"write {path}"):
            try:
                if condition in self._conditions:
                    self._client.put_object(**given, **{condition: expected or "*"})
                    return
            except ClientError as error:
                if _code(error) in _CHANGED:
                    there = self.read(path)
                    if there and there.content == content:
                        return  # The answer to an earlier try of this very write was lost.
                    raise ChangedError(path) from None
                if _code(error) not in _UNKNOWN_CONDITION:
                    raise
                self._conditions.discard(condition)
            if condition:
                there = self.read(path)
                if (there.token if there else None) != expected:
                    raise ChangedError(path)
            self._client.put_object(**given)

    def upload(self, file: LocalFile) -> None:
        """Upload a file into the store, in parts if it is big. Raises ToolError if it changed meanwhile."""
        path = file.file.path
        properties = {**_headers(path, file.file.sha256), "ChecksumAlgorithm": "SHA256"}
        with self._errors(f"send {path}"):
            where = self._object(path)
            self._client.upload_file(str(file.source), where["Bucket"], where["Key"], ExtraArgs=properties)
        try:
            file.check_unchanged()
        except BaseException:
            self.delete([path])
            raise

    def list(self, prefix: str = "") -> Mapping[str, StoredFile]:
        """Return the objects whose keys begin with a prefix; ages are by the clock of the server."""
        found: dict[str, StoredFile] = {}
        with self._errors("list what is there"):
            pages = self._client.get_paginator("list_objects_v2").paginate(
                Bucket=self._bucket, Prefix=self._prefix + prefix
            )
            for page in pages:
                now = parsedate_to_datetime(page["ResponseMetadata"]["HTTPHeaders"]["date"])
                for item in page.get("Contents", ()):
                    written: datetime = item["LastModified"]
                    age = (now - written).total_seconds()
                    found[item["Key"].removeprefix(self._prefix)] = StoredFile(item["Size"], age, item["ETag"])
        return found

    def sha256(self, path: str) -> str:
        """Return the SHA-256 of an object, in hex. An object that others have put may have to be downloaded."""
        with self._errors(f"read {path}"):
            head = self._client.head_object(**self._object(path), ChecksumMode="ENABLED")
            if stored := _stored_sha256(head):
                return stored
            digest = hashlib.sha256()
            for chunk in self._client.get_object(**self._object(path))["Body"].iter_chunks(1 << 20):
                digest.update(chunk)
            return digest.hexdigest()

    def fetch(self, path: str, folder: Path) -> Path:
        """Download an object."""
        target = folder / posixpath.basename(path)
        with self._errors(f"read {path}"):
            where = self._object(path)
            try:
                self._client.download_file(where["Bucket"], where["Key"], str(target))
            except ClientError as error:
                if _code(error) in _ABSENT:
                    raise FileNotFoundError(path) from None
                raise
        return target

    def delete(self, paths: Sequence[str]) -> None:
        """Delete objects that are there, or not any more."""
        with self._errors("delete"):
            for path in paths:
                self._client.delete_object(**self._object(path))
