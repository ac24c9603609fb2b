"""RECORD: every file of a wheel with its digest and size (PyPA, "Recording installed projects"; PEP 376, PEP 427).

The digest is SHA-256. Pack takes it of packed files, link and `wheel_writer.py` of small ones, verify's reader of
those that rocm-wheels split and require-sdk copy (`wheels/common/copying.py`). Bills of materials have the same
digest (docs/sdk/metadata.md). There is a second writer, in the backend of `rocm`'s sdist (`packaging/rocm/backend`): it
imports nothing of the build. A test compares the two.
"""

import base64
import csv
import io
from collections.abc import Iterable
from typing import Final

#: Files that have no digest: they are written last, or sign RECORD (PEP 427).
WITHOUT_DIGEST: Final = ("RECORD", "RECORD.jws", "RECORD.p7s")


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


def record_rows(content: bytes) -> list[list[str]]:
    """Return the lines of RECORD as fields. Raises ValueError, which says why, if it is not CSV in UTF-8."""
    try:
        return list(csv.reader(io.StringIO(content.decode("utf-8"), newline=""), strict=True))
    except csv.Error as error:
        raise ValueError(str(error)) from error
