"""Feeds damaged PE images to the reader.

    python3 -m develop.testing.pe_fuzz --count 50000 [--seed 1] [--save FOLDER] [FILE...]

Each round takes a sample (see `develop.testing.pe_sample`) or one of the files, and damages its headers and tables. The
answer must be facts, or an `ElfError` with an offset inside the file. `develop.testing.fuzzing` has the rest.
"""

import io
import random
import sys
from collections.abc import Sequence

from develop.testing.fuzzing import FindingError, Fuzzer, main
from develop.testing.pe_sample import Sample
from lib.elf.source import ElfError
from lib.pe import constants as c
from lib.pe.reader import read_pe

_MANY = tuple(f"function_{number}" for number in range(40))
SAMPLES = (
    Sample(),
    Sample(magic=c.PE32, exports=_MANY, unnamed=3, imports=()),
    Sample(
        imports=(("KERNEL32.dll", _MANY), ("amdhip64_7.dll", (1, 2, "hipMalloc"))),
        delayed=(("comgr.dll", ("one", 2)),),
        sections=((".hipFbSegment", b"x"),),
        zeros=9000,
    ),
)
#: Up to this offset a sample has headers and tables, in bytes.
STRUCTURES = 0x1000


def damage(data: bytes, rng: random.Random) -> bytes:
    """Make a damaged copy of a file."""
    result = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 3, 8))):
        size = rng.choice((1, 2, 4, 4, 8))
        at = rng.randrange(min(len(data), STRUCTURES) - size) // size * size
        old = int.from_bytes(result[at : at + size], "little")
        values: tuple[int, ...] = (
            0,
            1,
            -1,
            1 << (8 * size - 1),
            old ^ (1 << rng.randrange(8 * size)),
            old + 1,
            old - 1,
            old * 2,
        )
        values += (len(data), at, 0x1000, 0x2000, rng.getrandbits(8 * size), rng.randrange(0x6000))
        result[at : at + size] = (rng.choice(values) % (1 << 8 * size)).to_bytes(size, "little")
    if rng.random() < 0.05:
        del result[rng.randrange(len(result)) :]
    return bytes(result)


def check(data: bytes) -> str:
    """Read a file; returns what came of it. Raises FindingError, or whatever the reader raised."""
    try:
        image = read_pe(io.BytesIO(data), "damaged")
    except ElfError as error:
        if not (0 <= error.offset <= len(data) and error.reason and error.path == "damaged"):
            raise FindingError(f"an error without place or reason: {error!r}") from error
        return "error"
    return "all" if image.imports and image.exports else "some"


def fuzzer(seeds: Sequence[bytes]) -> Fuzzer[bytes]:
    """Return the fuzzer that damages these files."""
    return Fuzzer(lambda rng: damage(rng.choice(seeds), rng), check, content=lambda case: case, suffix=".dll")


if __name__ == "__main__":
    own = [sample.build() for sample in SAMPLES]
    sys.exit(main(lambda files: fuzzer([*own, *files]), __doc__, count=50_000))
