"""Proves that a wheel's platform tag promises no more than its files keep.

A wheel's file name is fixed before its content is known, so the tag is a setting. Here the truth about it is found
out: the report has the lowest tag, and which files ask for what. The wheel is linked only if this succeeds.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from lib.common.arguments import run_program
from lib.common.program import ToolError, named, note, read_document, write_document
from lib.plan.model import Plan
from lib.wheel.platform_policy import MACHINES, WINDOWS_MACHINES, Policy, Promise, policies_of, promises
from tools.actions.platform_tag.needs import Libraries, Need, Needs, TagReport, collect, has_linked, read_linked


@dataclass(frozen=True)
class Judgement:
    """Oldest systems on which a package's files run, and what older systems lack."""

    architecture: str = ""
    needs: Needs = field(default_factory=Needs)
    #: The policy of the oldest systems that have all that is needed; None if nothing says of any that it has.
    lowest: Policy | None = None
    #: What the next older policy lacks; without a lowest one, what the newest lacks.
    because: tuple[Need, ...] = ()

    @property
    def tag(self) -> str:
        """The platform tag of which the package keeps the promise."""
        if not self.needs.files and not self.needs.foreign:
            return "any"
        if self.architecture in WINDOWS_MACHINES:
            return f"win_{self.architecture}"
        return f"{self.lowest.name if self.lowest else 'linux'}_{self.architecture}"

    def report(self, distribution: str) -> TagReport:
        """Return the report about a distribution."""
        return TagReport(
            distribution,
            lowest=self.tag,
            because=[_sentence(need) for need in self.because],
            files=self.needs.files,
            system=_by_library(self.needs.system),
            packaged=_by_library(self.needs.packaged),
            unreached=_by_library(self.needs.unreached),
            external=_by_library(self.needs.external),
            foreign=list(self.needs.foreign),
        )


def _by_library(needs: tuple[Need, ...]) -> Libraries:
    """Return needs by library and symbol version, with the first file of each."""
    found: Libraries = {}
    for need in needs:
        found.setdefault(need.library, {})[need.version or ""] = need.path
    return found


def _sentence(need: Need) -> str:
    """Say in words which file needs what."""
    return f"{need.path} needs " + (f"{need.version} of {need.library}" if need.version else need.library)


def lacking(policy: Policy, needs: Needs) -> tuple[Need, ...]:
    """Return the needs that a policy does not guarantee. If it lacks a library, the versions are left out."""

    def lacks(need: Need) -> bool:
        if not policy.has_library(need.library):
            return need.version is None
        return need.version is not None and not policy.has_version(need.version)

    # Where the loader does not find a packaged library, it takes the system's of that name.
    instead = tuple(need for need in needs.unreached if policy.has_library(need.library))
    return tuple(need for need in needs.system + instead if lacks(need))


def judge(needs: Needs, architecture: str) -> Judgement:
    """Return what a package's files keep on an architecture."""
    because: tuple[Need, ...] = ()
    for policy in policies_of(architecture):
        lacks = lacking(policy, needs)
        if not lacks:
            return Judgement(architecture, needs, policy, because)
        because = lacks
    return Judgement(architecture, needs, None, because)


def check(judgement: Judgement, promise: Promise, setting: str) -> None:
    """Raise ToolError, naming the tag to set, if a tag promises more than the files keep.

    `setting` is the label of the build setting that holds the tag.
    """
    needs = judgement.needs
    if needs.foreign and not needs.files:
        raise ToolError(
            f"platform tag {promise.tag}: no file of the package is for {promise.architecture}, {needs.foreign[0]} "
            f"for instance; expected some that are. Set --{setting} to a tag of the architecture that was packaged"
        )
    lacks = lacking(promise.policy, needs) if promise.policy else ()
    if not lacks:
        return
    raise ToolError(
        f"platform tag {promise.tag} promises more than the files keep: "
        f"{named([_sentence(need) for need in lacks], '; ')}. {_remedy(judgement, promise, lacks, setting)}"
    )


def _remedy(judgement: Judgement, promise: Promise, lacks: tuple[Need, ...], setting: str) -> str:
    """Say what to do: set another tag, if one promises less, or see to libraries that no system is sure to have."""
    libraries = sorted({need.library for need in lacks if not need.version})
    provide = (
        f"to {', '.join(libraries)}: ship it in an artifact of this package or one that it builds on, or declare it in "
        "`externals` of the wheel, if users have to have it"
    )
    if judgement.tag == promise.tag:
        return f"Expected what packages bring, or every such system has. See {provide}"
    return f"Expected {judgement.tag}. Set --{setting}={judgement.tag}" + (f", or see {provide}" if libraries else "")


def notes(needs: Needs) -> Iterator[str]:
    """Yield what may be a mistake, though no tag forbids it: a line each, for people."""
    unreached = [need for need in needs.unreached if need.version is None]
    if not unreached:
        return
    if all(need.library.endswith(".dll") for need in unreached):
        where, remedy = "in other directories", "Put each beside the program, or let PATH lead to it"
    else:
        where, remedy = "in directories that are not searched", "Name these in `rpath`, or the libraries in `externals`"
    first = named([_sentence(need) for need in unreached])
    yield f"{len(unreached)} packaged libraries are {where}: {first}. {remedy}"


@dataclass(frozen=True)
class Arguments:
    """Arguments from the rule. A `str` is the path of a file, unless its comment says otherwise."""

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
