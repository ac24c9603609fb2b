"""A bucket for tests: a run's archives, served from memory on loopback as S3 does it."""

import hashlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape


@dataclass
class Bucket:
    """What is served. Paths do not begin with a slash."""

    files: dict[str, bytes] = field(default_factory=dict)
    #: Files per page of a listing of S3's.
    page: int = 2
    #: Paths -> answers that they give before they give what they should: a status, or "break".
    trouble: dict[str, list[int | str]] = field(default_factory=dict)
    requests: list[str] = field(default_factory=list)
    url: str = ""

    def add(self, path: str, content: bytes, *, checksum: bool = True) -> None:
        """Add an archive, with its checksum beside it."""
        self.files[path] = content
        if checksum:
            text = f"{hashlib.sha256(content).hexdigest()}  {path.rpartition('/')[2]}\n"
            self.files[path + ".sha256sum"] = text.encode()

    def list_s3(self, prefix: str, token: str) -> bytes:
        """Return a page of ListObjectsV2."""
        paths = sorted(path for path in self.files if path.startswith(prefix))
        start = int(token or 0)
        rows = "".join(
            f"<Contents><Key>{escape(path)}</Key><Size>{len(self.files[path])}</Size></Contents>"
            for path in paths[start : start + self.page]
        )
        more = start + self.page < len(paths)
        rest = f"<NextContinuationToken>{start + self.page}</NextContinuationToken>" if more else ""
        return (
            '<?xml version="1.0"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">'
            f"<IsTruncated>{'true' if more else 'false'}</IsTruncated>{rest}{rows}</ListBucketResult>"
        ).encode()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    bucket: Bucket

    def do_GET(self) -> None:
        """Answer a request."""
        self._answer(body=True)

    def do_HEAD(self) -> None:
        """Answer without the body."""
        self._answer(body=False)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class names it
        """Say nothing."""

    def _answer(self, *, body: bool) -> None:
        bucket = self.bucket
        parts = urlsplit(self.path)
        path = unquote(parts.path).removeprefix("/")
        wanted = self.headers.get("Range", "")
        bucket.requests.append(f"{self.command} {self.path} {wanted}".rstrip())
        trouble = bucket.trouble.get(path)
        problem = trouble.pop(0) if trouble else None
        content = self._content(path, parse_qs(parts.query))
        if isinstance(problem, int) or content is None:
            self.send_response(problem if isinstance(problem, int) else 404)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        start = int(wanted.removeprefix("bytes=").partition("-")[0] or 0)
        self.send_response(206 if wanted else 200)
        if wanted:  # RFC 9110, 14.4
            self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
            content = content[start:]
        self.send_header("Accept-Ranges", "bytes")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if body:
            self.wfile.write(content[: len(content) // 2] if problem == "break" else content)
        self.close_connection = problem == "break"

    def _content(self, path: str, query: dict[str, list[str]]) -> bytes | None:
        bucket = self.bucket
        if not path and "list-type" in query:
            return bucket.list_s3(query["prefix"][0], query.get("continuation-token", [""])[0])
        if path in bucket.files:
            return bucket.files[path]
        return None


@contextmanager
def serve(bucket: Bucket) -> Iterator[Bucket]:
    """Serve a bucket; its `url` is set."""
    handler = type("Handler", (_Handler,), {"bucket": bucket})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    bucket.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield bucket
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
