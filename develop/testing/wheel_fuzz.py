"""Feeds damaged wheels to the verifier.

    python3 -m develop.testing.wheel_fuzz --count 50000 [--seed 1] [--save FOLDER] [FILE...]

Each round takes a sample, or one of the wheels named, and damages it: bytes of the archive's own structures, or of the
files in it, which are then packed again so that the damage gets as far as the check for them. The answer must be
findings, which every form of the report can hold, or a ToolError; nothing may take over a second.
"""

import random
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import Final

from develop.testing.device_sample import HOST, PREFIX, Part, bundle
from develop.testing.device_sample import Sample as DeviceSample
from develop.testing.device_windows import windows_library
from develop.testing.elf_sample import Sample as ElfSample
from develop.testing.fuzzing import FindingError, Fuzzer, main
from develop.testing.pe_sample import Sample as PeSample
from develop.testing.wheel_sample import Sample, make_record, zipped
from lib.common.program import ToolError
from wheels.verify import registry
from wheels.verify.engine import Request, verify
from wheels.verify.finding import Severity
from wheels.verify.report import render, render_sarif

BUNDLE: Final = bundle(
    [(HOST, b""), (f"{PREFIX}gfx1030", b"first"), (f"{PREFIX}gfx90a:xnack+", b"second" * 9)], align=16
)
SAMPLES: Final = (
    Sample(
        {
            "sample/__init__.py": b"x = 1\n",
            "sample/lib/liba.so.1": ElfSample(
                soname="liba.so.1", rpath="$ORIGIN", needed=("libb.so", "libc.so.6")
            ).build(),
            "sample/lib/libb.so": ElfSample(
                soname="libb.so", versions=(("libc.so.6", ("GLIBC_2.2.5", "GLIBC_2.17")),)
            ).build(),
            "sample-1.0.dist-info/entry_points.txt": b"[console_scripts]\nsample = sample:main\n",
        },
        tag="py3-none-manylinux_2_17_x86_64.manylinux2014_x86_64",
    ),
    Sample({"sample/libhip.so": DeviceSample((Part(BUNDLE),)).build(), "sample/kernels/a.hsaco": BUNDLE}),
    Sample(
        {"sample/hip.dll": windows_library([BUNDLE]), "sample/a.exe": PeSample(dll=False).build()},
        tag="py3-none-win_amd64",
    ),
    Sample({"sample/data.txt": b"/home/user/x ghp_" + b"a1" * 18 + b"\n", "sample/big": bytes(100_000)}),
)
RULES: Final = registry.rules()


def damaged(data: bytes, rng: random.Random, places: range) -> bytes:
    """Make a copy with a few bytes, or the length, changed in these places."""
    result = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 3, 8))):
        at, size = rng.choice(places), rng.choice((1, 1, 2, 4, 8))
        old, limit = int.from_bytes(result[at : at + size], "little"), 1 << 8 * size
        values: tuple[int, ...] = (0, 1, limit - 1, limit >> 1, old ^ (1 << rng.randrange(8 * size)), old + 1, old - 1)
        values += (len(data), at, rng.getrandbits(8 * size), rng.randrange(4096))
        result[at : at + size] = (rng.choice(values) % limit).to_bytes(size, "little")[: len(result) - at]
    if rng.random() < 0.05:
        del result[rng.randrange(len(result)) :]
    if rng.random() < 0.05:
        at = rng.choice(places)
        result[at:at] = result[at : at + rng.randrange(1, 64)]
    return bytes(result)


def damage_structure(data: bytes, rng: random.Random) -> bytes:
    """Damage the archive: its directory at the end, or any place, headers and compressed bytes."""
    directory = int.from_bytes(data[-6:-2], "little")
    behind = range(directory, len(data)) if rng.random() < 0.7 and directory < len(data) else range(len(data))
    return damaged(data, rng, behind)


def damage_file(data: bytes, rng: random.Random) -> bytes:
    """Damage a file in the wheel, and pack all again; mostly with a RECORD that fits."""
    with zipfile.ZipFile(BytesIO(data)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    name = rng.choice([name for name in members if members[name]])
    members[name] = damaged(members[name], rng, range(len(members[name])))
    record = next(name for name in members if name.endswith("/RECORD"))
    if name != record and rng.random() < 0.8:
        del members[record]
        members[record] = make_record(members, record)
    if rng.random() < 0.1:
        other = rng.choice(("../x", "/x", "a\\b", name.upper(), name + "/x", "con.py", "x" * 300, "\x01", "\udcff"[:0]))
        members[other or "tests/__init__.py"] = b""
    return zipped(members, {name: rng.getrandbits(16)} if rng.random() < 0.1 else None, deflate=rng.random() < 0.5)


def check(data: bytes, path: Path) -> str:
    """Verify a wheel; returns what came of it."""
    path.write_bytes(data)
    try:
        outcome = verify([path], Request(processes=1))
    except ToolError:
        return "refused"
    for finding in outcome.judged.findings:
        if not (finding.evidence and finding.wheel in ("", path.name)):
            raise FindingError(f"a finding without evidence, or about nothing: {finding}")
    if not len(data) % 8:  # They take as long as all else.
        for text in (render(outcome), render_sarif(outcome, RULES)):
            text.encode("utf-8")
    found = {finding.severity for finding in outcome.judged.findings}
    return next((severity.value for severity in Severity if severity in found), "clean")


def fuzzer(files: Sequence[bytes], folder: Path) -> Fuzzer[tuple[str, bytes]]:
    """Return the fuzzer; `folder` is where it writes each damaged wheel."""
    seeds = [(sample.filename, sample.build()) for sample in SAMPLES]
    seeds += [(SAMPLES[0].filename, content) for content in files]

    def make(rng: random.Random) -> tuple[str, bytes]:
        name, content = rng.choice(seeds)
        return name, rng.choice((damage_structure, damage_file))(content, rng)

    return Fuzzer(make, lambda case: check(case[1], folder / case[0]), content=lambda case: case[1], suffix=".whl")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        sys.exit(main(lambda files: fuzzer(files, Path(scratch)), __doc__, count=50_000))
