"""Feeds damaged device code to the reader.

    python3 -m develop.testing.device_fuzz --count 100000 [--seed 1] [--save FOLDER] [FILE...]

Each round takes a sample (see `develop.testing.device_sample`) or one of the files, damages it, reads it and goes
through all code objects. The answer must be a `DeviceError` with an offset inside the file, or device code that keeps
within the file and gives as many bytes as it says. `develop.testing.fuzzing` has what else must hold.
"""

import io
import random
import sys
from collections.abc import Sequence

from develop.testing.device_sample import HOST, PREFIX, Part, Sample, bundle, compressed
from develop.testing.device_windows import windows_library
from develop.testing.fuzzing import FindingError, Fuzzer, main
from lib.device.content import code_object_contents
from lib.device.model import Bundle, DeviceCode, DeviceError, Method, Pointer
from lib.device.reader import read_device_code
from lib.elf import constants as c

PLAIN = bundle([(HOST, b""), (f"{PREFIX}gfx1030", b"first"), (f"{PREFIX}gfx90a:xnack+", b"second" * 9)], align=16)
SAMPLES = (
    PLAIN,
    PLAIN + bytes(5) + bundle([(f"{PREFIX}gfx11-generic", b"x" * 200)], align=8),
    *(compressed(PLAIN, version) for version in (1, 2, 3)),
    compressed(PLAIN, 1) + bytes(6) + compressed(PLAIN, 3) + PLAIN,
    Sample((Part(PLAIN, padding=9), Part(PLAIN, Pointer.RELR), Part(PLAIN, Pointer.SYMBOL))).build(),
    Sample((Part(compressed(PLAIN), Pointer.RELR), Part(PLAIN, Pointer.RELR)), c.EM_AARCH64).build(),
    Sample((Part(compressed(PLAIN, 3), Pointer.IN_PLACE), Part(PLAIN, None)), kind=c.ET_EXEC).build(),
)
#: Read, but not sliced: see `develop.testing.slice_fuzz`.
WINDOWS_SAMPLES = (windows_library((PLAIN, compressed(PLAIN))),)
#: Samples that need the decoder for zstd, which Bazel builds.
ZSTD_SAMPLES = (
    *(compressed(PLAIN, version, Method.ZSTD) for version in (1, 2, 3)),
    Sample((Part(compressed(PLAIN + bytes(1 << 16), 2, Method.ZSTD)), Part(compressed(PLAIN, 1, Method.ZSTD)))).build(),
)


def interesting(data: bytes) -> list[int]:
    """List the offsets of a whole file that are worth damaging: within 7 bytes there is a byte other than zero."""
    return [at for at in range(len(data)) if any(data[max(0, at - 7) : at + 8])]


def damage(data: bytes, places: Sequence[int], rng: random.Random) -> bytes:
    """Make a damaged copy of a whole file, at some of these `places`."""
    result = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 3, 8))):
        at, size = rng.choice(places), rng.choice((1, 1, 2, 4, 8, 8))
        at -= at % size if rng.random() < 0.7 else 0
        field = result[at : at + size]
        old, limit = int.from_bytes(field, "little"), 1 << 8 * len(field)
        other = rng.choice(places)
        values: tuple[int, ...] = (
            0,
            1,
            limit - 1,
            limit >> 1,
            old ^ (1 << rng.randrange(8 * size)),
            old + 1,
            old - 1,
            old << 8,
        )
        values += (len(data), len(data) - at, rng.getrandbits(8 * size), rng.randrange(4096), 10**9)
        values += (int.from_bytes(data[other : other + size], "little"),)
        result[at : at + size] = (rng.choice(values) % limit).to_bytes(len(field), "little")
    if rng.random() < 0.05:
        start, length = rng.choice(places), rng.randrange(1, 64)
        result[start:start] = result[start : start + length]
    if rng.random() < 0.05:
        del result[rng.randrange(len(result)) :]
    return bytes(result)


def check(data: bytes) -> str:
    """Read a file and its code objects; returns what came of it. Raises FindingError, or whatever the reader raised."""
    try:
        return _answer(io.BytesIO(data), len(data))
    except DeviceError as error:
        if not (0 <= error.offset <= len(data) and error.reason and error.path == "damaged"):
            raise FindingError(f"an error without place or reason: {error!r}") from error
        return "error"


def _answer(file: io.BytesIO, size: int) -> str:
    device = read_device_code(file, "damaged")
    before = 0
    for bundle_ in device.bundles:
        if not before <= bundle_.offset < bundle_.end <= size:
            raise FindingError(f"a bundle outside the file, or over another: {bundle_}")
        before = bundle_.end
        _check_contents(file, device, bundle_)
    if any(wrapper.bundle_offset not in {b.offset for b in device.bundles} for wrapper in device.wrappers):
        raise FindingError("a wrapper without a bundle")
    return "read" if device.bundles else "nothing"


def _check_contents(file: io.BytesIO, device: DeviceCode, bundle_: Bundle) -> None:
    for code, chunks in code_object_contents(file, device, bundle_):
        content = b"".join(chunks)
        start = bundle_.offset + code.offset
        if len(content) != code.size:
            raise FindingError(f"{len(content)} bytes of {code}")
        if bundle_.compression is None and code.size and content != file.getvalue()[start : start + code.size]:
            raise FindingError(f"other bytes than the file has of {code}")


def fuzzer(seeds: Sequence[bytes]) -> Fuzzer[bytes]:
    """Return the fuzzer that damages these files."""
    places = [interesting(data) for data in seeds]

    def make(rng: random.Random) -> bytes:
        which = rng.randrange(len(seeds))
        return damage(seeds[which], places[which], rng)

    return Fuzzer(make, check, content=bytes)


if __name__ == "__main__":
    sys.exit(main(lambda files: fuzzer([*SAMPLES, *WINDOWS_SAMPLES, *ZSTD_SAMPLES, *files]), __doc__, count=100_000))
