"""Bundles compressed with zstd: those that clang made, frames made here, and damage.

The bundles in `corpus/` were made by clang-offload-bundler 18, 19 and 21 (-compress) of code objects for gfx1030,
gfx90a:xnack+ and gfx90a:xnack-, a kernel of one line.
"""

import io
from pathlib import Path

import pytest

from develop.testing.device_fuzz import ZSTD_SAMPLES, check, fuzzer
from develop.testing.device_sample import compressed, zstd_frame
from lib.device.content import digests
from lib.device.model import DeviceCode, DeviceError, Method
from lib.device.reader import read_device_code
from lib.device.zstd import ZstdDecoder, ZstdError

CORPUS = sorted((Path(__file__).parent / "corpus").glob("*.hipfb"))
#: What `sha256sum` says of the code objects that went in.
EXPECTED = {
    "gfx1030": "21de4a0af45646693ada7b19c01d2781e6b872e02223b303c515902b9bb7d53b",
    "gfx90a:xnack+": "4172a926b153d16bcf1a8d7d4bd44cbd29cab4e57a0abc1a7893489d29c341ad",
    "gfx90a:xnack-": "2ea827213d27ce020fb97745bc7c4799b730183a35c0e31705413b78804d3ad7",
}


def read(data: bytes) -> DeviceCode:
    return read_device_code(io.BytesIO(data), "code.hipfb")


def contents(data: bytes) -> list[str]:
    """Read all code objects; returns their digests."""
    device = read(data)
    return [digest for one in device.bundles for digest in digests(io.BytesIO(data), device, one).values()]


def error(data: bytes) -> str:
    with pytest.raises(DeviceError) as caught:
        contents(data)
    return str(caught.value)


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.stem)
def test_what_clang_compressed(path: Path) -> None:
    with path.open("rb") as file:
        device = read_device_code(file, str(path))
        (one,) = device.bundles
        assert one.size == path.stat().st_size
        assert one.compression is not None
        assert (one.compression.method, one.compression.inflated_size) == (Method.ZSTD, 15960)
        assert path.stem.endswith(f"-version{one.compression.version}")
        found = {str(code.entry.target): digest for code, digest in digests(file, device, one).items() if code.size}
    assert found == EXPECTED


def test_every_version_of_the_header_is_there() -> None:
    assert [path.stem[-1] for path in CORPUS] == ["1", "2", "3"]


def test_bundles_without_a_size_are_told_apart() -> None:
    first, second = (path.read_bytes() for path in CORPUS[:2])
    data = first + bytes(7) + first + second
    assert [(one.offset, one.size) for one in read(data).bundles] == [
        (0, len(first)),
        (len(first) + 7, len(first)),
        (2 * len(first) + 7, len(second)),
    ]


def test_every_truncation_is_an_error() -> None:
    for path in CORPUS:
        data = path.read_bytes()
        for size in range(4, len(data), 7):
            error(data[:size])


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.stem)
def test_a_flipped_bit_gives_the_same_or_an_error(path: Path) -> None:
    """The same: RFC 8878 has bits without a meaning, and more than one way to say a thing."""
    data = path.read_bytes()
    errors = 0
    for at in range(len(data)):
        try:
            assert contents(data[:at] + bytes([data[at] ^ 1 << at % 8]) + data[at + 1 :]) in (contents(data), [])
        except DeviceError:
            errors += 1
    assert errors > len(data) * 0.9


def test_a_small_bundle_that_inflates_to_much_is_found_out_early() -> None:
    bomb = compressed(bytes(64 << 20), 1, Method.ZSTD)
    said = f"{len(bomb) - 20} compressed bytes that inflate to {64 << 20}: more than 2000 times as many"
    assert said in error(bomb)
    assert "more than 2000 times as many" in error(bomb + bytes(64 << 10))


def test_a_window_beyond_the_limit_is_refused() -> None:
    """Of 2^28 bytes: exponent 18 above 2^10, in the upper five bits of the window descriptor (RFC 8878, 3.1.1.1.2)."""
    frame = b"\x28\xb5\x2f\xfd\x00" + bytes([18 << 3]) + b"\x01\x00\x00"
    with pytest.raises(ZstdError, match="too much memory"):
        ZstdDecoder().step(frame, 100)


def test_the_decoder_takes_and_gives_piece_by_piece() -> None:
    data = bytes(range(256)) * 3000
    frame = zstd_frame(data)
    decoder, out, at = ZstdDecoder(), b"", 0
    while not decoder.ended:
        given, used = decoder.step(frame[at : at + 1000], 700)
        assert len(given) <= 700
        out, at = out + given, at + used
    assert (out, at) == (data, len(frame))


def test_damaged_files_give_answers_or_errors() -> None:
    seeds = [*ZSTD_SAMPLES, *(path.read_bytes() for path in CORPUS)]
    assert [check(data) for data in seeds] == ["read"] * len(seeds)
    assert set(fuzzer(seeds).run(0, range(10_000))) == {"error", "nothing", "read"}
