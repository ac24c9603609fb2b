"""Packages as plan, pack, inspect and link describe them, for the tests.

sample = Sample(directory).add(package("core", "rocm_sdk_core", [held]))
report = sample.build()
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from lib.pack.segment import Packed, SegmentIndex
from lib.plan.model import Entry, Kind, Plan, Treatment
from tools.actions.size_report.measure import MeasuredPackage
from tools.actions.size_report.tool import main

STYLE = Path(__file__).parents[2] / "lib/index/page.css"
LIBRARY = "elf-library"


@dataclass(frozen=True)
class File:
    """A file of an artifact, and what becomes of it in a package."""

    path: str
    #: Bytes in the package; None if it does not have the file.
    size: int | None
    #: What inspect says of the file of the artifact.
    facts: dict[str, Any] = field(default_factory=lambda: {"type": "data"})
    slice: tuple[str, ...] | None = None
    treatment: Treatment = Treatment.KEEP

    @property
    def source(self) -> str:
        """The file as plans and facts name it."""
        return f"blas_lib_all/stage/{self.path}"

    def entry(self) -> Entry:
        """Return the entry of a plan."""
        return Entry(self.path, Kind.FILE, self.treatment, "sample", self.source, slice=self.slice)

    def packed(self) -> Packed:
        """Return the entry of an index."""
        return Packed(self.path, "0644", 0, 1, self.size or 0, 0, "0" * 64)


def other(path: str, facts: dict[str, Any] | None = None) -> File:
    """Return a file that is for other targets than its package."""
    return File(path, None, facts or {"type": "data"}, treatment=Treatment.OTHER_TARGET)


def library(path: str, size: int, device: dict[str, int], *, held: int | None = None, **options: Any) -> File:
    """Return a library of `size` bytes, of which a package holds some if it is sliced."""
    return File(path, size if held is None else held, {"type": LIBRARY, "size": size, "device": device}, **options)


def wheel_name(project: str) -> str:
    """Return the name of a wheel."""
    return f"{project}-7.0-py3-none-linux_x86_64.whl"


def package(name: str, project: str, files: Iterable[File], download: int = 1000) -> MeasuredPackage:
    """Return what is known of a package."""
    every = list(files)
    return MeasuredPackage(
        plan=Plan(name, f"_{project}", per_target=False, entries=tuple(one.entry() for one in every)),
        packed={one.path: one.packed() for one in every if one.size is not None},
        facts={one.source: one.facts for one in every},
        filename=wheel_name(project),
        download=download,
    )


MB = 1_000_000
#: Of one library and one file for each target.
DEVICE = {"gfx1030": 350 * MB, "gfx90a:xnack+": 60 * MB, "gfx90a:xnack-": 50 * MB}


def thin(target: str, others: Sequence[str], held: int) -> MeasuredPackage:
    """Return a thin package; `held` are the bytes of its sliced library."""
    return package(
        f"libraries_{target}",
        f"rocm_sdk_libraries_{target}",
        [
            library("lib/librocblas.so.4", 500 * MB, DEVICE, held=held, slice=(target,), treatment=Treatment.PATCH),
            File(f"lib/rocblas/Kernels_{target}.co", 7 * MB),
            *(other(f"lib/rocblas/Kernels_{one}.co") for one in others),
            File("share/doc/readme", 1 * MB),
        ],
        download=100 * MB,
    )


def thin_sdk() -> list[MeasuredPackage]:
    """Return core and two thin packages."""
    core = package("core", "rocm_sdk_core", [library("lib/libamdhip64.so.6", 20 * MB, {})], download=8 * MB)
    return [core, thin("gfx1030", ["gfx90a"], 395 * MB), thin("gfx90a", ["gfx1030"], 155 * MB)]


class Sample:
    """Packages in a directory, and the arguments that name them to the tool."""

    def __init__(self, directory: Path) -> None:
        """Begin without any."""
        self.directory = directory
        self.arguments = ["--label=//:size_report", f"--style={STYLE}"]
        self.arguments += [f"--{kind}={self.output(kind)}" for kind in ("html", "json")]

    def output(self, kind: str) -> Path:
        """Return where the tool writes a kind of report."""
        return self.directory / f"size_report.{kind}"

    def add(self, one: MeasuredPackage) -> Self:
        """Add a package; its files are in one unit."""
        key = one.plan.package
        documents = {
            "plan": one.plan.to_document(),
            "digest": {"filename": one.filename, "size": one.download, "sha256": "0" * 64},
            "index": SegmentIndex(tuple(one.packed.values()), {}).to_document(),
            "facts": {"artifact": "blas_lib_all", "unit": "small", "files": one.facts},
        }
        for kind, document in documents.items():
            path = self.directory / f"{key}.{kind}.json"
            path.write_text(json.dumps(document))
            self.arguments.append(f"--{kind}={key}={path}")
        return self

    def run(self) -> int:
        """Run the tool; return its exit code."""
        return main(self.arguments)

    def build(self) -> dict[str, str]:
        """Run the tool, which has to succeed; return what it wrote, by kind."""
        assert self.run() == 0
        return {kind: self.output(kind).read_text(encoding="utf-8") for kind in ("html", "json")}
