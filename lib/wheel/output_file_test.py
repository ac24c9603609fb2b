"""Tests of the file that link writes."""

import errno
import hashlib
import io
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from lib.wheel import output_file as module
from lib.wheel.output_file import Output

DATA = random.Random(1).randbytes(100_000)


@pytest.fixture(autouse=True)
def _small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PIECE_BYTES", 7000)
    monkeypatch.setattr(module, "SMALL_BYTES", 500)


def write(directory: Path) -> bytes:
    """Write and copy in turns, small and large; check size and digest."""
    (directory / "source").write_bytes(DATA)
    path = directory / "out"
    expected = b""
    with path.open("wb") as file, Output(file) as output:
        for number in range(20):
            output.write(b"header%d" % number)
            offset, length = number * 999, number * number * 150
            output.copy(str(directory / "source"), offset, length)
            expected += b"header%d" % number + DATA[offset : offset + length]
        output.write(b"end")
        expected += b"end"
        assert (output.size, output.sha256) == (len(expected), hashlib.sha256(expected).hexdigest())
    assert path.read_bytes() == expected
    return expected


def test_what_is_written_and_copied_follows_each_other(tmp_path: Path) -> None:
    write(tmp_path)


@pytest.mark.parametrize("good_calls", [0, 1, 5])
def test_file_systems_that_cannot_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, good_calls: int) -> None:
    """Some fail at once, or after a first part of a run."""
    copy, left = os.copy_file_range, good_calls

    def failing(source: int, target: int, count: int, offset: int) -> int:
        nonlocal left
        left -= 1
        if left < 0:
            raise OSError(errno.EXDEV, "Invalid cross-device link")
        return copy(source, target, min(3000, count), offset)

    monkeypatch.setattr(os, "copy_file_range", failing)
    write(tmp_path)
    assert left < 0


def test_it_copies_in_the_kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copied = 0
    copy = os.copy_file_range

    def counting(source: int, target: int, count: int, offset: int) -> int:
        nonlocal copied
        copied += (done := copy(source, target, count, offset))
        return done

    monkeypatch.setattr(os, "copy_file_range", counting)
    write(tmp_path)
    assert copied == sum(number * number * 150 for number in range(20) if number * number * 150 >= 500)


def test_a_file_in_memory_will_do(tmp_path: Path) -> None:
    (tmp_path / "source").write_bytes(DATA)
    file = io.BytesIO()
    with Output(file) as output:
        output.copy(str(tmp_path / "source"), 10, 50_000)
        assert output.sha256 == hashlib.sha256(DATA[10:50_010]).hexdigest()
    assert file.getvalue() == DATA[10:50_010]


def test_a_segment_that_is_cut_off_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "segment").write_bytes(b"12345")
    with (
        Output(io.BytesIO()) as output,
        pytest.raises(EOFError, match="segment: expected 10 bytes at offset 2; the file ends 7 bytes earlier"),
    ):
        output.copy(str(tmp_path / "segment"), 2, 10)
    assert output.size == 0


def test_a_full_disk_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "source").write_bytes(DATA)
    with open("/dev/full", "wb", buffering=0) as file, Output(file) as output, pytest.raises(OSError, match="No space"):
        output.copy(str(tmp_path / "source"), 0, 90_000)


def test_memory_does_not_grow_with_the_run(tmp_path: Path) -> None:
    """Mapped pages count, too, so the kernel is asked: VmHWM of a process of its own, in KiB."""
    (tmp_path / "source").write_bytes(bytes(200_000_000))
    program = (
        "import sys; from lib.wheel.output_file import Output\n"
        "with open(sys.argv[2], 'wb') as file, Output(file) as output: output.copy(sys.argv[1], 5, 199_999_000)\n"
        "print(next(line.split()[1] for line in open('/proc/self/status') if line.startswith('VmHWM')))"
    )
    command = [sys.executable, "-c", program, str(tmp_path / "source"), str(tmp_path / "out")]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    peak = int(subprocess.run(command, check=True, capture_output=True, env=environment).stdout)
    assert peak < 80_000
