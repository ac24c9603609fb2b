"""Computes the coverage table: which library has device code for which GPU target.

Manifests and facts say all; no artifact is read. The text is for people. Targets that should not be offered stop the
build; one note says what each package lacks.
"""

import posixpath
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from lib.common.arguments import run_program
from lib.common.program import ToolError, named, note, write_document
from lib.device.coverage import (
    Coverage,
    collect,
    lacking,
    lacks_by_processor,
    owner_of,
    processors,
    refused,
    write_coverage,
)
from lib.gpus.families import without_features
from lib.gpus.paths import CODE_SUFFIXES, LISTING_SUFFIXES, canonical, loads
from lib.gpus.paths import named as targets_named
from lib.plan.model import LIBRARY, PE_LIBRARY, PE_PROGRAM, PROGRAM, Artifact, Facts, Found
from tools.actions.plan.tool import read_artifact, read_facts

# Three things tell which library has code for which target: the offload bundles in a file, or the table of an archive
# of code that was split off libraries; the name of a file of device code (`Kernels_gfx90a.co`); and, where neither
# does, the target of the artifact that a file of device code is in. Pure functions: no file is read.

CODE_OBJECT = "gpu-code-object"
_LIBRARIES = (LIBRARY, PE_LIBRARY)
#: What has code in itself, or none.
_LINKED = (*_LIBRARIES, PROGRAM, PE_PROGRAM)
_ONE_TARGET = re.compile(r"gfx[0-9a-f]+")


def coverage_of(artifacts: Collection[Artifact]) -> Coverage:
    """Return the coverage table of artifacts. Raises ToolError for code that names no target."""
    paths = {found.path for artifact in artifacts for found in artifact.found}
    files = [
        (_target_of(artifact), found, found.facts)
        for artifact in artifacts
        for found in artifact.found
        if found.facts is not None
    ]
    packaged = {
        found.source: _packaged(found.path, facts, paths) for _, found, facts in files if _is(_LIBRARIES, found, facts)
    }
    libraries = set(packaged.values())
    known = _known_targets(files)
    pairs: list[tuple[str, str]] = []
    for artifact_target, found, facts in files:
        if facts.archive:
            pairs += _archived(found, facts, packaged)
            continue
        targets = _targets(found, facts, artifact_target, known)
        in_itself = _is(_LINKED, found, facts)
        owner = _packaged(found.path, facts, paths) if in_itself else owner_of(found.path, libraries)
        pairs += [(owner, target) for target in targets]
    return collect(pairs)


def unread(artifacts: Collection[Artifact]) -> list[str]:
    """Return why code of some files could not be read, so that the table lacks it."""
    return sorted(
        found.facts.device_refusal
        for artifact in artifacts
        for found in artifact.found
        if found.facts and found.facts.device_refusal
    )


def _is(types: Collection[str], found: Found, facts: Facts) -> bool:
    """Whether a file is of one of these types of host files; NVIDIA's files of device code are ELF files, too."""
    return facts.type in types and not found.path.endswith(CODE_SUFFIXES)


def _archived(found: Found, facts: Facts, packaged: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield (library, target ID) for the code in an archive, which names a library by base directory and path."""
    for name, codes in facts.archive.items():
        owners = sorted(path for source, path in packaged.items() if source.partition("/")[2] == name)
        owner = owners[0] if owners else owner_of(found.path, packaged.values())
        yield from ((owner, _canonical(code, found.source)) for code in codes)


def _target_of(artifact: Artifact) -> str | None:
    """Return the target that all code of an artifact is for; None for `generic` and for families."""
    target = artifact.name.rpartition("_")[2]
    return target if _ONE_TARGET.fullmatch(target.partition(":")[0]) else None


def _packaged(path: str, facts: Facts, paths: Collection[str]) -> str:
    """Return the path at which packages have a library: under its SONAME, if artifacts have that name beside it."""
    under_soname = posixpath.join(posixpath.dirname(path), facts.soname) if facts.soname else path
    return under_soname if under_soname in paths else path


def _known_targets(files: Collection[tuple[str | None, Found, Facts]]) -> tuple[str, ...]:
    """Return the targets that bundles and artifacts name: a file's name may have more behind them, `gfx90a68`."""
    bundled = {code for _, found, facts in files for code in _bundled(found, facts)}
    return tuple(sorted(bundled | {_canonical(target, "") for target, _, _ in files if target}))


def _canonical(text: str, source: str) -> str:
    try:
        return canonical(text)
    except ValueError as error:
        raise ToolError(f"{source}: {error}. It cannot be told which GPUs load such code") from None


def _bundled(found: Found, facts: Facts) -> Iterator[str]:
    """Yield the target IDs of a file's bundles, in canonical form."""
    return (_canonical(code, found.source) for code in facts.device)


def _targets(found: Found, facts: Facts, artifact_target: str | None, known: tuple[str, ...]) -> list[str]:
    """Return for which targets a file has code.

    Files without code may name a target, too: headers, or databases of measured speeds (`gfx90a68.db.txt`).
    """
    if bundled := sorted(_bundled(found, facts)):
        return bundled
    is_code = found.path.endswith((*CODE_SUFFIXES, *LISTING_SUFFIXES)) or facts.type == CODE_OBJECT
    if _is(_LINKED, found, facts) or not is_code:
        return []
    if names := targets_named(found.path, known):
        return [_canonical(name, found.source) for name in names]
    return [artifact_target] if artifact_target else []


# The coverage table as text: a row for each library, a column for each target.

PLAIN, FEATURES, NONE = "x", "f", "."
LEGEND = {PLAIN: "has code", FEATURES: "only with features, such as gfx90a:xnack+", NONE: "has none"}
_PREFIX = "gfx"


def mark(coverage: Coverage, library: str, processor: str) -> str:
    """Return what stands for the code that a library has for GPUs with one processor."""
    codes = [code for code in coverage.libraries[library] if loads(code, processor)]
    if not codes:
        return NONE
    return PLAIN if any(code == without_features(code) for code in codes) else FEATURES


def text_table(coverage: Coverage) -> str:
    """Return the table."""
    return "\n".join(_lines(coverage)) + "\n"


def _lines(coverage: Coverage) -> Iterator[str]:
    if not coverage.libraries:
        yield "No library has device code."
        return
    columns = processors(coverage)
    prefix = _PREFIX if all(column.startswith(_PREFIX) for column in columns) else ""
    names = [column.removeprefix(prefix) for column in columns]
    width = max(len(library) for library in coverage.libraries)
    yield " ".join([f"{prefix:>{width}}", *names])
    used = set()
    for library in coverage.libraries:
        marks = [mark(coverage, library, column) for column in columns]
        used.update(marks)
        cells = [f"{cell:>{len(name)}}" for cell, name in zip(marks, names, strict=True)]
        yield " ".join([f"{library:<{width}}", *cells])
    yield ""
    yield "   ".join(f"{one}: {meaning}" for one, meaning in LEGEND.items() if one in used)


# What packages should not be offered for, and what they lack.


def offer_message(found: Coverage, packages: Mapping[str, Sequence[str]], option: str = "") -> str | None:
    """Return which targets of packages should not be offered, why, and what to do; None if all can be.

    `option` is the command-line option that sets the targets, if there is one.
    """
    owners = {target: name for name, targets in packages.items() for target in targets}
    without = refused(found, list(owners))
    if not without:
        return None
    lines = ["packages are declared for GPU targets that lack the libraries that nearly all others have:"]
    for one in without:
        package = owners[one.target]
        where = "" if package == one.target else f" (of package {package})"
        lines.append(f"  {one.target}{where}: no code in {', '.join(one.libraries)}")
    names = ", ".join(one.target for one in without)
    lines.append(f"Do not offer {names}: leave it out of {option or '`targets`'}, or add artifacts with its code.")
    return "\n".join(lines)


def lack_summary(found: Coverage, packages: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the packages that lack anything, and in how many libraries."""
    lacks = {name: {one for target in of for one in lacking(found, target)} for name, of in sorted(packages.items())}
    return [f"{name} (in {len(libraries)})" for name, libraries in lacks.items() if libraries]


@dataclass(frozen=True)
class Arguments:
    """Arguments from the rule. A `str` is the path of a file, unless its comment says otherwise."""

    label: str
    manifest: list[str]  #: Of artifacts.
    facts: list[str]  #: What inspect found, by unit.
    package: dict[str, str]  #: A package's GPU targets, with commas between them.
    table: str  #: Table to write.
    text: str  #: The same for people.
    lacks: str  #: What each target lacks, to write.
    stamp: str  #: Empty file to write if all targets can be offered.
    targets_option: str = ""  #: The option that sets the packages' targets, if there is one.
    platform: Literal["linux", "windows"] = "linux"


def write(args: Arguments) -> None:
    """Compute the table and write it in both forms. Raises ToolError for targets that should not be offered."""
    facts = read_facts(args.facts, args.platform)
    artifacts = [read_artifact(path, facts) for path in args.manifest]
    coverage = coverage_of(artifacts)
    if reasons := unread(artifacts):
        note(args.label, f"{args.table} says nothing of the device code of {len(reasons)} files: {named(reasons)}")
    packages = {name: targets.split(",") for name, targets in args.package.items()}
    if wrong := offer_message(coverage, packages, args.targets_option):
        raise ToolError(wrong)
    if summary := lack_summary(coverage, packages):
        lacks = f"{len(summary)} packages lack code for their GPUs in some libraries: {named(summary)}"
        note(args.label, f"{lacks}. {args.lacks} has all")
    write_coverage(args.table, coverage)
    Path(args.text).write_text(text_table(coverage), encoding="utf-8")
    write_document(args.lacks, {target: list(libraries) for target, libraries in lacks_by_processor(coverage).items()})
    Path(args.stamp).touch()


def main(argv: list[str]) -> int:
    """Write the coverage table."""
    return run_program(Arguments, argv, write)
