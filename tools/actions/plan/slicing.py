"""Selects the files of a thin package from artifacts with code for many GPUs.

    reason = other_target(path, definition.slice)      # why a file is none of this package's, by its name
    reason = other_code(found, definition.slice)       # and by its code, if it is nothing but device code
    check_name(found, definition.slice)                # that the two agree
    entry = sliced(entry, facts, definition.slice)     # which of its device code a file keeps
    raise refusal(refused, definition.slice)           # all that could not be told of any file, at once

No code is lost without a message. Code for a GPU that no package is for stops the build, unless the definition
declares it as left out. A file that has no code for one of the package's GPUs says so in its reason; whether that is
meant is a matter of the whole library (`tools.actions.coverage`).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from lib.common.program import ToolError, named
from lib.gpus.families import without_features
from lib.gpus.paths import serving
from lib.plan.model import BUNDLE, Entry, Facts, Found, Slice


class RefusedError(ToolError):
    """A file's device code cannot be divided among the packages. The message names file and remedy."""

    def __init__(self, message: str, path: str, lost: Sequence[str] = ()) -> None:
        """Keep what `refusal` groups by: the path, and the targets that no package is for."""
        super().__init__(message)
        self.path, self.lost = path, tuple(lost)


def sliced(entry: Entry, facts: Facts, declared: Slice) -> Entry:
    """Return the entry of a file with the targets that it keeps code for, if it has device code.

    Raises RefusedError for code that cannot be read, is for no GPU, or is for a GPU that no package of the set is for.
    """
    _check_code(entry.path, entry.source, facts, declared)
    if not facts.device:
        return entry
    missing = {
        target
        for target in declared.targets
        if not any(declared.can_load_any(code, (target,)) for code in facts.device)
    }
    kept = [target for target in declared.targets if target not in missing]
    words = [f"device code for {', '.join(kept)}" if kept else "without its device code"]
    if missing:
        words.append(f"there is none for {', '.join(sorted(missing))}")
    reason = "; ".join([entry.reason, *words])
    return replace(entry, slice=declared.targets, absent=tuple(sorted(missing)) or None, reason=reason)


def other_code(found: Found, declared: Slice) -> str | None:
    """Return why a file that is nothing but device code is none of this package's: it is for other GPUs, all of it.

    None if it is not so. Raises RefusedError as `sliced` does.
    """
    facts = found.facts
    if not facts or facts.type != BUNDLE or not facts.device:
        return None
    _check_code(found.path, found.source, facts, declared)
    if any(declared.can_load_any(code, declared.targets) for code in facts.device):
        return None
    return f"device code for {', '.join(facts.device)} alone"


def check_name(found: Found, declared: Slice) -> None:
    """Raise RefusedError for a file whose name says some GPUs, and which has code for others: no package would have it.

    Code that is declared as left out may be in any file.
    """
    codes = found.facts.device if found.facts else ()
    names = declared.named(found.path)
    if not codes or not names:
        return
    users = {
        code: [target for target in declared.all_targets if declared.can_load_any(code, (target,))] for code in codes
    }
    named = {target for target in declared.all_targets if any(declared.can_load_any(name, (target,)) for name in names)}
    if wrong := [code for code, targets in users.items() if targets and not named.intersection(targets)]:
        raise RefusedError(
            f"{found.source}: its name says that it is for {', '.join(names)}, but it has device code for "
            f"{', '.join(wrong)}, too, which would be in no package. Rename the file, or exclude it from the packages",
            found.path,
        )


def _check_code(path: str, source: str | None, facts: Facts, declared: Slice) -> None:
    if facts.device_refusal:
        message = f"{facts.device_refusal}. Its device code cannot be sliced: exclude the file from the package"
        raise RefusedError(message, path)
    try:
        lost = [
            code for code in facts.device if not declared.can_load_any(code, declared.all_targets + declared.left_out)
        ]
    except ToolError as error:
        raise RefusedError(f"{source}: {error}", path) from None
    if lost:
        raise _lost(path, lost, declared)


def _lost(path: str, targets: Sequence[str], declared: Slice) -> RefusedError:
    return RefusedError(_lost_message({target: [path] for target in targets}, declared), path, targets)


def _lost_message(files: Mapping[str, Sequence[str]], declared: Slice) -> str:
    """Say of targets, by the files that have code for them, that no package is for them."""
    lines = ["there is device code for GPU targets that none of the packages is for:"]
    lines += [f"  {target}: in {named(paths)}" for target, paths in sorted(files.items())]
    return "\n".join([*lines, f"The packages are for {', '.join(declared.all_targets)}. {_remedy(files, declared)}"])


def _remedy(lost: Iterable[str], declared: Slice) -> str:
    """Say what to do about code for targets: in names that declarations take, which no generic processor's is."""
    processors = {without_features(target) for target in lost}
    targets = sorted({target for processor in processors for target in serving(processor)})
    unknown = sorted(processor for processor in processors if not serving(processor))
    sentences = []
    if targets:
        option = declared.left_out_option
        leave_out = f"set {option}={','.join(targets)}" if option else "name them in `left_out`"
        sentences.append(f"Add packages for {', '.join(targets)}, or {leave_out}")
    if unknown:
        sentences.append(
            f"No GPU target is called {' or '.join(unknown)}: exclude such files from the packages (`exclude`), or "
            "name them in `left_out`"
        )
    return ". ".join(sentences)


def refusal(refused: Sequence[RefusedError], declared: Slice) -> ToolError:
    """Return one error for all files that were refused: each cause once, and what remedies all of it."""
    messages = dict.fromkeys(str(one) for one in refused if not one.lost)  # a link to a file says the same of it
    files: dict[str, list[str]] = {}
    for one in refused:
        for target in one.lost:
            files.setdefault(target, []).append(one.path)
    return ToolError("\n".join([*messages, *([_lost_message(files, declared)] if files else [])]))


def other_target(path: str, declared: Slice) -> str | None:
    """Return why a file is none of this package's: its name says that it is for other GPUs. None if it does not.

    A name can say several targets. Raises RefusedError for those that no package of the set is for.
    """
    known = declared.all_targets + declared.left_out
    targets = declared.named(path)
    if lost := [target for target in targets if not declared.can_load_any(target, known)]:
        raise _lost(path, lost, declared)
    if not targets or any(declared.can_load_any(target, declared.targets) for target in targets):
        return None
    return f"for {', '.join(targets)}, as its name says"
