"""What a split comes to, for people and as JSON: bytes to download and bytes when installed, before and after."""

import json
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from lib.common.command import some
from lib.common.program import size_text, write_document
from wheels.common.output_directory import full_disk
from wheels.common.sound_wheel import SoundWheel
from wheels.split.plan import ThinWheel
from wheels.verify.device.stray_code import stray_code


@dataclass(frozen=True)
class Size:
    """Bytes of a wheel: the file, and the files in it."""

    download: int
    installed: int

    def text(self, before: "Size | None" = None) -> str:
        """Return both for people, with parts of what they were before."""
        download, installed = (
            size_text(now) + (f" ({_part(now, then)})" if before else "")
            for now, then in ((self.download, (before or self).download), (self.installed, (before or self).installed))
        )
        return f"{download}, installed {installed}"


@dataclass(frozen=True)
class ThinSize:
    """A thin wheel: its group's label or `host`, its path below the output directory, and its size."""

    label: str
    path: str
    size: Size


@dataclass(frozen=True)
class SplitSizes:
    """A fat wheel, and those that were made of it."""

    wheel: str
    size: Size
    thin: tuple[ThinSize, ...]

    def document(self) -> dict[str, Any]:
        """Return it for JSON."""
        thin = [{"label": one.label, "path": one.path, **asdict(one.size)} for one in self.thin]
        return {"wheel": self.wheel, **asdict(self.size), "thin": thin}

    def lines(self) -> Iterator[str]:
        """Yield lines for people."""
        yield f"{self.wheel}: {self.size.text()}"
        for one in self.thin:
            yield f"  {one.path}: {one.size.text(self.size)}"


def _part(now: int, then: int) -> str:
    return f"{100 * now / then:.0f}%" if then else "0%"


def size_of(path: Path) -> Size:
    """Return the size of a wheel that this command wrote."""
    with zipfile.ZipFile(path) as archive:
        return Size(path.stat().st_size, sum(member.file_size for member in archive.infolist()))


def measure(fat: SoundWheel, plans: Sequence[ThinWheel], folder: Path) -> SplitSizes:
    """Return the sizes of a fat wheel and of its thin ones, which lie at their places below a folder."""
    thin = tuple(ThinSize(plan.label, plan.place, size_of(folder / plan.place)) for plan in plans)
    before = Size(fat.wheel.size, sum(file.size for file in fat.wheel.files.values()))
    return SplitSizes(fat.path.name, before, thin)


def write_report(path: Path, sizes: Sequence[SplitSizes]) -> None:
    """Write a report: a JSON document if the name ends so, else text. Raises ToolError if the disk is full."""
    document = {"wheels": [one.document() for one in sizes]} if path.suffix == ".json" else None
    text = "".join(f"{line}\n" for one in sizes for line in one.lines())
    needed = len(text if document is None else json.dumps(document, indent=1))
    with full_disk(path, needed, "The wheels are written: choose another --size-report"):
        if document is not None:
            write_document(str(path), document)
        else:
            path.write_text(text, encoding="utf-8")


def describe(fat: SoundWheel, plans: Sequence[ThinWheel], sizes: SplitSizes) -> Iterator[str]:
    """Yield lines: the fat wheel, what of it cannot be split, and each thin one with what it lacks."""
    first, *lines = sizes.lines()
    yield first
    yield from fat.record_lines()
    yield from (f"    device code that stays whole: {one}" for one in stray_code(fat.wheel))
    for plan, line in zip(plans, lines, strict=True):
        yield line
        if plan.left_out:
            yield f"    without {some(plan.left_out)}: for other GPUs"
        for target in sorted({target for file in plan.files for target in file.absent}):
            lacking = [file.path for file in plan.files if target in file.absent]
            yield f"    no code for {target} in {some(lacking)}"
