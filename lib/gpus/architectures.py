"""AMD's GPU architectures as packages see them: what a file's name says, which GPU loads which code, who takes what.

    named("lib/Kernels_gfx90a-xnack+.co")                # ("gfx90a:xnack+",)
    loads("gfx11-generic", "gfx1100")                    # True

Packages for GPUs of another maker say by themselves which files are for which GPU.
"""

import functools
from collections.abc import Iterable
from typing import Final

from lib.gpus.families import find_target, is_target, name_in_distribution, overlap, package_owner, without_features
from lib.gpus.paths import named_targets
from lib.gpus.target_id import GENERIC_PROCESSORS, SPIRV, can_load, parse_target_id

#: Ends of the names of files that are device code as a whole: code objects, alone or bundled, MIOpen's databases,
#: ROCm's archives.
CODE_SUFFIXES: Final = (".co", ".hsaco", ".kdb", ".kpack")
#: Ends of the names of files that come with such code: bundles, of which the tables of code are read as well, and
#: Tensile's lists. A library has code for what they name.
LISTING_SUFFIXES: Final = (".hipfb", ".dat")

_parse = functools.cache(parse_target_id)


def named(path: str, known: Iterable[str] = ()) -> tuple[str, ...]:
    """Return the target IDs that a path names, sorted; `known` are further targets.

    Raises ValueError for a malformed name.
    """
    return tuple(str(target) for target in named_targets(path, (_parse(one).processor for one in known)))


def loads(code: str, gpu: str) -> bool:
    """Whether a GPU, by its target ID, can load code for another target ID. Raises ValueError for a malformed name."""
    return can_load(_parse(code), _parse(gpu))


def serving(code: str) -> set[str]:
    """Return the owners of the packages for a target, or for what a generic processor covers."""
    processor = without_features(code)
    covered_by = GENERIC_PROCESSORS.get(processor, frozenset([processor]))
    known = {one for one in covered_by if find_target(one)} or {one for one in covered_by if is_target(one)}
    return {package_owner(one) for one in known}


def covered(code: str) -> frozenset[str]:
    """Return the processor of a target ID, or what a generic one covers; none for SPIR-V."""
    processor = _parse(code).processor
    return GENERIC_PROCESSORS.get(processor, frozenset() if processor == SPIRV else frozenset([processor]))


def canonical(name: str) -> str:
    """Return a target ID in canonical form. Raises ValueError for another word."""
    return str(_parse(name))


def in_distribution(name: str) -> str:
    """Return the name of the package that owns a target, or of a family: `gfx12-5`."""
    return name_in_distribution(name).lower()


def is_package_for(name: str, gpu: str) -> bool:
    """Whether a target, a family or a generic processor has a GPU."""
    return overlap(name, gpu) or gpu in GENERIC_PROCESSORS.get(name, ())
