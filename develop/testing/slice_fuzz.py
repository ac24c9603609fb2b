"""Feeds damaged libraries and bundle files to the slicer.

    python3 -m develop.testing.slice_fuzz --count 100000 [--seed 1] [--save FOLDER] [FILE...]

Each round takes a sample (see `develop.testing.device_sample`) or one of the files, damages it, and asks for a slice.
The answer must be a `DeviceError` with an offset inside the file, or a slice that `develop.testing.slice_check` has
nothing to say against. `develop.testing.fuzzing` has what else must hold.
"""

import io
import random
import sys
from collections.abc import Sequence

from develop.testing.device_fuzz import SAMPLES, damage, interesting
from develop.testing.device_sample import HOST, PREFIX, First, Part, Sample, bundle, compressed
from develop.testing.fuzzing import FindingError, Fuzzer, main
from develop.testing.slice_check import differences
from lib.device.model import DeviceError, Pointer, device_errors
from lib.device.reader import read_device_code
from lib.device.slice import plan_slice
from lib.device.slice_plan import missing_targets
from lib.gpus.target_id import TargetId, parse_target_id

TARGETS = tuple(map(parse_target_id, ("gfx1030", "gfx90a", "gfx90a:xnack-", "gfx1100", "gfx906")))
_LARGE = bundle([(HOST, b""), *((f"{PREFIX}{name}", b"code" * 1100) for name in ("gfx1030", "gfx1100", "gfx90a"))])
SLICE_SAMPLES = (
    *SAMPLES,
    Sample((Part(_LARGE), Part(_LARGE, Pointer.SYMBOL)), first=First.BUILD_ID).build(),
    Sample((Part(_LARGE, Pointer.RELR), Part(_LARGE, Pointer.RELR)), first=First.DATA).build(),
    Sample((Part(compressed(_LARGE)), Part(compressed(_LARGE, 3), Pointer.RELR)), first=First.BUILD_ID).build(),
)


def check(data: bytes, targets: Sequence[TargetId]) -> str:
    """Ask for a slice of a file; returns what came of it. Raises FindingError, or whatever the slicer raised."""
    file, out = io.BytesIO(data), io.BytesIO()
    try:
        absent = missing_targets(read_device_code(file, "damaged"), targets)
        patch = plan_slice(file, "damaged", targets, absent)
        with device_errors():
            for chunk in patch.chunks(file):
                out.write(chunk)
    except DeviceError as error:
        if not (0 <= error.offset <= len(data) and error.reason and error.path == "damaged"):
            raise FindingError(f"an error without place or reason: {error!r}") from error
        return "error"
    if len(out.getvalue()) != patch.size or patch.source_size != len(data):
        raise FindingError("the patch does not give what it says")
    if patch.is_identity:
        return patch.strategy.value
    try:
        found = list(differences(file, out, targets))
    except DeviceError as error:
        if error.path == "old":  # A compressed bundle that is damaged, and kept whole or not at all.
            return "unread"
        raise
    if found:
        raise FindingError(f"a wrong slice: {found}")
    if not plan_slice(out, "damaged", targets, absent).is_identity:
        raise FindingError("slicing it again changes more")
    return patch.strategy.value


def fuzzer(seeds: Sequence[bytes]) -> Fuzzer[tuple[bytes, list[TargetId]]]:
    """Return the fuzzer that damages these files."""
    places = [interesting(data) for data in seeds]

    def make(rng: random.Random) -> tuple[bytes, list[TargetId]]:
        which = rng.randrange(len(seeds))
        return damage(seeds[which], places[which], rng), rng.sample(TARGETS, rng.choice((1, 1, 2)))

    return Fuzzer(make, lambda case: check(*case), content=lambda case: case[0])


if __name__ == "__main__":
    sys.exit(main(lambda files: fuzzer([*SLICE_SAMPLES, *files]), __doc__, count=100_000))
