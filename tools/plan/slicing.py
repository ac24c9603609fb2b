"""What of a set of artifacts with code for many GPUs belongs into a package that is for some of them.

    entry = sliced(entry, facts, definition.slice)   # a program or library: which of its device code it keeps
    reason = other_target(path, definition.slice)    # a data file: why it is none of this package's
    check_absent(entries, definition.slice)          # is every declaration about some file?

Nothing is lost in silence: code for a GPU that no package is for, and a library without code for the package's GPUs,
stop the build, unless the package's definition declares that.
"""

import functools
from collections.abc import Sequence
from dataclasses import replace

from tools.common.errors import ToolError
from tools.device.target_id import TargetId, can_load, parse_target_id
from tools.gpus.paths import named_targets
from tools.plan.model import LIBRARY, PROGRAM, Entry, Facts, Slice
from tools.plan.patterns import matches


@functools.cache
def _parsed(text: str) -> TargetId:
    try:
        return parse_target_id(text)
    except ValueError as error:
        raise ToolError(f"{error}. It cannot be told which GPUs load such code") from None


def _can_load_any(code: str, targets: tuple[str, ...]) -> bool:
    return any(can_load(_parsed(code), _parsed(target)) for target in targets)


def _absent(path: str, declared: Slice) -> tuple[str, ...]:
    """Return the targets for which, as is declared, a file has no code."""
    pairs = [one.partition("=") for one in declared.absent]
    return tuple(sorted({target for target, _, pattern in pairs if matches(path, (pattern,))} & set(declared.targets)))


def sliced(entry: Entry, facts: Facts, declared: Slice) -> Entry:
    """Return the entry of an ELF file with the targets that it keeps code for, if it has device code.

    Raises ToolError for code that cannot be read, code that no package of the set would have, and a target of the
    package that the file has no code for.
    """
    if facts.type not in (LIBRARY, PROGRAM):
        return entry
    if facts.device_refusal:
        raise ToolError(f"{facts.device_refusal}. Its device code cannot be sliced: exclude the file from the package")
    if not facts.device:
        return entry
    lost = [code for code in facts.device if not _can_load_any(code, declared.all_targets + declared.left_out)]
    if lost:
        raise ToolError(
            f"{entry.source}: has device code for {', '.join(lost)}, which none of the packages would have; they are "
            f"for {', '.join(declared.all_targets)}. Add a package for it, or declare it as left out (`left_out`; for "
            "ROCm's own packages, ROCM_TARGETS_LEFT_OUT)"
        )
    absent = _absent(entry.path, declared)
    missing = [
        target for target in declared.targets if not any(_can_load_any(code, (target,)) for code in facts.device)
    ]
    if undeclared := sorted(set(missing) - set(absent)):
        raise ToolError(
            f"{entry.source}: has no device code that {', '.join(undeclared)} can load; it has code for "
            f"{', '.join(facts.device)}. Build it for {', '.join(undeclared)}, leave out that package, or declare "
            f"the code absent, as {undeclared[0]}={entry.path}"
        )
    if stale := sorted(set(absent) - set(missing)):
        raise ToolError(
            f"{entry.source}: has device code for {', '.join(stale)}, which is declared absent. "
            "Remove the declaration, or build the library without it"
        )
    kept = ", ".join(target for target in declared.targets if target not in absent)
    reason = f"{entry.reason}; {f'device code for {kept}' if kept else 'without its device code'}"
    return replace(entry, slice=declared.targets, absent=absent or None, reason=reason)


def check_absent(entries: Sequence[Entry], declared: Slice) -> None:
    """Raise ToolError for a declaration about the package's targets that is about no file with device code."""
    paths = [entry.path for entry in entries if entry.slice]
    for one in declared.absent:
        target, _, pattern = one.partition("=")
        if target in declared.targets and not any(matches(path, (pattern,)) for path in paths):
            raise ToolError(
                f"{one}: declares code absent, but no library with device code has such a path. Remove the declaration"
            )


def _unknown(path: str, target: str, known: tuple[str, ...]) -> ToolError:
    return ToolError(
        f"{path}: is for {target}, as its name says, and none of the packages is; they are for {', '.join(known)}. "
        "Add a package for it, or declare it as left out (`left_out`; for ROCm's own packages, ROCM_TARGETS_LEFT_OUT)"
    )


def other_target(path: str, declared: Slice) -> str | None:
    """Return why a file is none of this package's: its name says that it is for other GPUs. None if it does not.

    A name can say several targets. Raises ToolError for one that no package of the set is for.
    """
    known = declared.all_targets + declared.left_out
    targets = [str(target) for target in named_targets(path, (_parsed(one).processor for one in known))]
    for target in targets:
        if not _can_load_any(target, known):
            raise _unknown(path, target, known)
    if not targets or any(_can_load_any(target, declared.targets) for target in targets):
        return None
    return f"for {', '.join(targets)}, as its name says"
