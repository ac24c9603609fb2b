"""A bucket with faults: as much of S3's protocol as a channel needs, with conditional writes, on this machine.

    with bucket_server() as bucket:
        bucket.faults = lambda request: "503" if … else ""
        boto3.client("s3", endpoint_url=bucket.url, …)

A real server (`swift_server`) shows that the protocol is right; it does not know `If-Match`, and fails when it likes.
"""

import base64
import hashlib
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape

#: What `faults` may answer for a request: nothing, an error, a slow answer, or none after the work was done or not.
SLOW_SECONDS = 1.0
ERRORS = {"503": (503, "SlowDown"), "500": (500, "InternalError"), "expired": (400, "ExpiredToken")}


@dataclass(frozen=True)
class S3Object:
    """An object."""

    content: bytes
    written: float
    headers: dict[str, str]

    @property
    def etag(self) -> str:
        """Its ETag, as S3 has it of an object in one part."""
        return f'"{hashlib.md5(self.content).hexdigest()}"'

    @property
    def date(self) -> str:
        """When it was written, as listings have it."""
        return time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(self.written))


@dataclass
class FaultyBucket:
    """A bucket; its name does not matter."""

    url: str = ""
    objects: dict[str, S3Object] = field(default_factory=dict)
    parts: dict[str, dict[int, bytes]] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)
    faults: Callable[[str], str] = lambda request: ""
    """What goes wrong with a request, named as `PUT channel.json`."""
    skew: float = 0.0
    """Seconds that the server's clock is ahead."""
    stale: dict[str, S3Object] | None = None
    """What listings show instead of the present objects."""
    sent: int = 0
    """Bytes of objects and parts that were written."""

    def now(self) -> float:
        """Return the time by the server's clock."""
        return time.time() + self.skew


class BucketHandler(BaseHTTPRequestHandler):
    """Answers one request."""

    bucket: FaultyBucket
    protocol_version = "HTTP/1.1"

    def log_message(self, *args: Any) -> None:
        """Print nothing."""

    def date_time_string(self, timestamp: float | None = None) -> str:
        """Return the time by the clock of the bucket."""
        return formatdate(self.bucket.now() if timestamp is None else timestamp, usegmt=True)

    def answer(self, status: int, body: bytes = b"", **headers: str) -> None:
        """Answer, unless the fault is that answers are cut off."""
        if self.fault == "cut":
            self.close_connection = True
            return
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def error(self, status: int, code: str) -> None:
        """Answer with an error of S3."""
        self.answer(status, f"<Error><Code>{code}</Code><Message>{code}</Message></Error>".encode())

    def body(self) -> bytes:
        """Return what was sent, without the framing of checksums that follow."""
        data = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if "aws-chunked" not in self.headers.get("Content-Encoding", ""):
            return data
        found, rest = b"", data
        while True:
            line, _, rest = rest.partition(b"\r\n")
            size = int(line.partition(b";")[0], 16)
            if not size:
                return found
            found, rest = found + rest[:size], rest[size + 2 :]

    def handle_request(self) -> None:
        """Do what is asked, or fail."""
        parts = urlsplit(self.path)
        self.key = unquote(parts.path).lstrip("/").partition("/")[2]
        self.query = {name: values[0] for name, values in parse_qs(parts.query, keep_blank_values=True).items()}
        data = self.body()
        self.fault = self.bucket.faults(f"{self.command} {self.key or self.query.get('prefix', '')}")
        if self.fault == "slow":
            time.sleep(SLOW_SECONDS)
        if self.fault in ERRORS:
            self.error(*ERRORS[self.fault])
            return
        if self.fault == "lost":  # Nothing is done.
            self.close_connection = True
            return
        with self.bucket.lock:
            getattr(self, f"work_{self.command.lower()}")(data)

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = handle_request  # noqa: N815

    def work_get(self, data: bytes) -> None:
        """Answer with an object or a listing."""
        if "list-type" in self.query:
            self.list_objects()
            return
        found = self.bucket.objects.get(self.key)
        if found is None:
            self.error(404, "NoSuchKey")
            return
        if asked := re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", "")):  # So big objects are read.
            size, first = len(found.content), int(asked[1])
            part = found.content[first : int(asked[2] or size) + 1]
            where = {"Content-Range": f"bytes {first}-{first + len(part) - 1}/{size}"}
            self.answer(206, part, ETag=found.etag, **found.headers, **where)
            return
        self.answer(200, found.content, ETag=found.etag, **found.headers)

    work_head = work_get

    def list_objects(self) -> None:
        """Answer with a listing."""
        prefix = self.query.get("prefix", "")
        objects = self.bucket.objects if self.bucket.stale is None else self.bucket.stale
        items = "".join(
            f"<Contents><Key>{escape(key)}</Key><Size>{len(one.content)}</Size><ETag>{escape(one.etag)}</ETag>"
            f"<LastModified>{one.date}</LastModified></Contents>"
            for key, one in sorted(objects.items())
            if key.startswith(prefix)
        )
        self.answer(200, f"<ListBucketResult><IsTruncated>false</IsTruncated>{items}</ListBucketResult>".encode())

    def put(self, data: bytes) -> None:
        """Keep an object."""
        kept = ("x-amz-meta", "content-type", "cache")
        headers = {name: value for name, value in self.headers.items() if name.lower().startswith(kept)}
        self.bucket.objects[self.key] = S3Object(data, self.bucket.now(), headers)

    def work_put(self, data: bytes) -> None:
        """Keep an object or a part, if the conditions hold."""
        if not self.key:
            self.answer(200)
            return
        self.bucket.sent += len(data)
        if "uploadId" in self.query:
            self.bucket.parts[self.query["uploadId"]][int(self.query["partNumber"])] = data
            self.answer(200, ETag=f'"{hashlib.md5(data).hexdigest()}"')
            return
        there = self.bucket.objects.get(self.key)
        wanted = self.headers.get("If-Match")
        if (self.headers.get("If-None-Match") and there) or (wanted and (not there or there.etag != wanted)):
            self.error(412, "PreconditionFailed")
            return
        checksum = self.headers.get("x-amz-checksum-sha256")
        if checksum and base64.b64encode(hashlib.sha256(data).digest()).decode() != checksum:
            self.error(400, "BadDigest")
            return
        self.put(data)
        self.answer(200, ETag=self.bucket.objects[self.key].etag)

    def work_post(self, data: bytes) -> None:
        """Begin or complete an upload in parts."""
        if "uploads" in self.query:
            upload = hashlib.md5(f"{self.key}{time.monotonic_ns()}".encode()).hexdigest()
            self.bucket.parts[upload] = {}
            self.answer(200, f"<R><UploadId>{upload}</UploadId><Key>{escape(self.key)}</Key></R>".encode())
            return
        parts = self.bucket.parts.pop(self.query["uploadId"])
        self.put(b"".join(parts[number] for number in sorted(parts)))
        self.answer(200, b"<R><ETag>&quot;0-1&quot;</ETag></R>")

    def work_delete(self, data: bytes) -> None:
        """Delete an object, or end an upload in parts."""
        self.bucket.parts.pop(self.query.get("uploadId", ""), None)
        if "uploadId" not in self.query:
            self.bucket.objects.pop(self.key, None)
        self.answer(204)


@contextmanager
def bucket_server() -> Iterator[FaultyBucket]:
    """Run the server in threads of this process."""
    bucket = FaultyBucket()
    handler = type("Handler", (BucketHandler,), {"bucket": bucket})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    bucket.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield bucket
    finally:
        server.shutdown()
        server.server_close()
