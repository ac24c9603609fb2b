"""Publishing into an S3 bucket, of AWS or of any server that speaks its protocol, through AWS's own client.

An object appears whole or not at all: S3 has it so, for uploads in parts as well. The server compares SHA-256 sums
where it knows them; the sum of the whole file is stored with each object, so that a later run need not download it.
Objects that must not change are put with `If-None-Match: *`, which keeps two publishers from replacing each other's.

The client finds credentials and region: environment, `~/.aws`, or the machine's role.
"""

import base64
import binascii
import hashlib
from collections import deque
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError, NoCredentialsError

from lib.common.program import ToolError
from wheels.publish.files import LocalFile, headers
from wheels.publish.place import Bucket, Sent, TakenError

#: Bytes of a part. S3 takes parts from 5 MiB on, and 10,000 of them: files up to 160 GiB.
PART = 16 << 20
#: How many parts are on their way at a time; so many are in memory.
PARTS_AT_A_TIME = 4


@dataclass(frozen=True)
class Upload:
    """What to send, and where to."""

    #: boto3's client for S3, which has no type.
    client: Any
    bucket: str
    key: str
    file: LocalFile
    #: Header fields and metadata of the object, by boto3's names.
    properties: Mapping[str, Any]
    #: Conditions under which the object may appear, by boto3's names.
    conditions: Mapping[str, str]

    def run(self, sent: Sent) -> None:
        """Send the file. Raises as boto3 does, and ToolError if the file is no longer what it was."""
        if self.file.size <= PART:
            self._send_whole(sent)
        else:
            self._send_parts(sent)

    def _send_whole(self, sent: Sent) -> None:
        content = self.file.source.read_bytes()
        self._check(hashlib.sha256(content))
        checksum = base64.b64encode(bytes.fromhex(self.file.sha256)).decode()
        place = {"Bucket": self.bucket, "Key": self.key}
        self.client.put_object(**place, Body=content, ChecksumSHA256=checksum, **self.properties, **self.conditions)
        sent(len(content))

    def _send_parts(self, sent: Sent) -> None:
        """Send the file in parts; the object appears with the last request. What fails leaves no parts behind."""
        place = {"Bucket": self.bucket, "Key": self.key}
        # Of an object in parts, S3 has no SHA-256 of the content, but a SHA-256 of the parts' sums.
        begun = self.client.create_multipart_upload(**place, ChecksumAlgorithm="SHA256", **self.properties)
        upload = {**place, "UploadId": begun["UploadId"]}
        try:
            parts = self._send_all(upload, sent)
            self.client.complete_multipart_upload(**upload, MultipartUpload={"Parts": parts}, **self.conditions)
        except BaseException:
            self.client.abort_multipart_upload(**upload)
            raise

    def _send_all(self, upload: Mapping[str, str], sent: Sent) -> list[dict[str, Any]]:
        """Send all parts; return what the last request says of them."""
        whole = hashlib.sha256()
        parts: list[dict[str, Any]] = []
        under_way: deque[Future[dict[str, Any]]] = deque()
        with self.file.source.open("rb") as file, ThreadPoolExecutor(PARTS_AT_A_TIME) as pool:
            while content := file.read(PART):
                whole.update(content)
                number = len(parts) + len(under_way) + 1
                under_way.append(pool.submit(self._send_part, upload, number, content, sent))
                if len(under_way) == PARTS_AT_A_TIME:
                    parts.append(under_way.popleft().result())
            parts += [part.result() for part in under_way]
        self._check(whole)
        return parts

    def _send_part(self, upload: Mapping[str, str], number: int, content: bytes, sent: Sent) -> dict[str, Any]:
        checksum = base64.b64encode(hashlib.sha256(content).digest()).decode()
        answer = self.client.upload_part(**upload, PartNumber=number, Body=content, ChecksumSHA256=checksum)
        sent(len(content))
        return {"PartNumber": number, "ETag": answer["ETag"], "ChecksumSHA256": checksum}

    def _check(self, digest: Any) -> None:
        if digest.hexdigest() != self.file.sha256:
            raise ToolError(
                f"{self.file.source}: changed while it was published; publish again when the build has ended"
            )


#: Name of the user-defined metadata with the SHA-256 of the whole object, in hex (`x-amz-meta-sha256`).
SHA256 = "sha256"
CHUNK = 1 << 20
#: How often a request is tried again, each time after a longer pause (botocore's `max_attempts` in a Config).
RETRIES = 8
#: Error codes: the object is there already; another upload of it ended at the same time.
_TAKEN = frozenset({"412", "PreconditionFailed", "ConditionalRequestConflict"})
#: Error codes of servers that do not know conditional writes.
_UNKNOWN_CONDITION = frozenset({"501", "NotImplemented"})


def make_client(endpoint_url: str | None) -> Any:
    """Return a client of S3, at the URL of a server other than AWS's, or None for what the environment says."""
    config = Config(
        retries={"mode": "standard", "max_attempts": RETRIES},
        # Servers beside AWS mostly have no host name per bucket, and not all know the newer checksums.
        s3={"addressing_style": "path" if endpoint_url else "auto"},
        request_checksum_calculation="when_required",
        response_checksum_validation="when_required",
    )
    return boto3.session.Session().client("s3", endpoint_url=endpoint_url, config=config)


def stored_sha256(head: Mapping[str, Any]) -> str | None:
    """Return the SHA-256 of an object in hex, out of the answer to HeadObject, or None if that does not have it.

    The sum that the server has checked counts first. For an object in parts, it is no sum of the whole: AWS says so by
    its form (`…-3`), other servers only by the type of the sum or by the form of the ETag.
    """
    in_parts = head.get("ChecksumType") == "COMPOSITE" or "-" in head.get("ETag", "")
    try:
        checked = base64.b64decode(head.get("ChecksumSHA256", ""), validate=True)
    except binascii.Error:
        checked = b""
    if len(checked) == hashlib.sha256().digest_size and not in_parts:
        return checked.hex()
    stored = head.get("Metadata", {}).get(SHA256)
    return None if stored is None else str(stored)


class S3Place:
    """A bucket, or what is below a prefix in it."""

    keeps_index = False

    def __init__(self, bucket: Bucket, directory: str, client: Any, endpoint_url: str | None = None) -> None:
        """Publish below `directory`, itself below the bucket's prefix; both may be empty."""
        self._client = client
        self._bucket = bucket.name
        self._prefix = "".join(f"{part}/" for part in (bucket.prefix, directory) if part)
        self.shown = f"s3://{self._bucket}/{self._prefix}" + (f" of {endpoint_url}" if endpoint_url else "")
        self._conditional = True

    @contextmanager
    def _errors(self, what: str) -> Iterator[None]:
        """Raise what the client cannot do as a ToolError, with the remedy where it is known."""
        try:
            yield
        except NoCredentialsError:
            remedy = "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE, in the environment"
            raise ToolError(f"{self.shown}: no credentials; {remedy}") from None
        except (BotoCoreError, ClientError) as error:
            raise ToolError(f"{self.shown}: cannot {what}: {error}") from None

    def tidy(self) -> None:
        """Do nothing: an upload that was interrupted is no object."""

    def listing(self) -> Mapping[str, int | None]:
        """Return the path of every object below the prefix, with its size in bytes."""
        pages = self._client.get_paginator("list_objects_v2").paginate(Bucket=self._bucket, Prefix=self._prefix)
        with self._errors("list what is there"):
            items = [item for page in pages for item in page.get("Contents", ())]
        return {item["Key"].removeprefix(self._prefix): item["Size"] for item in items}

    def sha256(self, path: str) -> str:
        """Return the SHA-256 of an object, in hex. An object that others have put may have to be downloaded."""
        key = self._prefix + path
        with self._errors(f"read {path}"):
            head = self._client.head_object(Bucket=self._bucket, Key=key, ChecksumMode="ENABLED")
            if stored := stored_sha256(head):
                return stored
            digest = hashlib.sha256()
            for chunk in self._client.get_object(Bucket=self._bucket, Key=key)["Body"].iter_chunks(CHUNK):
                digest.update(chunk)
            return digest.hexdigest()

    def _upload(self, file: LocalFile, sent: Sent, conditions: Mapping[str, str]) -> None:
        served = headers(file.path)
        properties = {
            "CacheControl": served.cache_control,
            "ContentType": served.content_type,
            "Metadata": {SHA256: file.sha256},
        }
        Upload(self._client, self._bucket, self._prefix + file.path, file, properties, conditions).run(sent)

    def put(self, file: LocalFile, sent: Sent) -> None:
        """Upload a file under a key that has no object. Raises TakenError if it has one.

        Of a server that knows no conditional writes, only the listing says whether there is one.
        """
        with self._errors(f"send {file.path}"):
            try:
                self._upload(file, sent, {"IfNoneMatch": "*"} if self._conditional else {})
            except ClientError as error:
                code = error.response.get("Error", {}).get("Code")
                if code in _TAKEN:
                    raise TakenError(file.path) from None
                if not self._conditional or code not in _UNKNOWN_CONDITION:
                    raise
                self._conditional = False
                self._upload(file, sent, {})

    def only_publisher(self) -> AbstractContextManager[None]:
        """Return what waits for nobody: S3 has no locks."""
        return nullcontext()

    def put_page(self, file: LocalFile, sent: Sent) -> None:
        """Upload a page, instead of an older one."""
        with self._errors(f"send {file.path}"):
            self._upload(file, sent, {})
