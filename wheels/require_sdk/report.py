"""What became of a wheel, for people."""

from collections.abc import Iterator, Mapping, Sequence

from lib.common.program import size_text
from lib.wheel.wheel_writer import Written
from wheels.require_sdk.needs import Copy
from wheels.require_sdk.plan import RequiringWheel
from wheels.require_sdk.proof import Proof

#: So many names are in a line; the rest is a number.
_SHOWN = 5


def describe(plan: RequiringWheel, proof: Proof, written: Written, notes: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Yield lines: both wheels, what the new one requires, each edit and copy, and what was not proven."""
    yield f"{plan.wheel.path.name}: {size_text(plan.wheel.wheel.size)}"
    yield f"  {plan.name.filename}: {size_text(written.size)}"
    yield from plan.wheel.record_lines()
    yield f"    requires {', '.join(map(str, plan.requirements)) or 'nothing more'}"
    yield from (f"    {line}" for line in plan.lost_extras)
    yield from (f"    device code: {line}" for line in plan.device)
    yield f"    {len(plan.edits)} files need the SDK, which has all {proof.symbols} symbols that they need of it"
    for edit in plan.edits:
        yield f"    {edit.path}: needs {', '.join(library.name for library in edit.needs.libraries.values())}"
        yield from (f"      {old} is now {new}" for old, new in edit.needs.renamed.items())
        if edit.dropped:
            yield f"      without search path entries that depend on the machine: {', '.join(map(repr, edit.dropped))}"
        yield from (f"      {note}" for note in notes.get(edit.path, ()))
        if edit.path in proof.unproven:
            names = _some(proof.unproven[edit.path])
            yield f"      not proven, because a library that was not looked at may have them: {names}"
    for copy in plan.copies:
        outcome = f"stays: {copy.stays}" if copy.stays else "left out"
        yield f"    bundled {copy.path} ({size_text(copy.size)}), {_origin(copy)}: {outcome}"
    if plan.externals:
        yield f"    left to users' machines and other packages: {', '.join(plan.externals)}"
    if plan.elsewhere:
        yield f"    not edited, because it is installed outside of site-packages: {', '.join(plan.elsewhere)}"
    yield from _opened(plan)
    yield from (f"    {path}: call its initialize() before the first extension is imported" for path in plan.texts)


def _opened(plan: RequiringWheel) -> Iterator[str]:
    """Yield what is left to whoever runs the wheel: the loader looks for a name that is opened on the machine."""
    for path, names in plan.opened.items():
        yield f"    {path} may open {_some(names)} by name: not proven, as the machine may have another copy"
    if plan.opened:
        remedy = "open it by its path in the SDK's package" + ("" if plan.texts else ", or see --init-py")
        yield f"      if it does, {remedy}: otherwise a process may have two of these libraries"


def _origin(copy: Copy) -> str:
    if copy.library is not None:
        return f"a copy of {copy.library.path} of {copy.library.wheel}"
    return f"a kind of {copy.other}" if copy.other else "which only copies need that are left out"


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more
