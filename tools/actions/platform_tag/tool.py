"""Proves that a wheel's platform tag promises no more than its files keep.

A wheel's file name is fixed before its content is known, so the tag is a setting. Here the truth about it is found
out: the report has the lowest tag, and which files ask for what. The wheel is linked only if this succeeds.
"""

from dataclasses import dataclass
from typing import Literal

from lib.common.arguments import run_program
from lib.common.program import note, read_document, write_document
from lib.plan.model import Plan
from lib.wheel.platform_policy import MACHINES, promises
from tools.actions.platform_tag.judgement import Judgement, check, judge, notes
from tools.actions.platform_tag.needs import collect, has_linked, read_linked


@dataclass(frozen=True)
class Arguments:
    """What the rule says; a `str` is the path of a file, unless its comment says otherwise."""

    label: str
    distribution: str  #: Name of the distribution, for the report.
    setting: str  #: Label of the build setting that holds the tag.
    tag: str  #: Platform tag of the wheel, or a set of them joined by dots.
    plan: str
    builds_on: list[str]  #: Plans of the packages that this one builds on.
    facts: list[str]  #: What inspect found, by unit.
    external: list[str]  #: SONAMEs of libraries that the machine has to have, and patterns.
    output: str  #: Report to write.
    kind: Literal["runtime", "devel"] = "runtime"  #: Of the package.


def prove(args: Arguments) -> None:
    """Write the report; raises ToolError if the tag promises more."""
    plan = Plan.from_document(read_document(args.plan))
    builds_on = [Plan.from_document(read_document(path)) for path in args.builds_on]
    linked = read_linked(args.facts)
    judgement = Judgement()
    # Without programs and libraries there is nothing that a tag could promise too much of: `any` is fine, too.
    for promise in promises(args.tag) if has_linked(plan, linked) else ():
        machine, externals = MACHINES[promise.architecture], tuple(args.external)
        needs = collect(plan, builds_on, linked, machine, externals, is_devel=args.kind == "devel")
        judgement = judge(needs, promise.architecture)
        check(judgement, promise, args.setting)
    write_document(args.output, judgement.report(args.distribution).to_document())
    for text in notes(judgement.needs):
        note(args.label, f"{text}; {args.output} has all, as `unreached`")


def main(argv: list[str]) -> int:
    """Prove the tag."""
    return run_program(Arguments, argv, prove)
