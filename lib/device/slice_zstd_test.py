"""Slices of bundles that clang compressed with zstd, alone and in libraries. `zstd_test` tells what the corpus is."""

import io

import pytest

from develop.testing.device_sample import Part, Sample, compressed
from develop.testing.slice_check import differences
from lib.device.content import digests
from lib.device.model import Method
from lib.device.reader import read_device_code
from lib.device.slice import plan_slice
from lib.device.zstd_test import CORPUS, EXPECTED
from lib.elf.patched import open_patched
from lib.gpus.target_id import parse_target_id

BUNDLES = [path.read_bytes() for path in CORPUS]


@pytest.mark.parametrize("target", EXPECTED)
@pytest.mark.parametrize(
    "data", [*BUNDLES, Sample(tuple(map(Part, BUNDLES))).build()], ids=[*(path.stem for path in CORPUS), "library"]
)
def test_what_clang_compressed(data: bytes, target: str) -> None:
    file, wanted = io.BytesIO(data), [parse_target_id(target)]
    new = open_patched(plan_slice(file, "code", wanted), file)
    assert list(differences(file, new, wanted)) == []
    device = read_device_code(new, "code")
    found = [
        (str(code.entry.target), digest)
        for one in device.bundles
        for code, digest in digests(new, device, one).items()
        if code.size
    ]
    assert found == [(target, EXPECTED[target])] * len(device.bundles)


def test_a_frame_made_here() -> None:
    plain = read_device_code(io.BytesIO(BUNDLES[0]), "code").bundles[0]
    assert plain.compression is not None
    assert plain.compression.method is Method.ZSTD
    data = compressed(compressed(b"not a bundle"), 2, Method.ZSTD)
    with pytest.raises(Exception, match="the inflated bytes are no offload bundle"):
        plan_slice(io.BytesIO(data), "code", [parse_target_id("gfx1030")])
