"""Every DLL, EXE and extension module of popular wheels for Windows: what we read is what others read.

    python3 -m tests.e2e.windows.corpus_wheels DIRECTORY
    DIRECTORY/readers/bin/python -B -m tests.e2e.windows.corpus --wheels DIRECTORY/wheels

Run it from the top of the workspace; `.ci/run windows-corpus` does both. The facts that `lib.pe` reads must equal
what lief says: no difference is excused. Each kind of image and table in `KINDS` must be there.
"""

import argparse
import os
import sys
import tempfile
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from lib.pe import constants as c
from lib.pe.model import MACHINES, PeImage
from tests.e2e.windows.readers import Facts, facts_of, lief_facts, ours

#: With fewer images, something was not fetched.
FEWEST = 500
SUFFIXES = (".dll", ".exe", ".pyd")
#: The C++ names that a reader with a limit would cut, in bytes.
LONG_NAME = 512
#: What the corpus is to have, so that the comparison says something about it.
KINDS: dict[str, Callable[[PeImage], bool]] = {
    **{f"for {name}": partial(lambda value, image: image.machine == value, value) for value, name in MACHINES.items()},
    "PE32": lambda image: image.magic == c.PE32,
    "a program with a console": lambda image: not image.is_dll and image.subsystem == c.IMAGE_SUBSYSTEM_WINDOWS_CUI,
    "a program with windows": lambda image: not image.is_dll and image.subsystem == c.IMAGE_SUBSYSTEM_WINDOWS_GUI,
    "managed code": lambda image: image.is_managed,
    "delayed imports": lambda image: bool(image.delayed_libraries),
    "imports by ordinal": lambda image: any(one.name is None for table in image.imports for one in table.symbols),
    "long names": lambda image: any(len(one.name or "") > LONG_NAME for one in image.exports),
    "names of sections in the string table": lambda image: any(len(one.name) > 8 for one in image.sections),
    "code for AMD GPUs": lambda image: any(one.name == ".hip_fat" for one in image.sections),
}


@dataclass(frozen=True)
class Result:
    """What came of an image."""

    differences: tuple[str, ...]
    kinds: tuple[str, ...]


def unpack(wheels: Path, directory: Path) -> Iterator[Path]:
    """Unpack the images of all wheels, each wheel into a directory of its own."""
    for wheel in sorted([*wheels.glob("*.whl"), *wheels.glob("*.zip")]):
        with zipfile.ZipFile(wheel) as archive:
            for name in archive.namelist():
                if name.lower().endswith(SUFFIXES):
                    yield Path(archive.extract(name, directory / wheel.name.partition("-")[0]))


def different(mine: Facts, theirs: Facts) -> Iterator[str]:
    """Yield a text for each fact that differs: of lists, the first member that does."""
    for name, value in theirs.items():
        one, other = mine[name], value
        if one == other:
            continue
        if isinstance(one, list) and isinstance(other, list):
            one, other = (
                [each for each in list_ if each not in rest][:1] for list_, rest in ((one, other), (other, one))
            )
        yield f"{name}: here {one!s:.400}, there {other!s:.400}"


def judge(path: Path) -> Result:
    """Read an image with both readers."""
    try:
        image = ours(path)
    except ValueError as error:
        return Result((f"we cannot read it: {error}",), ())
    try:
        differences = tuple(different(facts_of(image), lief_facts(path)))
    except ValueError as error:
        differences = (str(error),)
    return Result(differences, tuple(kind for kind, is_one in KINDS.items() if is_one(image)))


def main() -> int:
    """Compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wheels", type=Path, required=True, help="directory of the wheels")
    arguments = parser.parse_args()
    kinds: Counter[str] = Counter()
    failed = 0
    with tempfile.TemporaryDirectory(prefix="rocm-corpus-") as scratch, ProcessPoolExecutor(os.cpu_count()) as pool:
        # The biggest first, so that no processor is left alone with one at the end.
        images = sorted(unpack(arguments.wheels, Path(scratch)), key=lambda path: (-path.stat().st_size, path))
        for path, result in zip(images, pool.map(judge, images), strict=True):
            kinds.update(result.kinds)
            failed += bool(result.differences)
            for text in result.differences:
                print(f"{path.relative_to(scratch)}: {text}", flush=True)
    for kind in KINDS:
        print(f"{kinds[kind]:4} {kind}")
    absent = [kind for kind in KINDS if not kinds[kind]]
    print(f"{len(images)} images, {failed} with differences")
    if absent or len(images) < FEWEST:
        print(f"expected {FEWEST} images or more, some of each kind; absent: {', '.join(absent) or 'none'}")
    return int(bool(failed) or bool(absent) or len(images) < FEWEST)


if __name__ == "__main__":
    sys.exit(main())
