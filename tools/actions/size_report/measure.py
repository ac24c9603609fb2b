"""Measures a package: from its plan, the indexes of its segments, and the facts of what it is made from.

    reports = measure([Package(plan, packed, facts, "rocm_sdk_core-7.0-py3-none-linux_x86_64.whl", 1_000_000)])

Nothing of bulk is read: what pack and inspect wrote says it all. Pure functions.

Facts have the bytes of code objects inflated. Where an offload bundle is compressed, they may so be more than the file
has: then the file's bytes are shared out among them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from packaging.utils import parse_wheel_filename

from lib.common.program import ToolError
from lib.gpus.architectures import CODE_SUFFIXES, loads, named
from lib.pack.segment import Packed
from lib.plan.model import MADE, Entry, Kind, Plan, Treatment
from tools.actions.size_report.model import PackageSizes, SizeReport, Sizes, Unsliced, total

#: What `tools.actions.inspect` calls an ELF file that is a code object.
CODE_OBJECT: Final = "gpu-code-object"
#: Stands for the target of a file whose name says none.
NO_TARGET: Final = "(no target)"


def is_device_file(path: str, kind: str) -> bool:
    """Whether a file is device code as a whole; `kind` is its type, as `tools.actions.inspect` says."""
    return kind == CODE_OBJECT or path.endswith(CODE_SUFFIXES)


def target_of_file(path: str) -> str:
    """Return the architectures that a path names, joined by `, `; NO_TARGET if it names none."""
    return ", ".join(named(path)) or NO_TARGET


#: What `tools.actions.inspect` wrote about files, by source.
Facts = Mapping[str, Mapping[str, Any]]
#: Types of programs and libraries for the host begin so: of ELF files, and of PE images.
HOST: Final = ("elf-", "pe-")


@dataclass(frozen=True)
class MeasuredPackage:
    """What is known of a package."""

    plan: Plan
    #: Packed files by path.
    packed: Mapping[str, Packed]
    facts: Facts
    #: Name of its wheel, and that file's size in bytes.
    filename: str
    download: int

    def size_of(self, entry: Entry) -> int:
        """Return the bytes of a packed file. Raises ToolError if none of the indexes has it."""
        if entry.path not in self.packed:
            raise ToolError(
                f"{self.plan.package}: no index has {entry.path}, which the plan packs; expected the indexes of all "
                "segments of the package"
            )
        return self.packed[entry.path].size

    def facts_of(self, entry: Entry) -> Mapping[str, Any]:
        """Return the facts about what an entry is made from. Raises ToolError if there are none."""
        if entry.treatment in MADE:
            return {"type": HOST[0]}
        if entry.source not in self.facts:
            raise ToolError(
                f"{self.plan.package}: no facts about {entry.source}; expected those of all artifacts of the package"
            )
        return self.facts[entry.source]


def measure(packages: Sequence[MeasuredPackage]) -> SizeReport:
    """Return the sizes of packages; each may tell what another does not know: the sizes of files for other targets."""
    known = {
        entry.source: package.size_of(entry)
        for package in packages
        for entry in package.plan.entries
        if entry.is_packed_file and entry.treatment is Treatment.KEEP
    }
    return SizeReport(tuple(_measure(package, known) for package in packages))


def _measure(package: MeasuredPackage, known: Mapping[str, int]) -> PackageSizes:
    sizes = total(_held(package, entry) for entry in package.plan.entries if entry.is_packed_file)
    sliced_for = sorted({target for entry in package.plan.entries for target in entry.slice or ()})
    return PackageSizes(
        distribution=parse_wheel_filename(package.filename)[0],
        package=package.plan.package,
        filename=package.filename,
        download=package.download,
        sizes=sizes,
        targets=tuple(sliced_for) or sizes.targets,
        unsliced=_unsliced(package, known),
    )


def _held(package: MeasuredPackage, entry: Entry) -> Sizes:
    """Return what a package holds of a file."""
    return file_sizes(entry.path, package.size_of(entry), package.facts_of(entry), entry.slice)


def _unsliced(package: MeasuredPackage, known: Mapping[str, int]) -> Unsliced | None:
    """Return what a thin package would hold if nothing were sliced and no file were another target's."""
    entries = package.plan.entries
    others = [one for one in entries if one.treatment is Treatment.OTHER_TARGET and one.kind is Kind.FILE]
    if not others and not any(entry.slice for entry in entries):
        return None
    parts, unknown = [_whole(package, entry) for entry in entries if entry.is_packed_file], 0
    for entry in others:
        facts = package.facts_of(entry)
        size = facts.get("size", known.get(entry.source))
        if size is None:
            unknown += 1
        else:
            parts.append(file_sizes(entry.path, size, facts))
    return Unsliced(total(parts), unknown)


def _whole(package: MeasuredPackage, entry: Entry) -> Sizes:
    """Return what a package would hold of a file that it has, were that not sliced."""
    if entry.slice is None or entry.treatment in MADE:
        return _held(package, entry)
    facts = package.facts_of(entry)
    return file_sizes(entry.path, facts["size"], facts)


def file_sizes(path: str, size: int, facts: Mapping[str, Any], kept: Sequence[str] | None = None) -> Sizes:
    """Return what the bytes of a file are for; of the code in it, it has what one of the `kept` can load, or all."""
    if is_device_file(path, facts["type"]) and "device" not in facts:
        return Sizes(files={target_of_file(path): size})
    if not facts["type"].startswith(HOST) and "device" not in facts:
        return Sizes(data=size)
    code = {
        target: count
        for target, count in facts.get("device", {}).items()
        if kept is None or any(loads(target, one) for one in kept)
    }
    code = _within(code | facts.get("device_kinds", {}), size)
    if not facts["type"].startswith(HOST):
        return Sizes(files=code, data=size - sum(code.values()))
    return Sizes(host=size - sum(code.values()), code=code)


def _within(code: Mapping[str, int], size: int) -> dict[str, int]:
    """Return the bytes of code in a file of a size; see above for code that is compressed there."""
    every = sum(code.values())
    return {target: count if every <= size else count * size // every for target, count in code.items()}
