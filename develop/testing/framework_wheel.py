"""Small wheels for tests: an SDK of two packages, and a wheel whose libraries need it in every way there is."""

import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from develop.testing.elf_sample import Sample as ElfSample
from develop.testing.wheel_sample import METADATA, Sample
from wheels.require_sdk import tool
from wheels.require_sdk.device import InitPy

VERSION: Final = "7.10.0.dev0"
#: What the local version of wheels says that require it.
LABEL: Final = "sdk.7.10.0.dev.0"
HIP: Final = ("hipMalloc", "hipFree")
BLAS: Final = ("blas_create", "blas_gemm")
GRAFTED: Final = "libhip-1a2b3c4d.so.7.1.2"
RPATH: Final = "$ORIGIN:$ORIGIN/../../_sdk_core/lib"


def library(
    soname: str | None,
    needed: Sequence[str] = (),
    symbols: Sequence[str] = (),
    undefined: Sequence[str] = (),
    rpath: str | None = None,
) -> bytes:
    """Return a library that needs others, and symbols of them without versions."""
    return ElfSample(
        soname=soname, needed=(*needed, "libc.so.6"), symbols=tuple(symbols), undefined=tuple(undefined), rpath=rpath
    ).build()


CORE: Final = Sample(
    {
        "_sdk_core/__init__.py": b"",
        "_sdk_core/lib/libhip.so.7": library("libhip.so.7", symbols=HIP),
        "_sdk_core/lib/llvm/lib/libllvm.so.20": library("libllvm.so.20"),
        "_sdk_core/lib/llvm/lib/libgomp.so.1": library("libgomp.so.1"),
    },
    name="sdk_core",
    version=VERSION,
)
MATH: Final = Sample(
    {"_sdk_math/lib/libblas.so.5": library("libblas.so.5", ["libhip.so.7"], BLAS, ["hipMalloc"], RPATH)},
    name="sdk_math",
    version=VERSION,
    metadata=METADATA.replace("Summary", f"Requires-Dist: sdk-core=={VERSION}\nSummary"),
)
FILES: Final = {
    "acme/__init__.py": b"x = 1\n",
    "acme/lib/libkernels.so": library(
        "libkernels.so", ["libblas.so.5", "libhip.so.7"], ["kernel"], ["blas_gemm", "hipMalloc"], "$ORIGIN:/opt/sdk/lib"
    ),
    "acme/_ext.so": library(None, ["libkernels.so"], ["PyInit__ext"], ["kernel", "PyLong_FromLong"], "$ORIGIN/lib"),
    "acme/plain.so": library(None),
    "acme-1.0.data/platlib/acme_more.so": library(None, ["libhip.so.7"], [], ["hipFree"]),
    "acme-1.0.data/scripts/acme": b"#!python\nimport acme\n",
}
#: A wheel that expects the SDK on the machine.
EXPECTS: Final = Sample(FILES, name="acme", modes={"acme/lib/libkernels.so": 0o100755})
#: A wheel with a copy of a library of the SDK, as auditwheel grafts it, and a plain one of another.
BUNDLES: Final = Sample(
    {
        "acme/__init__.py": b"x = 1\n",
        "acme/_ext.so": library(
            None, [GRAFTED, "libblas.so.5"], ["PyInit__ext"], ["hipMalloc", "blas_create"], "$ORIGIN/../acme.libs"
        ),
        f"acme.libs/{GRAFTED}": library(GRAFTED, symbols=HIP),
        "acme.libs/libblas.so.5": library("libblas.so.5", [GRAFTED], BLAS, ["hipMalloc"], "$ORIGIN"),
        "acme.libs/libold.so.1": library("libold.so.1", [GRAFTED], [], ["hipFree"], "$ORIGIN"),
    },
    name="acme",
)
INIT_PY: Final = InitPy(
    "_sdk_init.py", "sdk", lambda names, version: f"NEEDED = {names!r}\nVERSION = {version!r}\n", "sdk-blas"
)


def math_for(target: str, more: int = 0) -> Sample:
    """Return the package for one GPU, with a library that is so many bytes larger."""
    files = {path.replace("_sdk_math", f"_sdk_math_{target}"): data + bytes(more) for path, data in MATH.files.items()}
    return Sample(files, name=f"sdk_math_{target}", version=MATH.version, metadata=MATH.metadata)


def written(folder: Path, sample: Sample) -> Path:
    """Write a sample into a folder; returns its path."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / sample.filename
    path.write_bytes(sample.build())
    return path


def sdk(folder: Path, *samples: Sample) -> Path:
    """Write the SDK's wheels into a folder of their own; returns it."""
    for sample in samples or (CORE, MATH):
        written(folder / "sdk", sample)
    return folder / "sdk"


def run(folder: Path, sample: Sample, *options: str) -> int:
    """Run the command on a sample, with the SDK in `folder` and its output in `folder/out`; returns its status."""
    if not (folder / "sdk").exists():
        sdk(folder)
    wheel = written(folder / "in", sample)
    return tool.main([str(wheel), f"--sdk={folder / 'sdk'}", f"--output={folder / 'out'}", *options], INIT_PY)


def made(folder: Path) -> Path:
    """Return the one wheel that was written."""
    [path] = (folder / "out").glob("*.whl")
    return path


def content(path: Path) -> dict[str, bytes]:
    """Return the files of a wheel, in the archive's order."""
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}
