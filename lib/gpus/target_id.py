"""Target IDs: which processor, configured how, a code object is for.

    code, gpu = parse_target_id("gfx90a:xnack+"), parse_target_id("gfx90a:sramecc+:xnack-")
    can_load(code, gpu)  # False

Clang's documentation of the offload bundler ("Target ID") has syntax and rules; LLVM's "User Guide for AMDGPU Backend"
has what generic processors cover. Pure functions.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from lib.gpus.families import package_owner

#: Generic processors, and the processors that each covers.
GENERIC_PROCESSORS: Final[Mapping[str, frozenset[str]]] = {
    "gfx9-generic": frozenset(("gfx900", "gfx902", "gfx904", "gfx906", "gfx909", "gfx90c")),
    "gfx9-4-generic": frozenset(("gfx940", "gfx941", "gfx942", "gfx950")),  # LLVM 20 dropped the first two
    "gfx10-1-generic": frozenset(("gfx1010", "gfx1011", "gfx1012", "gfx1013")),
    "gfx10-3-generic": frozenset(("gfx1030", "gfx1031", "gfx1032", "gfx1033", "gfx1034", "gfx1035", "gfx1036")),
    "gfx11-generic": frozenset(
        ("gfx1100", "gfx1101", "gfx1102", "gfx1103", "gfx1150", "gfx1151", "gfx1152", "gfx1153", "gfx1154")
    ),
    "gfx11-7-generic": frozenset(("gfx1170", "gfx1171", "gfx1172")),
    "gfx12-generic": frozenset(("gfx1200", "gfx1201")),
    "gfx12-5-generic": frozenset(("gfx1250", "gfx1251")),
    "gfx13-generic": frozenset(("gfx1310",)),
}

#: What clang calls portable code, SPIR-V that the runtime compiles for the processor that is there.
SPIRV: Final = "amdgcnspirv"


_PROCESSOR = re.compile(r"gfx[0-9][0-9a-z]*(-[0-9a-z]+)*", re.ASCII)
_FEATURE = re.compile(r"([a-z][0-9a-z-]*)([+-])", re.ASCII)


@dataclass(frozen=True, slots=True, order=True)
class TargetId:
    """A processor and the features that are fixed: (name, on or off), sorted by name. `str()` is the canonical form.

    A feature that is not named is "any": such code runs whether the processor has it on or off.
    """

    processor: str
    features: tuple[tuple[str, bool], ...] = ()

    def __str__(self) -> str:
        return self.processor + "".join(f":{name}{'+' if on else '-'}" for name, on in self.features)


def parse_target_id(text: str) -> TargetId:
    """Parse a target ID, with features in any order.

    Processors and features that nobody has heard of are taken as they are: there will be new ones.
    Raises ValueError, whose message says what was expected.
    """
    processor, *words = text.split(":")
    found = [_FEATURE.fullmatch(word) for word in words]
    if not all(found):
        raise ValueError(f"target ID {text!r}: expected features that end with + or -, such as gfx90a:xnack+")
    features = [(match[1], match[2] == "+") for match in found if match]
    if not _PROCESSOR.fullmatch(processor) and processor != SPIRV:
        raise ValueError(f"target ID {text!r}: expected a processor such as gfx1030, gfx11-generic or {SPIRV}")
    if len({feature for feature, _ in features}) != len(features):
        raise ValueError(f"target ID {text!r}: a feature is named twice")
    return TargetId(processor, tuple(sorted(features)))


def can_load(code: TargetId, target: TargetId) -> bool:
    """Whether a GPU described by `target` can load a code object made for `code`.

    A runtime names all features of its GPU. Where `target` leaves one out, GPUs with it on and with it off are both
    meant, and the answer is whether one of them can load the code. SPIR-V can be compiled for every GPU. Where targets
    of one ISA version share a package (`gfx1250`, `gfx1250-strict`), the owner's name stands for both.
    """
    if code.processor == SPIRV:
        return True
    covered = GENERIC_PROCESSORS.get(code.processor, frozenset())
    named = (code.processor, package_owner(code.processor))
    if target.processor not in named and target.processor not in covered:
        return False
    has = dict(target.features)
    return all(has.get(name, on) == on for name, on in code.features)


def gpus_of(target: TargetId) -> frozenset[TargetId]:
    """Return the GPUs that programs run on which are compiled for a target.

    They are those that a generic processor covers, and the owner of the package that the target shares.
    """
    processors = {target.processor, package_owner(target.processor), *GENERIC_PROCESSORS.get(target.processor, ())}
    return frozenset(TargetId(processor, target.features) for processor in processors)
