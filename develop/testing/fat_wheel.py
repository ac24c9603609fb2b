"""Small fat wheels for tests and fuzzing: one file of every form of device code, and of everything a wheel can have.

(folder / FAT.filename).write_bytes(FAT.build())
"""

import zipfile
from collections.abc import Mapping
from pathlib import Path
from struct import pack
from typing import Final

from develop.testing.device_sample import HOST, PREFIX, Part, bundle, compressed
from develop.testing.device_sample import Sample as DeviceSample
from develop.testing.wheel_sample import Sample
from lib.device.model import Method
from lib.elf import constants as c

TARGETS: Final = ("gfx942", "gfx1030", "gfx1100", "gfx1101")
METADATA: Final = """\
Metadata-Version: 2.4
Name: acme
Version: 1.0
Summary: A sample
License-Expression: MIT
License-File: LICENSE
Requires-Dist: numpy>=1
Requires-Dist: pytest; extra == "test"
Provides-Extra: test
Description-Content-Type: text/markdown

# Acme

It solves.
"""


def code(target: str, size: int = 3000) -> bytes:
    """Return bytes that stand for the code object of a target."""
    return (target.encode() * size)[:size]


def plain(targets: tuple[str, ...] = TARGETS) -> bytes:
    """Return a bundle."""
    return bundle([(HOST, b""), *((PREFIX + target, code(target)) for target in targets)])


def library(*bundles: bytes) -> bytes:
    """Return a library with these bundles."""
    return DeviceSample(tuple(Part(one) for one in bundles)).build()


def code_object(machine: int) -> bytes:
    """Return the ELF header of a code object for the processor with this number, and nothing else."""
    fields = (c.ET_DYN, c.EM_AMDGPU, 1, 0, 0, 0, machine, 64, 56, 0, 64, 0, 0)
    return b"\x7fELF\2\1\1\x40\4".ljust(16, b"\0") + pack("<HHIQQQIHHHHHH", *fields)


FILES: Final[Mapping[str, bytes]] = {
    "acme/__init__.py": b"x = 1\n",
    "acme/empty.py": b"",
    "acme/gfx1030.py": b"# Python for a target is of the host.\n",
    "acme/lib/libacme.so": library(plain(), plain()),
    "acme/lib/libpacked.so": library(compressed(plain()), compressed(plain(), 3, Method.ZSTD)),
    "acme/kernels/all.hipfb": plain(),
    "acme/kernels/old.hipfb": plain(("gfx1030", "gfx1031")),
    "acme/kernels/gfx942/flatmm_gfx9.co": code_object(0x4C),
    "acme/kernels/anonymous.hsaco": code_object(0x41),
    "acme/kernels/Tensile_gfx1100.dat": b"table of gfx1100",
    "acme/kernels/Tensile_gfx1030.dat": b"table of gfx1030",
    "acme/kernels/Tensile.dat": b"table of all",
    "acme.libs/libgomp-a34b3233.so.1.0.0": DeviceSample().build(),
    "acme-1.0.data/scripts/acme": b"#!python\nimport acme\n",
    "acme-1.0.data/purelib/acme_more.py": b"y = 2\n",
    "acme-1.0.dist-info/METADATA": METADATA.encode(),
    "acme-1.0.dist-info/entry_points.txt": b"[console_scripts]\nacme2 = acme:main\n",
    "acme-1.0.dist-info/sboms/auditwheel.cdx.json": b"{}\n",
}
#: A wheel with all of these; the script may be executed.
FAT: Final = Sample(
    FILES,
    name="acme",
    tag="cp311-cp311-manylinux_2_17_x86_64.manylinux2014_x86_64",
    modes={"acme-1.0.data/scripts/acme": 0o100755},
)
#: A wheel of Python without requirements, with code for both settings of a feature, and for more kinds of GPUs.
VARIANTS: Final = Sample(
    {
        "acme/__init__.py": b"x = 1\n",
        "acme/lib.so": library(plain(("gfx942:xnack+", "gfx942:xnack-", "gfx1030", "gfx1100", "gfx1101", "gfx1250"))),
    },
    name="acme",
)
#: What VARIANTS is split by, and the labels of the wheels that suit a machine with these GPUs, best first.
WORDS: Final = "gfx942,gfx1100,gfx110X-all,gfx1250"
MACHINES: Final[Mapping[str, tuple[str, ...]]] = {
    "gfx942": ("gfx942",),
    "gfx942,gfx942": ("gfx942",),
    "gfx942,gfx1100": ("gfx942", "gfx1100", "gfx110x_all"),
    "gfx1100,gfx942": ("gfx1100", "gfx110x_all", "gfx942"),
    "gfx1100": ("gfx1100", "gfx110x_all"),
    "gfx1101": ("gfx110x_all",),
    "gfx1103": ("gfx110x_all",),
    "gfx1250": ("gfx1250",),
    "gfx1250-strict": ("gfx1250",),
    "gfx1030": (),
    "gfx1030,gfx1101": ("gfx110x_all",),
    "": (),
}


def written(folder: Path, sample: Sample = FAT) -> Path:
    """Write a sample into a folder; returns its path."""
    path = folder / sample.filename
    path.write_bytes(sample.build())
    return path


def content(path: Path) -> dict[str, bytes]:
    """Return the files of a wheel, in the archive's order."""
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}
