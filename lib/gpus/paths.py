"""Reads GPU targets from the names of files and distributions; says which GPU loads which code, and who has it.

    named_targets("lib/Kernels.so-000-gfx90a-xnack+.hsaco")   # gfx90a:xnack+
    named_targets("share/miopen/db/gfx90a6e.kdb")             # gfx90a, with 0x6e compute units
    named_targets("lib/K_gfx1030_gfx1100.co")                 # both
    target_of_local_version("rocm7.gfx110x.all")              # gfx110X-all
    loads("gfx11-generic", "gfx1100")                         # True
    naming_part("share/miopen/db/gfx942130.HIP.fdb.txt")      # the whole path: it is loaded for gfx942 alone
    naming_part("acme/gfx942.py")                             # None: Python for a GPU is for the host

ROCm's libraries open such files by names that they make up from the target of the GPU. (The names are Tensile's,
rocBLAS's and MIOpen's; features are written with `-` instead of `:`.)
"""

import functools
import posixpath
import re
from collections.abc import Iterable
from difflib import get_close_matches
from itertools import takewhile
from typing import Final

from lib.gpus.families import (
    find_target,
    is_target,
    name_in_distribution,
    overlap,
    package_owner,
    parse_family,
    without_features,
)
from lib.gpus.table import TARGETS
from lib.gpus.target_id import GENERIC_PROCESSORS, SPIRV, TargetId, can_load, parse_target_id

#: Processors of LLVM's table that ROCm was built for, and is no more.
_OLDER: Final = frozenset(
    [
        "gfx600",
        "gfx601",
        "gfx602",
        "gfx700",
        "gfx701",
        "gfx703",
        "gfx704",
        "gfx801",
        "gfx802",
        "gfx803",
        "gfx805",
        "gfx810",
    ]
)
#: The processors of both tables, without features.
PROCESSORS: Final = frozenset(
    {target.name for target in TARGETS} | {*GENERIC_PROCESSORS, *_OLDER}.union(*GENERIC_PROCESSORS.values())
)

#: With no more characters in common, words are not near each other: all targets begin with `gfx`.
_LEAST: Final = 4
#: So many targets are named as near.
_SHOWN: Final = 4


def is_known(word: str) -> bool:
    """Whether a target, with or without features, is in one of the tables, or a family has such a target."""
    family = parse_family(word)
    return without_features(word) in PROCESSORS or (family is not None and any(map(family.has, PROCESSORS)))


def suggestion(word: str) -> str:
    """Return the known targets that are spelled alike, if there are any, and those that packages can be for."""
    word = without_features(word)
    begun = {one: _common(one, word) for one in PROCESSORS}
    most = max(begun.values())
    # `gfx1109` is near gfx1100 rather than gfx1190: what differs last differs least.
    same = sorted(one for one, length in begun.items() if length == most) if most > _LEAST else []
    near = same if 0 < len(same) <= _SHOWN else get_close_matches(word, same or sorted(PROCESSORS), _SHOWN, cutoff=0.7)
    known = f"known are {', '.join(target.name for target in TARGETS)}"
    return f"near it are {', '.join(near)}; {known}" if near else known


def _common(one: str, other: str) -> int:
    """Return how many characters two words begin with alike."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


#: How a target in a name begins. What follows belongs to it if it is in a table, or a feature.
_TARGET: Final = re.compile(r"(?<![0-9A-Za-z])gfx[0-9][0-9a-z]*", re.ASCII)
#: The form that processors have, where none that is known begins a name.
_SHAPE: Final = re.compile(r"gfx(?:1[0-9]|[6-9])[0-9a-f]{2}", re.ASCII)
#: What follows a processor: compute units, as MIOpen writes them, and features.
_UNITS: Final = re.compile(r"[0-9a-f]*", re.ASCII)
_FEATURE: Final = re.compile(r"[-:_](xnack|sramecc)([+-])", re.ASCII)


def named_targets(path: str, known: Iterable[str] = ()) -> tuple[TargetId, ...]:
    """Return the targets that a path names, sorted: all of the last part of the path that names any.

    `known` are more processors than AMD's and LLVM's tables have. A processor is the longest known name that the text
    begins with; else what has the form of one; else the text as it is, for which nobody will have code.
    """
    processors = PROCESSORS.union(known)
    for part in reversed(path.split("/")):
        found = {_target_at(part, match, processors) for match in _TARGET.finditer(part)}
        if found:
            return tuple(sorted(found))
    return ()


def _target_at(part: str, match: re.Match[str], processors: frozenset[str]) -> TargetId:
    text = part[match.start() :]
    begun = [one for one in processors if _begins(text, one)]
    shape = _SHAPE.match(text)
    processor = max(begun, key=len) if begun else shape[0] if shape else match[0]
    at = len(processor)
    if units := _UNITS.match(text, at):
        at = units.end()
    features = []
    while feature := _FEATURE.match(text, at):
        features.append((feature[1], feature[2] == "+"))
        at = feature.end()
    return TargetId(processor, tuple(sorted(set(features))))


def _begins(text: str, processor: str) -> bool:
    """Whether a text begins with a processor; after a name with a `-` no more letters or digits may follow.

    Such a name can be written with `_` as well, as identifiers have it.
    """
    name, rest = text[: len(processor)], text[len(processor) :]
    return name.replace("_", "-") == processor and not ("-" in processor and rest[:1].isalnum())


def target_of_distribution(name: str) -> str | None:
    """Return the target or family that the normalised name (PEP 503) of a distribution ends in; None if in none.

    Families are returned as ROCm's builds write them, with a capital `X`.
    """
    match = re.search(r"(?:^|-)(gfx[^/]*)$", name)
    if match is None:
        return None
    text = match[1]
    if text in GENERIC_PROCESSORS or is_target(text):
        return text
    family = "gfx" + text.removeprefix("gfx").replace("x", "X")
    return family if parse_family(family) else None


def target_of_local_version(local: str | None) -> str | None:
    """Return the target or family that a local version (PEP 440) ends in, as split wheels have it; None if in none."""
    return target_of_distribution(split_local_version(local)[1].replace(".", "-"))


def split_local_version(local: str | None) -> tuple[str, str]:
    """Return a local version without the target or family that it ends in, and that; empty if it ends in none."""
    parts = (local or "").split(".")
    for at, part in enumerate(parts):
        if part.startswith("gfx") and target_of_distribution("-".join(parts[at:])):
            return ".".join(parts[:at]), ".".join(parts[at:])
    return local or "", ""


#: Ends of the names of files that are device code as a whole: code objects, alone or bundled, MIOpen's databases,
#: ROCm's archives.
CODE_SUFFIXES: Final = (".co", ".hsaco", ".kdb", ".kpack")
#: Ends of the names of files that come with such code: bundles, of which the tables of code are read as well, and
#: Tensile's lists. A library has code for what they name.
LISTING_SUFFIXES: Final = (".hipfb", ".dat")

#: Suffixes of code objects, and of tables and archives of them. Two more lists are for other questions: CODE_SUFFIXES
#: above, and TARGET_SUFFIXES of tools/fetch/debian/table.py. Look at each when you add one.
KERNELS: Final = (".co", ".dat", ".hsaco", ".kdb")
#: Suffixes of MIOpen's databases of kernels, of what was found to be fast, and of models that predict that.
DATABASES: Final = (".kdb", ".db", ".db.txt", ".fdb.txt", ".model")
#: Where MIOpen has its databases, whose names begin with the GPU.
_MIOPEN: Final = re.compile(r"(?:^|/)miopen/db/gfx[^/]*$")
#: AOTriton's archives of kernels: `amd-gfx942`, and `amd-gfx11xx` for a family.
_IMAGES: Final = re.compile(r"(?:^|.*/)aotriton\.images/amd-gfx[^/]+(?=/)")
#: Directories for one GPU: Tensile's in rocBLAS and others, and the directories of hipDNN's plugins at any depth.
_DIRECTORIES: Final = re.compile(
    r"(?:^|.*?/)(?:(?:rocblas|hipblaslt|hipsparselt)/library|engines/(?:test_)?arch_content(?:/[^/]+)*?)"
    r"/gfx[0-9][^/]*(?=/)"
)


def naming_part(path: str) -> str | None:
    """Return the part of a path that says for which GPUs a file is loaded; None if it is for any, or not loaded so.

    `named_targets` reads the targets of such a part. AMD's splitter takes the same files apart (rocm-systems,
    shared/kpack, `database_handlers`, July 2026); it also knows libraries that are named for a GPU, whose device code
    says it here, and static libraries.
    """
    name = posixpath.basename(path)
    if found := _IMAGES.match(path) or _DIRECTORIES.match(path):
        return path if name.endswith(KERNELS) and "gfx" in name else found[0]
    is_database = name.endswith(DATABASES) and _MIOPEN.search(path) is not None
    return path if is_database or name.endswith(KERNELS) else None


def is_code_file(path: str) -> bool:
    """Whether a file with a naming part has code for GPUs; the others say which code to load, or how fast it is."""
    return path.endswith(KERNELS) or _IMAGES.match(path) is not None


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
