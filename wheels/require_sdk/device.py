"""Chooses the packages with device code that the new wheel requires.

An SDK may have libraries without device code, and a package with that code for each GPU. Extras of the distribution
that users install, the selector, bring these packages: `device` that for the GPU of the machine, `device-gfx942` that
for one GPU, `device-all` those for all.

Where METADATA requires a package of the SDK already, and the requirement counts, it must accept the SDK.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Final

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import NormalizedName, canonicalize_name
from packaging.version import Version

from lib.common.command import CannotRunError
from lib.common.distributions import DEVICE, LIBRARIES, target_extra
from lib.common.program import ToolError
from lib.gpus.families import package_owner
from lib.gpus.paths import is_known, suggestion, target_of_distribution
from lib.wheel.machines import accepts
from wheels.common.sound_wheel import SoundWheel
from wheels.require_sdk.own_gpus import ALL, MACHINE, NONE, Gpus
from wheels.require_sdk.sdk import Sdk
from wheels.verify.wheel_set.closure import applies
from wheels.verify.wheel_set.model import Package


@dataclass(frozen=True)
class InitPy:
    """An SDK's selector, and the module that loads its libraries: the program that calls this command knows them."""

    file_name: str
    """What it is called in the import package."""
    distribution: str
    """What it imports, and the wheel so requires: the selector, whose extras bring the SDK's packages."""
    text: Callable[[Sequence[str], str | None], str]
    """Return its source, given file names of libraries that are needed, and the SDK's version, or None for any."""
    libraries: str
    """The package whose device code is in other packages, one for each GPU, which the selector's extras bring."""


#: What Python calls the platform of wheels that have programs in ELF (`sys.platform`).
_LINUX: Final = "linux"
#: The extra that brings the packages for all GPUs.
_DEVICE_ALL: Final = f"{DEVICE}-{ALL}"


@dataclass(frozen=True)
class Selector:
    """The distribution that users of an SDK install."""

    name: str
    version: Version
    package: Package | None
    """None if it is not among the SDK's files."""
    is_needed: bool
    """Whether it selects the packages with device code for libraries that the wheel needs."""

    def extras(self, gpus: Gpus) -> list[str]:
        """Return the extras that bring device code for GPUs. Raises ToolError if the selector lacks one.

        If the selector is not at hand, a GPU of `--device` that no table has is refused: it is a typing error.
        """
        is_unproven = self.package is None and gpus.is_told
        unknown = [target for target in gpus.targets if not is_known(target)] if is_unproven else []
        if unknown:
            raise CannotRunError(
                f"{gpus.reason}, and {unknown[0]} is a GPU that neither AMD's nor LLVM's table has; "
                f"{suggestion(unknown[0])}. Name one of them, or name the {self.name} that has it with --sdk"
            )
        by_word = {MACHINE: [DEVICE], ALL: [_DEVICE_ALL], NONE: []}
        targets = dict.fromkeys(map(self._extra, gpus.targets))
        wanted = list(targets) if gpus.targets else by_word[gpus.words[0]]
        offered = wanted if self.package is None else self.package.extras
        for extra in wanted:
            if extra not in offered:
                there = ", ".join(sorted(one for one in offered if is_device(one))) or "none for device code"
                raise ToolError(
                    f"{self.package.filename if self.package else self.name}: has no extra {extra}, and {gpus.reason}; "
                    f"its extras are: {there}. Name GPUs of these with --device, or say --device={NONE}"
                )
        return wanted

    def _extra(self, target: str) -> str:
        own = canonicalize_name(target_extra(DEVICE, target))
        has_own = self.package is not None and own in self.package.extras
        return own if has_own else canonicalize_name(target_extra(DEVICE, package_owner(target)))


@dataclass(frozen=True)
class DeviceCode:
    """New requirements on device code."""

    added: tuple[Requirement, ...] = ()
    """Requirements that METADATA lacks."""
    changed: Mapping[str, str] = field(default_factory=dict)
    """Requirements of METADATA that change: as they are -> as they become."""
    lines: tuple[str, ...] = ()
    """What people are told."""


def is_device(extra: str) -> bool:
    """Whether an extra, however it is written (PEP 685), brings device code."""
    extra = canonicalize_name(extra)
    return extra == DEVICE or extra.startswith(f"{DEVICE}-")


def find_selector(sdk: Sdk, needed: Mapping[NormalizedName, Version], known: InitPy | None) -> Selector | None:
    """Return the selector of packages that a wheel needs: from the SDK's files, else the selector that `known` names.

    Raises ToolError if it selects another version.
    """
    found: list[tuple[Selector, Version]] = []
    for package in sdk.selectors:
        if package.selector is None:
            continue
        here = package.selector.on(_LINUX)
        names = sorted({canonicalize_name(name) for name in here.selected()} & needed.keys())
        is_split = here.target_role == DEVICE and {DEVICE, LIBRARIES} <= here.packages.keys()
        is_needed = is_split and canonicalize_name(here.packages[LIBRARIES].distribution) in needed
        found += [(Selector(package.name, package.version, package, is_needed), needed[name]) for name in names[:1]]
    fitting = [one for one, version in found if one.version == version]
    if fitting:
        together = [one.package for one in fitting if one.package]
        extras = frozenset[str]().union(*(package.extras for package in together))
        return replace(fitting[0], package=replace(together[0], extras=extras))
    for one, version in found:
        if one.package and one.is_needed:
            raise ToolError(
                f"{one.package.filename}: selects version {one.version}, and the packages of --sdk have version "
                f"{version}. Give the {one.name} of that version"
            )
    if known is None:
        return None
    libraries = canonicalize_name(known.libraries)
    version = needed.get(libraries, needed[min(needed)])
    return Selector(canonicalize_name(known.distribution), version, None, libraries in needed)


def plan_device(selector: Selector | None, wheel: SoundWheel, gpus: Gpus, specifier: str) -> DeviceCode:
    """Return what the wheel requires of device code. Raises ToolError if the SDK lacks what `gpus` says."""
    if selector is None:
        return DeviceCode()
    there = _read(wheel.metadata.values("Requires-Dist"))
    named = {text: one for text, one in there.items() if _selects_device(one, selector)}
    if not (selector.is_needed or named):
        return DeviceCode()
    changed = {text: new for text, one in named.items() if (new := _changed(one, selector, gpus)) != str(one)}
    lines = [f"{old} is now {new}, because {gpus.reason}" for old, new in changed.items()]
    lines += [_kept(text) for text in named if text not in changed]
    unproven = [] if selector.package else [f"{selector.name} is not among --sdk: that it has this extra is not proven"]
    if not selector.is_needed or any(applies(one) for one in named.values()):
        return DeviceCode(changed=changed, lines=(*lines, *(unproven if changed else ())))
    extras = selector.extras(gpus)
    if not extras:
        return DeviceCode(changed=changed, lines=(*lines, f"none is required, because {gpus.reason}"))
    added = Requirement(f"{selector.name}[{','.join(extras)}]{specifier or f'=={selector.version}'}")
    lines.append(f"{added} brings {_brought(gpus)}, because {gpus.reason}")
    return DeviceCode((added,), changed, (*lines, *unproven))


def _read(texts: Collection[str]) -> dict[str, Requirement]:
    """Return requirements by their texts, without those that are malformed."""
    found = {}
    for text in texts:
        with suppress(InvalidRequirement):
            found[text] = Requirement(text)
    return found


def _selects_device(requirement: Requirement, selector: Selector) -> bool:
    return canonicalize_name(requirement.name) == selector.name and any(map(is_device, requirement.extras))


def _changed(requirement: Requirement, selector: Selector, gpus: Gpus) -> str:
    """Return a requirement for these GPUs; as it is if nobody says that it shall not be for more."""
    is_for_all = any(canonicalize_name(extra) == _DEVICE_ALL for extra in requirement.extras)
    if not gpus.is_told and not (gpus.targets and is_for_all):
        return str(requirement)
    new = Requirement(str(requirement))
    new.extras = {extra for extra in requirement.extras if not is_device(extra)} | set(selector.extras(gpus))
    return str(new)


def _kept(text: str) -> str:
    return f"{text} stays; --device=gfx942 would be for one GPU" if _DEVICE_ALL in text else f"{text} stays"


def _brought(gpus: Gpus) -> str:
    if gpus.words == (MACHINE,):
        return "the package for the GPU of the machine that installs it"
    return "the packages for all GPUs" if gpus.words == (ALL,) else f"the package for {', '.join(gpus.targets)}"


def check_required(package: Package, name: str, version: Version) -> list[Requirement]:
    """Return what METADATA requires of a distribution. Raises ToolError if that is another version."""
    there = [one for one in package.requires if canonicalize_name(one.name) == name and applies(one, tags=package.tags)]
    for one in there:
        if not accepts(one, version):
            raise ToolError(
                f"{package.filename}: METADATA requires {one}, and --sdk has version {version}. Give the wheels of "
                "the version that it requires, or build the wheel without this requirement"
            )
    return there


def check_other_gpu(package: Package, name: str) -> None:
    """Raise ToolError if METADATA requires the same package for another GPU."""
    target = target_of_distribution(name)
    for one in package.requires if target else ():
        other = target_of_distribution(canonicalize_name(one.name))
        kinds = {text.removesuffix(f"-{(word or '').lower()}") for text, word in ((name, target), (one.name, other))}
        if other and other != target and len(kinds) == 1 and applies(one, tags=package.tags):
            raise ToolError(
                f"{package.filename}: METADATA requires {one}, and --sdk has {name}, for another GPU. Give the "
                "packages for that GPU, or the wheel as it was before it required them"
            )
