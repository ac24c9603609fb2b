"""The oldest system that a package's files run on, and whether a platform tag promises more."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from lib.common.program import ToolError, named
from lib.wheel.platform_policy import WINDOWS_MACHINES, Policy, Promise, policies_of
from tools.actions.platform_tag.needs import Need, Needs
from tools.actions.platform_tag.report import Libraries, TagReport


@dataclass(frozen=True)
class Judgement:
    """What a package's files keep."""

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
    """Return what a policy does not guarantee of what is needed; of a library that it lacks, not the versions too."""

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
    see = (
        f"ee to {', '.join(libraries)}: ship it in an artifact of this package or one that it builds on, or "
        "declare it in `externals` of the wheel, if users have to have it"
    )
    if judgement.tag == promise.tag:
        return f"Expected what packages bring, or every such system has. S{see}"
    return f"Expected {judgement.tag}. Set --{setting}={judgement.tag}" + (f", or s{see}" if libraries else "")


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
