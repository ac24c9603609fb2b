"""Sends one file to an S3 bucket, in one request or in parts, each with its SHA-256.

boto3's own `upload_file` cannot send the condition `If-None-Match`, on which it depends that nothing published is ever
replaced; so this makes the few requests itself. The client tries each of them again where that can help.
"""

import base64
import hashlib
from collections import deque
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from tools.commands.publish.files import LocalFile
from tools.commands.publish.target import Sent
from tools.lib.common.program import ToolError

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
        # S3 knows no SHA-256 of an object in parts, but one of those of the parts.
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
