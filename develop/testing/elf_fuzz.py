"""Feeds damaged ELF files to the reader and the editor.

    python3 -m develop.testing.elf_fuzz --count 200000 [--seed 1] [--save FOLDER] [FILE...]

Each round takes a sample (see `develop.testing.elf_sample`) or one of the files, damages its structures, and asks for
an edit. The answer must be an `ElfError` with an offset inside the file, or an edit that holds: the new file reads back
as wished, and wishing it again changes nothing. `develop.testing.fuzzing` has what else must hold.
"""

import io
import random
import sys
from collections.abc import Sequence

from develop.testing.elf_sample import Sample
from develop.testing.fuzzing import FindingError, Fuzzer, main
from lib.elf import constants as c
from lib.elf.dynamic_edit import DynamicEdit
from lib.elf.editor import plan_patch
from lib.elf.model import ElfFile, refusal
from lib.elf.patched import open_patched
from lib.elf.reader import read_elf
from lib.elf.source import ElfError

LONG = "$ORIGIN/" + "long/" * 30
SAMPLES = (
    Sample(),
    Sample(rpath="/usr/lib/somewhere", runpath="x", slack=400, needed=("liba.so", "libc.so.6")),
    Sample(rpath="/usr/lib/somewhere", sections=False, spare=0, interpreter="/lib64/ld-linux-x86-64.so.2"),
    Sample(spare=0, zeros=17 << 20, versions=(("libc.so.6", ("GLIBC_2.2.5", "GLIBC_2.34")), ("libm.so.6", ("V",)))),
    Sample(zeros=17 << 20, interpreter="/lib64/ld-linux-x86-64.so.2", machine=c.EM_AARCH64, kind=c.ET_EXEC),
)


def structures(data: bytes) -> list[tuple[int, int]]:
    """List the fields that are worth damaging in a whole file: offset and size of each, in bytes."""
    elf = read_elf(io.BytesIO(data), "seed")
    fields = [(4, 1), (5, 1), *((at, 2) for at in (16, 18, 52, 54, 56, 58, 60, 62)), *((at, 8) for at in (24, 32, 40))]
    for program in elf.program_headers:
        fields += [(program.position, 4), (program.position + 4, 4)]
        fields += [(program.position + at, 8) for at in range(8, 56, 8)]
    for section in elf.section_headers:
        fields += [(section.position + at, 4) for at in (0, 4, 40, 44)]
        fields += [(section.position + at, 8) for at in (8, 16, 24, 32, 48, 56)]
        if section.type in (c.SHT_GNU_VERNEED, c.SHT_GNU_HASH, c.SHT_NOTE, c.SHT_DYNSYM, c.SHT_SYMTAB):
            fields += [(section.offset + at, 4) for at in range(0, min(section.size, 4096), 4)]
    for entry in elf.dynamic:
        fields += [(entry.position, 8), (entry.position + 8, 8)]
    return fields


def damage(data: bytes, fields: Sequence[tuple[int, int]], rng: random.Random) -> bytes:
    """Make a damaged copy of a whole file with these `fields`."""
    result = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 3, 8))):
        at, size = rng.choice(fields)
        other, _ = rng.choice(fields)
        old = int.from_bytes(result[at : at + size], "little")
        values: tuple[int, ...] = (
            0,
            1,
            (1 << 8 * size) - 1,
            1 << (8 * size - 1),
            old ^ (1 << rng.randrange(8 * size)),
            old + 1,
            old - 1,
        )
        values += (len(data), len(data) - 1, at, rng.getrandbits(8 * size), rng.randrange(4096))
        values += (int.from_bytes(result[other : other + size], "little"), old << rng.randrange(40))
        result[at : at + size] = (rng.choice(values) % (1 << 8 * size)).to_bytes(size, "little")
    if rng.random() < 0.05:
        at = rng.randrange(len(result))
        result[at : at + 64] = rng.randbytes(len(result[at : at + 64]))
    if rng.random() < 0.05:
        del result[rng.randrange(len(result)) :]
    return bytes(result)


def wish(rng: random.Random) -> DynamicEdit:
    """Make a search path by chance."""
    return DynamicEdit(rng.choice((("short",), ("$ORIGIN", LONG), ())))


def check(data: bytes, path: DynamicEdit) -> str:
    """Ask for an edit of a file; returns what came of it. Raises FindingError, or whatever the library raised."""
    try:
        return _answer(io.BytesIO(data), path)
    except ElfError as error:
        if not (0 <= error.offset <= len(data) and error.reason and error.path == "damaged"):
            raise FindingError(f"an error without place or reason: {error!r}") from error
        return "error"


def _answer(file: io.BytesIO, path: DynamicEdit) -> str:
    elf: ElfFile = read_elf(file, "damaged")
    if refusal(elf) is not None:
        return "refused"
    patch = plan_patch(elf, file, path)
    if sum(len(chunk) for chunk in patch.chunks(file)) != patch.size or patch.source_size != elf.size:
        raise FindingError("the patch does not give what it says")
    result = open_patched(patch, file)
    if not plan_patch(read_elf(result, "damaged"), result, path).is_identity:
        raise FindingError("wishing it again changes more")
    return patch.strategy.value


def fuzzer(seeds: Sequence[bytes]) -> Fuzzer[tuple[bytes, DynamicEdit]]:
    """Return the fuzzer that damages these files."""
    fields = [structures(data) for data in seeds]

    def make(rng: random.Random) -> tuple[bytes, DynamicEdit]:
        which = rng.randrange(len(seeds))
        return damage(seeds[which], fields[which], rng), wish(rng)

    return Fuzzer(make, lambda case: check(*case), content=lambda case: case[0], suffix=".elf")


if __name__ == "__main__":
    own = [sample.build() for sample in SAMPLES]
    sys.exit(main(lambda files: fuzzer([*own, *files]), __doc__, count=200_000))
