"""Finds out which library has code for which target, from what `inspect` wrote about the files of artifacts.

    coverage = coverage_of(artifacts)

Three things tell: the offload bundles in a file, or the table of an archive of code that was split off libraries; the
name of a file of device code (`Kernels_gfx90a.co`); and, where neither does, the target of the artifact that a file of
device code is in. Pure functions: no file is read.
"""

import posixpath
import re
from collections.abc import Collection, Iterator, Mapping

from lib.common.program import ToolError
from lib.coverage.table import Coverage, collect, owner_of
from lib.gpus.architectures import CODE_SUFFIXES, LISTING_SUFFIXES, canonical, named
from lib.plan.model import LIBRARY, PE_LIBRARY, PE_PROGRAM, PROGRAM, Artifact, Facts, Found

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
        named = sorted(path for source, path in packaged.items() if source.partition("/")[2] == name)
        owner = named[0] if named else owner_of(found.path, packaged.values())
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
    named = {code for _, found, facts in files for code in _bundled(found, facts)}
    return tuple(sorted(named | {_canonical(target, "") for target, _, _ in files if target}))


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

    Files that are no code may name a target, too: headers, or what was found out about speeds (`gfx90a68.db.txt`).
    """
    if bundled := sorted(_bundled(found, facts)):
        return bundled
    is_code = found.path.endswith((*CODE_SUFFIXES, *LISTING_SUFFIXES)) or facts.type == CODE_OBJECT
    if _is(_LINKED, found, facts) or not is_code:
        return []
    if names := named(found.path, known):
        return [_canonical(name, found.source) for name in names]
    return [artifact_target] if artifact_target else []
