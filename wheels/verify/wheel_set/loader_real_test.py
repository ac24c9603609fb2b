"""The loader's rules as we have them, against the loader itself: what it lists for libraries made at random."""

import os
import platform
import random
import re
import subprocess
from pathlib import Path

import pytest

from develop.testing.elf_sample import Sample
from wheels.verify.model import FileFacts
from wheels.verify.wheel import read_program
from wheels.verify.wheel_set.loader import Loader, Places, read_linked
from wheels.verify.wheel_set.model import Linked

LOADER = Path("/lib64/ld-linux-x86-64.so.2")
CASES = 120
DIRECTORIES = ("one/lib", "one/lib/deep", "two/lib", "two/bin")
NAMES = ("liba.so", "libb.so", "libc1.so", "libd.so", "libe.so")
ENTRIES = (
    "$ORIGIN",
    "${ORIGIN}/../lib",
    "$ORIGIN/deep",
    "$ORIGIN/../../one/lib",
    "$ORIGIN/../../two/lib",
    "$ORIGIN/./gone",
)


def entries(rng: random.Random) -> str | None:
    """Return a search path, mostly one."""
    chosen = rng.sample(ENTRIES, rng.choice((0, 1, 1, 2, 3)))
    return ":".join(chosen) or None


def make(root: Path, rng: random.Random) -> dict[str, Linked]:
    """Make libraries in directories; return their records by path."""
    found = {}
    for directory in DIRECTORIES:
        (root / directory).mkdir(parents=True)
        for name in rng.sample(NAMES, rng.choice((1, 2, 3))):
            soname = rng.choice((name, name, None, rng.choice(NAMES)))
            rpath = entries(rng)
            runpath = entries(rng) if rng.random() < 0.3 else None
            needed = tuple(rng.sample(NAMES, rng.choice((0, 1, 2))))
            sample = Sample(soname=soname, needed=needed, rpath=rpath, runpath=runpath, versions=())
            path = root / directory / name
            path.write_bytes(sample.build())
            with path.open("rb") as file:
                facts = FileFacts(f"{directory}/{name}", path.stat().st_size, 0, "")
                linked = read_linked(file, read_program(file, facts))
            assert linked
            found[linked.path] = linked
    return found


def real(root: Path, path: str) -> set[tuple[str, str | None]]:
    """Return what the loader takes for each name, None for nothing."""
    environment = {"LD_TRACE_LOADED_OBJECTS": "1"}
    command: list[str | Path] = [LOADER, "--inhibit-cache", root / path]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    taken = re.findall(r"^\t(\S+) => (.+?) \(0x[0-9a-f]+\)$", done.stdout, re.MULTILINE)
    lost = re.findall(r"^\t(\S+) => not found$", done.stdout, re.MULTILINE)
    places = {(name, os.path.relpath(os.path.realpath(place), root)) for name, place in taken}
    return places | {(name, None) for name in lost}


@pytest.mark.skipif(
    platform.machine() != "x86_64" or not LOADER.exists(), reason="this machine has no glibc loader for x86_64"
)
@pytest.mark.parametrize("seed", range(CASES // 10))
def test_the_loader_takes_the_same(seed: int, tmp_path: Path) -> None:
    told = 0
    for number in range(10):
        root = tmp_path / str(number)
        linked = make(root, random.Random(f"{seed}-{number}"))
        loader = Loader(linked, Places(linked, {}), lambda name: False)
        for path in sorted(linked):
            loading = loader.load(path)
            ours = {(name, taken) for (_, name), taken in loading.found.items() if taken != path}
            ours |= {(missing.name, None) for missing in loading.missing}
            theirs = {(name, taken) for name, taken in real(root, path) if taken != path}
            assert {taken for _, taken in ours} == {taken for _, taken in theirs}, (path, linked, ours, theirs)
            assert {name for name, taken in ours if taken is None} == {name for name, taken in theirs if taken is None}
            told += len(ours)
    assert told > 50
