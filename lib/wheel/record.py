"""RECORD: every file of a wheel with its digest and size (PyPA, "Recording installed projects"; PEP 376, PEP 427).

The digest is SHA-256. Pack takes it of packed files, link and `wheel_writer.py` of small ones, verify's reader of
those that rocm-wheels split and require-sdk copy (`wheels/common/copying.py`). Bills of materials have the same
digest (docs/sdk/metadata.md). There is a second writer, in the backend of `rocm`'s sdist (`packaging/rocm/backend`): it
imports nothing of the build. A test compares the two.
"""

import base64
import csv
import hashlib
import io
from collections.abc import Iterable
from typing import Final

#: Files that have no digest: they are written last, or sign RECORD (PEP 427).
WITHOUT_DIGEST: Final = ("RECORD", "RECORD.jws", "RECORD.p7s")
#: No text of the .dist-info directory is larger, in bytes: RECORD has about 100 per file.
MAX_TEXT: Final = 32 << 20


def encoded(digest: str) -> str:
    """Return a digest given in hexadecimal as RECORD has it: urlsafe base64 without padding."""
    return base64.urlsafe_b64encode(bytes.fromhex(digest)).rstrip(b"=").decode()


def record_text(files: Iterable[tuple[str, str, int]], own: str) -> str:
    """Return the text of RECORD, whose own path is `own`: for each file its path, SHA-256 in hex, and size in bytes.

    A path without a digest, such as a link's, has no size either.
    """
    table = io.StringIO()
    rows = csv.writer(table, lineterminator="\n")
    for path, sha256, size in files:
        rows.writerow((path, f"sha256={encoded(sha256)}", size) if sha256 else (path, "", ""))
    rows.writerow((own, "", ""))
    return table.getvalue()


def read_text(content: bytes) -> str:
    """Return a text of the .dist-info directory. Raises ValueError if it is not UTF-8, or larger than any is."""
    check_size(len(content))
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"is not UTF-8 at byte {error.start}") from None


def check_size(size: int, limit: int = MAX_TEXT) -> None:
    """Raise ValueError for a size in bytes that no text of a wheel has."""
    if size > limit:
        raise ValueError(f"{size} bytes; expected {limit} at most")


def record_rows(content: bytes) -> list[list[str]]:
    """Return the lines of RECORD as fields, of whatever number. Raises ValueError if it is not CSV in UTF-8."""
    try:
        return list(csv.reader(io.StringIO(read_text(content), newline=""), strict=True))
    except csv.Error as error:
        raise ValueError(f"expected CSV: {error}") from None


def record_digests(content: bytes) -> dict[str, str]:
    """Return path -> SHA-256 in hex, empty where RECORD has none, such as of RECORD itself.

    Raises ValueError, which names the line, if RECORD cannot be read, and if one of its lines is not as it should be.
    """
    found: dict[str, str] = {}
    for number, row in enumerate(record_rows(content), 1):
        if row and len(row) != 3:
            raise ValueError(f"line {number} has {len(row)} fields; expected 3")
        if row and row[0] in found:
            raise ValueError(f"line {number} has {row[0]} a second time")
        if row:
            found[row[0]] = _sha256(number, row[1])
    return found


def _sha256(number: int, digest: str) -> str:
    algorithm, _, text = digest.partition("=")
    if algorithm != "sha256":
        return ""
    try:
        value = base64.b64decode(text.rstrip("=").encode("ascii") + b"=", altchars=b"-_", validate=True)
    except ValueError:
        value = b""
    if len(value) != hashlib.sha256().digest_size:
        raise ValueError(f"line {number}: {text!r}; expected the SHA-256 in base64, 43 characters")
    return value.hex()
