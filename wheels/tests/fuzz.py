"""Feeds damaged files to what the checks over a set take out of bytes.

    python3 -m wheels.tests.fuzz --count 50000 [--seed 1] [--save FOLDER]

Libraries with symbol versions and with device code, archives of device code, development archives, the selector's data
and sdists are damaged in the manner of `develop.testing.device_fuzz`. Each has to be read, or said to be damaged, in
less than a second: nothing is raised but what the reader's callers expect. `develop.testing.wheel_fuzz` does that with
whole wheels.
"""

import io
import json
import lzma
import random
import sys
import tarfile
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from develop.testing.device_fuzz import damage, interesting
from develop.testing.device_sample import compressed
from develop.testing.device_windows import windows_library
from develop.testing.elf_sample import Sample
from develop.testing.fuzzing import Fuzzer, main
from lib.common.distributions import parse_distributions
from wheels.tests.editing import file_member, link_member
from wheels.tests.libraries import fat, kpack, offload_bundle, split_off, using, versioned
from wheels.tests.planted_set import TARGETS, windows_launcher
from wheels.verify.device.facts import read_facts
from wheels.verify.model import FileFacts
from wheels.verify.wheel import read_program
from wheels.verify.wheel_set.devel_archive import read_devel_archive, read_link_manifest
from wheels.verify.wheel_set.gather import COLLECTORS, LINKED, read_sdist
from wheels.verify.wheel_set.requirements import selected_requirements
from wheels.verify.wheel_set.set_checks import read_target

SELECTOR = json.dumps(
    {
        "version": "1.0",
        "layout": "split",
        "targets": ["gfx942", "gfx1100"],
        "default_target": "gfx942",
        "packages": {
            "core": {"distribution": "sdk-core", "tree": "_sdk_core", "import": "sdk_core"},
            "device": {"distribution": "sdk-device-{target}", "tree": "_sdk_libraries"},
        },
    }
).encode()


@dataclass(frozen=True)
class Case:
    """A damaged file of a kind."""

    kind: str
    data: bytes


def _tar(*members: tuple[tarfile.TarInfo, bytes], mode: str = "w") -> bytes:
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w:gz" if mode == "w:gz" else "w", format=tarfile.PAX_FORMAT) as tar:
        for info, data in members:
            tar.addfile(info, io.BytesIO(data))
    return target.getvalue()


DEVEL = _tar(
    file_member("dev/lib/libx.so.1", Sample().build()),
    file_member("dev/" + "long/" * 30 + "naïve.h", b"text"),
    link_member("dev/lib/libx.so", "libx.so.1"),
)
SDIST = _tar(
    file_member("sdk-1.0/PKG-INFO", b"Metadata-Version: 2.4\nName: sdk\nVersion: 1.0\n"),
    file_member("sdk-1.0/src/sdk/_distributions.json", SELECTOR),
    mode="w:gz",
)
SAMPLES: Mapping[str, Sequence[bytes]] = {
    "linked": (versioned("liba.so.1", ("A_1", "A_2")), using("libb.so", "liba.so.1", ("A_1",))),
    "device": (
        fat("libf.so", [offload_bundle(TARGETS), compressed(offload_bundle(TARGETS))]),
        split_off("libs.so", "lib/libs.so", "../.kpack/s_@GFXARCH@.kpack"),
        windows_library([offload_bundle(TARGETS), compressed(offload_bundle(TARGETS))]),
    ),
    "launcher": (windows_launcher("tool.exe"),),
    "kpack": (kpack({"lib/libs.so#0": ["gfx1100"], "lib/libs.so#1": ["gfx90a:xnack+"]}),),
    "devel": (DEVEL,),
    "devel.xz": (lzma.compress(DEVEL),),
    "links": (b'{"version":"1","tree":"_d","trees":["_g"],"links":[{"relpath":"lib/x","target":"../../_c/lib/x"}]}',),
    "selector": (SELECTOR,),
    "sdist": (SDIST,),
}


def _read_linked(data: bytes) -> bool:
    (collector,) = (one for one in COLLECTORS if one.name == LINKED)
    return collector.inspect(io.BytesIO(data), _facts(data, "damaged")) is not None


def _facts(data: bytes, name: str) -> FileFacts:
    return read_program(io.BytesIO(data), FileFacts(name, len(data), 0, ""))


def _read_device(data: bytes, name: str) -> bool:
    facts = read_facts(io.BytesIO(data), _facts(data, name))
    return facts is not None and not facts.damage


def _read_selector(data: bytes) -> bool:
    try:
        return bool(selected_requirements(parse_distributions(data)))
    except ValueError:
        return False


def _read_sdist(data: bytes) -> bool:
    with tempfile.NamedTemporaryFile(suffix=".tar.gz") as file:
        file.write(data)
        file.flush()
        return not read_sdist(Path(file.name)).damage


def _read_launcher(data: bytes) -> bool:
    return read_target(io.BytesIO(data), _facts(data, "damaged.exe")) is not None


READERS: Mapping[str, Callable[[bytes], bool]] = {
    "linked": _read_linked,
    "device": lambda data: _read_device(data, "damaged.so"),
    "launcher": _read_launcher,
    "kpack": lambda data: _read_device(data, "damaged.kpack"),
    "devel": lambda data: not read_devel_archive(io.BytesIO(data), _facts(data, "_devel.tar")).damage,
    "devel.xz": lambda data: not read_devel_archive(io.BytesIO(data), _facts(data, "_devel.tar.xz")).damage,
    "links": lambda data: not read_link_manifest(io.BytesIO(data), _facts(data, "d/.devel_links/devel.json")).damage,
    "selector": _read_selector,
    "sdist": _read_sdist,
}


def check(case: Case) -> str:
    """Read a file; return its kind, and whether it was read."""
    return f"{case.kind} {'read' if READERS[case.kind](case.data) else 'damaged'}"


def fuzzer(files: Sequence[bytes] = ()) -> Fuzzer[Case]:
    """Return the fuzzer; further files are damaged as libraries with device code."""
    seeds = [Case(kind, data) for kind, samples in SAMPLES.items() for data in samples]
    seeds += [Case("device", data) for data in files]
    places = [interesting(seed.data) for seed in seeds]

    def make(rng: random.Random) -> Case:
        which = rng.randrange(len(seeds))
        return Case(seeds[which].kind, damage(seeds[which].data, places[which], rng))

    return Fuzzer(make=make, check=check, content=lambda case: case.data)


if __name__ == "__main__":
    sys.exit(main(fuzzer, __doc__, count=50_000))
