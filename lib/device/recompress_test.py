"""Bundles compressed anew: once inflated for all who keep something, the same bytes in every way, errors that stop."""

import io
import random
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from develop.testing.device_sample import HOST, PREFIX, Part, Sample, bundle, compressed
from lib.device import recompress as module
from lib.device.content import Forward
from lib.device.model import DeviceError
from lib.device.recompress import Recompression
from lib.device.slice import SliceTargets, plan_slice, plan_slices
from lib.device.zstd import ZstdDecoder, ZstdEncoder
from lib.gpus.target_id import parse_target_id

TARGETS = ("gfx906", "gfx90a:xnack+", "gfx90a:xnack-", "gfx1030")
CODE = {target: random.Random(target).randbytes(1000) * 700 for target in TARGETS}
FAT = bundle([(HOST, b""), *((PREFIX + target, CODE[target]) for target in TARGETS)])
LIBRARY = Sample((Part(compressed(FAT, 2)), Part(compressed(FAT, 3)), Part(FAT))).build()
WANTED = [SliceTargets((parse_target_id(target),)) for target in ("gfx906", "gfx90a", "gfx1030", "gfx906")]


def slices(level: int, threads: int, directory: Path | None = None) -> list[bytes]:
    """Make all slices together."""
    file = io.BytesIO(LIBRARY)
    with ThreadPoolExecutor(threads) as pool:
        patches = plan_slices(file, "a.so", WANTED, Recompression(level, pool, directory))
        return [b"".join(map(bytes, patch.chunks(file))) for patch in patches]


def test_each_bundle_is_inflated_once_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    inflated = []

    def forward(*arguments: object) -> Forward:
        inflated.append(arguments[1])
        return Forward(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(module, "Forward", forward)
    made = slices(3, 2)
    assert len(inflated) == len(set(inflated)) == 2
    file = io.BytesIO(LIBRARY)
    alone = [b"".join(map(bytes, plan_slice(file, "a.so", one.targets).chunks(file))) for one in WANTED]
    assert made == alone


@pytest.mark.parametrize("level", [1, 3, 9])
def test_threads_change_no_byte(tmp_path: Path, level: int) -> None:
    assert slices(level, 1) == slices(level, 4, tmp_path) == slices(level, 8)
    assert list(tmp_path.iterdir()) == []


def test_damage_stops_all_and_leaves_no_thread_waiting() -> None:
    data = bytearray(LIBRARY)
    data[data.index(b"CCOB") + 16] ^= 1
    file = io.BytesIO(data)
    with ThreadPoolExecutor(2) as pool, pytest.raises(DeviceError, match="the inflated bundle has the digest"):
        plan_slices(file, "a.so", WANTED, Recompression(3, pool))


def test_a_bundle_that_keeps_nothing_is_a_table() -> None:
    file = io.BytesIO(compressed(FAT, 3))
    target = parse_target_id("gfx1200")
    patch = plan_slice(file, "a.hipfb", [target], [target])
    assert patch.size < 200
    assert b"".join(map(bytes, patch.chunks(file))).startswith(b"CCOB\x03\x00\x01\x00")


@given(st.lists(st.binary(max_size=3000), max_size=20), st.integers(1, 9), st.randoms(use_true_random=False))
def test_a_frame_is_the_same_however_it_is_fed(parts: list[bytes], level: int, rng: random.Random) -> None:
    data = b"".join(parts * 40)
    encoder = ZstdEncoder()

    def frame(cuts: list[int]) -> bytes:
        encoder.begin(level, len(data))
        pieces = [data[start:end] for start, end in zip([0, *cuts], [*cuts, len(data)], strict=True)]
        return b"".join(encoder.step(piece) for piece in pieces) + encoder.finish()

    whole = frame([])
    assert frame(sorted(rng.randrange(len(data) + 1) for _ in range(5))) == whole
    decoder, rest, out = ZstdDecoder(), whole, b""
    while not decoder.ended:
        given_bytes, used = decoder.step(rest, 1 << 20)
        rest, out = rest[used:], out + given_bytes
    assert (out, rest) == (data, b"")
