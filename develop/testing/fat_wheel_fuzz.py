"""Feeds damaged wheels to rocm-wheels split.

    python3 -m develop.testing.fat_wheel_fuzz --count 20000 [--seed 1] [--save FOLDER] [FILE...]

Wheels are damaged as `develop.testing.wheel_fuzz` damages them: the archive's structures, or files in it. The answer
must be an error, and then nothing is written; or thin wheels without an error that the damaged wheel does not have, and
with the code objects that it has for their GPU.
"""

import random
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from io import BytesIO, StringIO
from pathlib import Path
from typing import Final

from develop.testing.fat_wheel import FAT
from develop.testing.fuzzing import FindingError, Fuzzer, main
from develop.testing.wheel_fuzz import damage_file, damage_structure
from lib.device.content import digests
from lib.device.model import DeviceError
from lib.device.reader import read_device_code
from lib.gpus.target_id import TargetId, can_load
from lib.wheel.member_file import MemberReader
from wheels.split import tool
from wheels.verify.engine import Request, verify
from wheels.verify.finding import Severity
from wheels.verify.wheel import open_wheel

TARGET: Final = TargetId("gfx1100")
SHAPES: Final = ("local-versions", "wheel-variants")


def errors(paths: Sequence[Path]) -> set[str]:
    """Return the rules that wheels break by errors."""
    outcome = verify(paths, Request(processes=1, wheel_set=False))
    return {one.id for one in outcome.judged.findings if one.severity is Severity.ERROR}


def code_objects(path: Path) -> Iterator[tuple[str, str]]:
    """Yield path and digest of each code object that the target can load, in libraries and bundles."""
    with path.open("rb") as wheel:
        for member in open_wheel(path).to_read:
            name, file = member.name, BytesIO(b"".join(MemberReader(wheel, member).chunks()))
            try:
                device = read_device_code(file, name)
            except DeviceError:  # A damaged ELF file stays as it is.
                continue
            for bundle in device.bundles:
                found = digests(file, device, bundle).items()
                targets = ((code.entry.target, digest) for code, digest in found if code.size)
                yield from ((name, digest) for target, digest in targets if target and can_load(target, TARGET))


def check(data: bytes, shape: str, path: Path) -> str:
    """Split a wheel; returns what came of it."""
    path.write_bytes(data)
    output = path.parent / "thin"
    shutil.rmtree(output, ignore_errors=True)
    with redirect_stdout(StringIO()), redirect_stderr(StringIO()) as said:
        status = tool.main([str(path), f"--targets={TARGET}", f"--output={output}", f"--shape={shape}"])
    if status:
        if output.exists() or not said.getvalue().startswith("rocm-wheels split: "):
            raise FindingError(f"refused, but with {sorted(output.rglob('*'))}, {said.getvalue()!r}")
        return "refused"
    thin = sorted(one for one in output.rglob("*.whl") if one.name != path.name)
    if more := errors(thin) - errors([path]):
        raise FindingError(f"the thin wheels break {sorted(more)}, the fat one does not")
    kept = [code for one in thin for code in code_objects(one)]
    if sorted(kept) != sorted(code_objects(path)):
        raise FindingError(f"other code objects: {kept}")
    return "split"


def fuzzer(files: Sequence[bytes], folder: Path) -> Fuzzer[tuple[str, str, bytes]]:
    """Return the fuzzer; `folder` is where it writes each damaged wheel."""
    seeds = [(FAT.filename, shape, FAT.build()) for shape in SHAPES]
    seeds += [(FAT.filename, SHAPES[0], content) for content in files]

    def make(rng: random.Random) -> tuple[str, str, bytes]:
        name, shape, content = rng.choice(seeds)
        return name, shape, rng.choice((damage_structure, damage_file))(content, rng)

    return Fuzzer(
        make, lambda case: check(case[2], case[1], folder / case[0]), content=lambda case: case[2], suffix=".whl"
    )


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        sys.exit(main(lambda files: fuzzer(files, Path(scratch)), __doc__, count=20_000))
