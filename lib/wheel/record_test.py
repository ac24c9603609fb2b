"""Tests of reading RECORD; wheel_writer_test.py writes it."""

from hashlib import sha256

import pytest

from lib.wheel.record import record_digests, record_text

DIGESTS = {path: sha256(path.encode()).hexdigest() for path in ("a/b.py", 'a/"c", d.so')}


def test_what_was_written_is_read() -> None:
    text = record_text([(path, digest, 7) for path, digest in DIGESTS.items()], "a.dist-info/RECORD")
    assert record_digests(text.encode()) == DIGESTS | {"a.dist-info/RECORD": ""}
    assert record_digests(b"a,sha512=AAAA,1\n\nb,,\n") == {"a": "", "b": ""}


@pytest.mark.parametrize(
    ("second", "message"),
    [
        (b"b,sha256=AAA,1", "^line 2: 'AAA'; expected the SHA-256 in base64, 43 characters"),
        (b"b,sha256=A*A,1", "^line 2: 'A.A'; expected the SHA-256"),
        (b"b,sha256=,1", "^line 2: ''; expected the SHA-256"),
        (b"b,,,", "^line 2 has 4 fields; expected 3"),
        (b"a,,", "^line 2 has a a second time"),
        (b'"b', "^expected CSV: "),
        (b"\xff,,", "^is not UTF-8 at byte 4"),
    ],
)
def test_a_second_line_that_is_wrong(second: bytes, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        record_digests(b"a,,\n" + second)
