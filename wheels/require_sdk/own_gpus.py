"""For which GPUs a wheel needs an SDK's device code: `--device` names them, else the wheel's own device code does."""

from dataclasses import dataclass
from typing import Final

from lib.common.program import ToolError, named
from lib.device.model import code_object_target
from lib.elf import constants as c
from lib.gpus.families import is_target, overlap, package_owner, parse_family
from lib.gpus.paths import suggestion, target_of_local_version
from lib.gpus.table import TARGETS
from lib.gpus.target_id import GENERIC_PROCESSORS, SPIRV
from wheels.common.sound_wheel import SoundWheel
from wheels.verify.device.package_targets import device_files, known_targets
from wheels.verify.model import DistributionSet
from wheels.verify.wheel_set.gather import gather
from wheels.verify.wheel_set.model import Package

#: Words instead of GPUs: the GPU of the machine that installs the wheel, all GPUs of the SDK, and no device code.
MACHINE: Final = "machine"
ALL: Final = "all"
NONE: Final = "none"
_WORDS: Final = frozenset((MACHINE, ALL, NONE))


@dataclass(frozen=True)
class Gpus:
    """For which GPUs device code is required, and why."""

    words: tuple[str, ...]
    """GPU targets; or one of `machine`, `all` and `none`."""
    reason: str
    is_told: bool = False
    """Whether `--device` says it."""
    served: frozenset[str] = frozenset()
    """Targets and families that libraries for some GPUs alone have to be for; none for any."""

    @property
    def targets(self) -> tuple[str, ...]:
        """The GPU targets; empty if a word such as `machine` stands for them."""
        return () if _WORDS.intersection(self.words) else self.words

    def fit(self, target: str) -> bool:
        """Whether libraries for a target or family are for one of the GPUs."""
        return not self.served or any(overlap(target, one) for one in self.served)

    @property
    def is_none(self) -> bool:
        """Whether no device code is required."""
        return self.words == (NONE,)


def parse_gpus(text: str) -> Gpus | None:
    """Return what `--device` says; None if it is empty. Raises ToolError for a word that is not a GPU target."""
    words = tuple(dict.fromkeys(word.strip() for word in text.split(",")))
    are_targets = all(map(_is_gpu, words))
    if text and not are_targets and not (len(words) == 1 and words[0] in _WORDS):
        raise ToolError(
            f"--device={text}: expected GPU targets, as in gfx942,gfx1100, or one of {MACHINE}, {ALL} and {NONE}; "
            f"{suggestion(next(word for word in words if not _is_gpu(word)))}"
        )
    served = frozenset(words) - _WORDS
    return Gpus(words, f"--device={text} asks for it", is_told=True, served=served) if text else None


def _is_gpu(word: str) -> bool:
    return is_target(word) or parse_family(word) is not None


def own_gpus(wheel: SoundWheel) -> Gpus:
    """Return for which GPUs a wheel needs device code, by its version and its own code.

    Code for one GPU says it. With other code, or none, any machine may install the wheel.
    """
    label = target_of_local_version(wheel.name.version.local)
    if label:
        return _of({label}, f"the wheel's version says {label}")
    (package,), _ = gather(DistributionSet((wheel.wheel,)))
    for path, facts in device_files(package).items():
        if facts.damage:
            return Gpus((MACHINE,), f"the device code of {path} cannot be read")
    processors = _processors(package)
    if not processors:
        return Gpus((MACHINE,), "the wheel has no device code of its own")
    return _of(processors, f"the wheel's own device code is for {named(sorted(processors), most=4)}")


def _of(words: set[str], reason: str) -> Gpus:
    targets = frozenset(target for word in words for target in _targets(word))
    return Gpus(tuple(targets) if len(targets) == 1 else (MACHINE,), reason, served=targets)


def _processors(package: Package) -> set[str]:
    """Return the processors that a wheel has device code for, by bundles, archives, headers and names of files."""
    found = {code.processor for code in known_targets([package])}
    for facts in package.files.values():
        if facts.elf is not None and facts.elf.machine == c.EM_AMDGPU:
            target = code_object_target(facts.elf.flags)
            found |= {target.processor} if target else set()
    return found


def _targets(word: str) -> set[str]:
    """Return the targets with packages of their own that a target, a family or a generic processor stands for."""
    family = parse_family(word)
    if family or word == SPIRV:
        return {one.owner for one in TARGETS if family is None or family.has(one.name)}
    return {package_owner(one) for one in GENERIC_PROCESSORS.get(word, (word,))}
