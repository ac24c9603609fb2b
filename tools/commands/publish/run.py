"""Publishes: compares, sends what is missing, and last the pages, so that no page names what is not there yet.

Whatever interrupts this, what is visible is whole: an older index, or the new one. Calling it again does the rest.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass

from tools.commands.publish.files import LocalFile
from tools.commands.publish.plan import Plan, conflict, make_plan
from tools.commands.publish.progress import Progress, amount
from tools.commands.publish.target import TakenError, Target
from tools.lib.common.program import ToolError


@dataclass(frozen=True)
class Options:
    """How to publish."""

    #: Only say what would be done.
    dry_run: bool = False
    #: Go on where the place has distributions that the new index will not list.
    leave_unlisted: bool = False


def check(plan: Plan, target: Target, options: Options) -> None:
    """Raise ConflictError or ToolError if the plan cannot be carried out; nothing was sent yet."""
    if plan.conflicts:
        raise conflict(target.place, plan.conflicts)
    if plan.unlisted and not options.leave_unlisted:
        names = "\n".join(f"  {path}" for path in plan.unlisted)
        raise ToolError(
            f"{target.place} has distributions that are not of this build, and that its index would no longer list:\n"
            f"{names}\nPublish into another place (--run-id, --group), or leave them there unlisted (--leave-unlisted)"
        )


def _send(file: LocalFile, target: Target, progress: Progress) -> None:
    """Send a file that was not there when we looked: another publisher may have been faster."""
    progress.begin(file.path, file.size)
    try:
        target.put(file, progress.sent)
    except TakenError:
        published = target.sha256(file.path)
        if published != file.sha256:
            raise conflict(target.place, [(file, published)]) from None
        progress.end("there")
    else:
        progress.end("sent")


def describe(plan: Plan, place: str) -> str:
    """Write what a plan would do, a line per file."""
    lines = [f"send   {file.path}: {amount(file.size)}" for file in plan.missing]
    lines += [f"page   {file.path}: {amount(file.size)}" for file in plan.pages]
    lines += [f"there  {file.path}" for file in plan.there]
    size = amount(sum(file.size for file in plan.missing))
    lines.append(f"would send {len(plan.missing)} files ({size}) and {len(plan.pages)} pages to {place}")
    return "\n".join(lines)


def publish(files: Sequence[LocalFile], target: Target, options: Options, progress: Progress | None = None) -> str:
    """Make a place hold these files; return what was done, for people.

    Raises ConflictError if something else is published under the name of one of them, before anything is sent if that
    was so at the start; ToolError as the place does.
    """
    plan = make_plan(files, target)
    check(plan, target, options)
    if options.dry_run:
        return describe(plan, target.place)
    progress = progress or Progress(len(plan.missing) + len(plan.pages), sys.stderr)
    for file in plan.missing:
        _send(file, target, progress)
    for file in plan.pages:
        progress.begin(file.path, file.size)
        target.put_page(file, progress.sent)
        progress.end("page")
    was_there = f"; {len(plan.there)} were there" if plan.there else ""
    sent = f"{len(plan.missing)} files and {len(plan.pages)} pages ({amount(progress.total)})"
    return f"published to {target.place}: {sent}{was_there}"
