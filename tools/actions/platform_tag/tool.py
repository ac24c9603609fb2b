"""Proves that a wheel's platform tag promises no more than its files keep.

    platform_tag --label TARGET --distribution NAME --setting LABEL --tag PLATFORM --plan PLAN --kind KIND
                 --builds-on PLAN… --facts FILE… --external SONAME… --output REPORT

A wheel's file name is fixed before its content is known, so the tag is a setting. Here the truth about it is found
out: the report has the lowest tag, and which files ask for what. The wheel is linked only if this succeeds.
"""

from dataclasses import dataclass

from lib.common.program import argument_parser, note, read_document, report_errors, write_document
from lib.plan.model import Plan
from lib.wheel.platform_policy import MACHINES, promises
from tools.actions.platform_tag.judgement import Judgement, check, judge, notes
from tools.actions.platform_tag.needs import collect, has_linked, read_linked


@dataclass(frozen=True)
class Arguments:
    """The command line; `--help` says what each argument is."""

    label: str
    distribution: str
    setting: str
    tag: str
    plan: str
    kind: str
    builds_on: list[str]
    facts: list[str]
    external: list[str]
    output: str


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
    """Parse the arguments and prove the tag."""
    parser = argument_parser(__doc__)
    parser.add_argument("--label", required=True, help="Bazel target, named in errors")
    parser.add_argument("--distribution", required=True, help="name of the distribution, for the report")
    parser.add_argument("--setting", required=True, help="label of the build setting that holds the tag")
    parser.add_argument("--tag", required=True, help="platform tag of the wheel, or a set of them joined by dots")
    parser.add_argument("--plan", required=True, help="the package's plan")
    parser.add_argument("--kind", choices=("runtime", "devel", "plain"), default="runtime", help="kind of the package")
    parser.add_argument("--builds-on", action="append", default=[], help="plan of a package that this one builds on")
    parser.add_argument("--facts", action="append", default=[], help="what inspect found in a unit")
    parser.add_argument(
        "--external", action="append", default=[], help="SONAME of a library that the machine has to have, or a pattern"
    )
    parser.add_argument("--output", required=True, help="report to write")
    args = Arguments(**vars(parser.parse_args(argv)))
    return report_errors(args.label, lambda: prove(args))
