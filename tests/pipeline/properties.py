"""What is tried with one SDK: the oracle's answer, and that nothing but the SDK decides the bytes."""

import tempfile
from collections.abc import Callable
from pathlib import Path

from tests.pipeline import oracle
from tests.pipeline.artifacts import Variation, write_artifacts
from tests.pipeline.calling import BuildError
from tests.pipeline.expected import expect
from tests.pipeline.package_reader import FindingError
from tests.pipeline.run import Built, Cache, build
from tests.pipeline.sdk import Sdk

#: Where scratch directories are made: in memory, if the machine has such a file system.
SCRATCH = Path("/dev/shm") if Path("/dev/shm").is_dir() else None
PLAIN = Variation(quick=True)
#: Every other way in which the same SDK may come.
VARIATIONS = (
    Variation(file_mode=0o600, program_mode=0o700, time=1, backwards=True, umask=0o077),
    Variation(archive=".tar.gz"),
    Variation(archive=".tar.xz", file_mode=0o640, time=1 << 33),
    Variation(archive=".tar.zst", file_mode=0o664, program_mode=0o775, backwards=True),
)
#: Says what came of an SDK's build, in a directory for what it installs.
Judge = Callable[[Sdk, Path, Built | str], str]


def made(sdk: Sdk, place: Path, variation: Variation = PLAIN, cache: Cache | None = None) -> Built | str:
    """Build an SDK in a directory that is not there yet; return what came, or what the tool printed that refused."""
    place.mkdir()
    write_artifacts(sdk, place / "artifacts", variation)
    return build_or_refusal(sdk, place / "artifacts", place / "build", variation, cache)


def build_or_refusal(sdk: Sdk, artifacts: Path, folder: Path, variation: Variation, cache: Cache | None) -> Built | str:
    """Build artifacts; return what came, or what the tool printed that refused."""
    try:
        return build(sdk, artifacts, folder, variation, cache)
    except BuildError as error:
        return str(error)


def holds(sdk: Sdk) -> str:
    """Check an SDK's build against the oracle; return what came, in a few words. Raises FindingError."""
    with tempfile.TemporaryDirectory(dir=SCRATCH) as scratch:
        return judged(sdk, Path(scratch), made(sdk, Path(scratch) / "one"))


def judged(sdk: Sdk, place: Path, built: Built | str) -> str:
    """Check what came of an SDK against the oracle, and return it in a few words; raises FindingError."""
    expected = expect(sdk, place / "expected")
    if isinstance(built, str):
        return f"refused: {oracle.check_refusal(expected, built)}"
    if "conflict" in expected.may:
        return "unsettled"
    wheels = {name: wheel.file for name, wheel in built.wheels.items()}
    oracle.check_wheels(expected, wheels, place / "site")
    oracle.check_installed(expected, place / "site")
    oracle.check_index(expected, wheels, built.index)
    return f"{len(wheels)} wheels"


def is_reproducible(sdk: Sdk, variation: Variation, judge: Judge = lambda *_: "") -> str:
    """Check that a variation gives the same bytes, or is refused as well; raises FindingError.

    `judge` is asked about the first build, too: its answer is returned.
    """
    with tempfile.TemporaryDirectory(dir=SCRATCH) as scratch:
        place = Path(scratch)
        one = made(sdk, place / "one")
        came = judge(sdk, place, one)
        check_same(one, made(sdk, place / "a longer name", variation), str(variation))
        return came


def second_run_is_fresh(before: Sdk, after: Sdk, judge: Judge = lambda *_: "") -> tuple[str, int]:
    """Check that a build after a change gives what a fresh one gives, where only actions run whose inputs changed.

    Returns what the judge says of the first build, and how many actions did not run. Raises FindingError.
    """
    cache = Cache()
    with tempfile.TemporaryDirectory(dir=SCRATCH) as scratch:
        place = Path(scratch)
        came = judge(before, place, made(before, place / "one", cache=cache))
        cache.hits = 0
        check_same(made(after, place / "fresh"), made(after, place / "second run", cache=cache), "a second run")
        return came, cache.hits


def check_same(one: Built | str, other: Built | str, what: str) -> None:
    """Check that two builds are equal, byte for byte, or refused both; raises FindingError."""
    if isinstance(one, str) or isinstance(other, str):
        if type(one) is not type(other):
            raise FindingError("refused as variation", f"{what}: {one} but {other}")
        return
    for name, wheel in one.wheels.items():
        if wheel.file.read_bytes() != other.wheels[name].file.read_bytes():
            raise FindingError("other bytes", f"{name} with {what}")
    for file in sorted(path.relative_to(one.index) for path in one.index.rglob("*") if path.is_file()):
        if (one.index / file).read_bytes() != (other.index / file).read_bytes():
            raise FindingError("other index", f"{file} with {what}")
