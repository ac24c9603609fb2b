"""Lists what users can ask an index for, and what an installer then downloads.

    find_offers(distributions, index, selector)

The static wheel's metadata has the extras that name what they bring. Extras that choose by the machine are known only
when the sdist is built: there is one for each role of a package that no extra of the static wheel names, and it brings
what one of the extras for a target brings.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from packaging.utils import NormalizedName

from lib.index.model import Distribution, Index
from lib.index.selector import Selector
from lib.wheel.machines import Machine, holds

#: The machines that markers are evaluated for: what a page says must not depend on where it is written. It has Linux,
#: unless all packages are for Windows.
_LINUX, _WINDOWS = (Machine("3.13", system, "x86_64") for system in ("Linux", "Windows"))


@dataclass(frozen=True)
class Offer:
    """Something that can be asked for."""

    #: Name of the extra, "" for none.
    extra: str
    #: The projects that it brings in any case, without its own, sorted.
    brings: tuple[str, ...]
    #: What has to be downloaded at least and at most, in bytes.
    least: int
    most: int
    #: Whether the machine has a say in it.
    chooses: bool = False


@dataclass(frozen=True)
class Offers:
    """All that can be asked of one project."""

    #: The wheel whose metadata has the extras.
    front: Distribution
    #: The smallest first.
    offers: tuple[Offer, ...]
    #: The platform of the machine that is told of.
    platform: str

    def requirement(self, *extras: str) -> str:
        """Return the requirement (PEP 508) that asks for extras in just this version."""
        named = f"[{','.join(extras)}]" if any(extras) else ""
        return f"{self.front.project}{named}=={self.front.version}"


def find_offers(distributions: Iterable[Distribution], index: Index, selector: Selector | None) -> Offers | None:
    """Return what can be asked for in an index, None where no wheel has extras.

    `distributions` come from all indexes: where the sdist is listed, it offers what the static wheel does, and more.
    """
    machine = _WINDOWS if index.platforms == ("Windows",) else _LINUX
    platform = machine.system
    plain = (one for one in distributions if one.is_wheel and not one.label)
    wheels = {one.project: one for one in plain if one.platform in ("", platform)}
    # The selector's project has an sdist; others, such as a framework, may have extras as well.
    selecting = {one.project for one in distributions if not one.is_wheel}
    having = [one for _, one in sorted(wheels.items()) if one.extras]
    front = next((one for one in having if one.project in selecting), having[0] if having else None)
    if front is None:
        return None
    named = [_offer(front, extra, wheels, machine) for extra in ("", *sorted(front.extras))]
    has_sdist = any(one.project == front.project and not one.is_wheel for one in index.distributions)
    choosing = _choosing_offers(named, selector.on(platform)) if selector and has_sdist else []
    ordered = sorted([*named, *choosing], key=lambda offer: (offer.least, offer.most, offer.extra))
    return Offers(front, tuple(ordered), platform)


def _choosing_offers(named: list[Offer], selector: Selector) -> list[Offer]:
    known = {offer.extra: offer for offer in named}
    made = []
    for role in selector.roles:
        extras = [f"{role}-{target.name.lower()}" for target in selector.targets]
        choices = [known[extra] for extra in extras if extra in known]
        if role not in known and choices:
            common = set(choices[0].brings).intersection(*(choice.brings for choice in choices))
            least, most = min(choice.least for choice in choices), max(choice.most for choice in choices)
            made.append(Offer(role, tuple(sorted(common)), least, most, chooses=True))
    return made


def _offer(front: Distribution, extra: str, wheels: Mapping[NormalizedName, Distribution], machine: Machine) -> Offer:
    brought = _closure(front.project, extra, wheels, machine)
    size = sum(wheels[name].size for name in brought)
    return Offer(extra, tuple(sorted(brought - {front.project})), size, size)


def _closure(
    project: NormalizedName, extra: str, wheels: Mapping[NormalizedName, Distribution], machine: Machine
) -> set[NormalizedName]:
    """Return the projects of the index that a requirement brings, itself and what these require included."""
    waiting = [(project, extra), (project, "")]
    seen = set(waiting)
    while waiting:
        name, wanted = waiting.pop()
        for need in wheels[name].needs:
            if need.project in wheels and holds(need.marker, wanted, machine):
                more = {(need.project, one) for one in ("", *need.extras)} - seen
                seen |= more
                waiting += sorted(more)
    return {name for name, _ in seen}
