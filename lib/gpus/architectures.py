"""GPU architectures as packages see them: what a file's name says, which GPU loads which code, who takes what.

    AMD.named("lib/Kernels_gfx90a-xnack+.co")                # ("gfx90a:xnack+",)
    table = read_architectures({"names": ["sm_80", "sm_90"], "families": {"sm_8x": ["sm_80"]}})
    table.named("share/kernels_sm_8x.bin")                   # ("sm_8x",)
    table.can_load("sm_8x", "sm_80")                         # True
    load_architectures("gpus.json")                          # the same, as `sdk_gpu_architectures` writes it

AMD's architectures have rules of their own: features, generic processors, names that MIOpen and Tensile make up. Other
makers' architectures are a table, which a `sdk_gpu_architectures` declares.
"""

import functools
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from lib.common.program import ToolError, read_document
from lib.gpus.families import (
    find_target,
    is_target,
    name_in_distribution,
    overlap,
    package_owner,
    without_features,
)
from lib.gpus.paths import named_targets, target_of_distribution, target_of_local_version
from lib.gpus.target_id import GENERIC_PROCESSORS, SPIRV, can_load, parse_target_id


class Architectures(Protocol):
    """What the names of GPU architectures mean."""

    @property
    def code_suffixes(self) -> tuple[str, ...]:
        """Ends of the names of files that are device code as a whole."""

    @property
    def listing_suffixes(self) -> tuple[str, ...]:
        """Ends of the names of files that come with such code: a library has code for what they name."""

    def named(self, path: str, known: Iterable[str] = ()) -> tuple[str, ...]:
        """Return what a path says that a file is for, sorted; `known` are names besides those that it knows itself."""

    def can_load(self, code: str, gpu: str) -> bool:
        """Whether a GPU loads code that is for an architecture or a family. Raises ValueError for a malformed name."""

    def serving(self, code: str) -> set[str]:
        """Return the architectures that packages can be for, so that one takes such code; none for an unknown name."""

    def covered(self, code: str) -> frozenset[str]:
        """Return the architectures of the GPUs that code is made for; none if it is for all."""

    def canonical(self, name: str) -> str:
        """Return the canonical form of a name of code. Raises ValueError for a malformed or unknown name."""

    def check_gpu(self, name: str) -> None:
        """Raise ValueError, which says what is expected, unless a machine can have a GPU of that architecture."""

    def of_distribution(self, name: str) -> str | None:
        """Return what the normalised name (PEP 503) of a distribution ends in: an architecture or a family."""

    def of_local_version(self, local: str | None) -> str | None:
        """Return what a local version (PEP 440) ends in: an architecture or a family."""

    def in_distribution(self, name: str) -> str:
        """Return how the name of a distribution says an architecture or a family, normalised."""

    def is_package_for(self, name: str, gpu: str) -> bool:
        """Whether a package for an architecture or a family is for a GPU."""


_parse = functools.cache(parse_target_id)


class AmdArchitectures:
    """AMD's, by the tables of AMD and LLVM."""

    #: Code objects, alone or bundled, MIOpen's databases, ROCm's archives.
    code_suffixes = (".co", ".hsaco", ".kdb", ".kpack")
    #: Bundles, of which the tables of code are read as well, and Tensile's lists.
    listing_suffixes = (".hipfb", ".dat")

    def named(self, path: str, known: Iterable[str] = ()) -> tuple[str, ...]:
        """Return the target IDs that a path names."""
        return tuple(str(target) for target in named_targets(path, (_parse(one).processor for one in known)))

    def can_load(self, code: str, gpu: str) -> bool:
        """Whether a GPU, by its target ID, can load code for another target ID."""
        return can_load(_parse(code), _parse(gpu))

    def serving(self, code: str) -> set[str]:
        """Return the owners of the packages for a target, or for what a generic processor covers."""
        processor = without_features(code)
        covered = GENERIC_PROCESSORS.get(processor, frozenset([processor]))
        known = {one for one in covered if find_target(one)} or {one for one in covered if is_target(one)}
        return {package_owner(one) for one in known}

    def covered(self, code: str) -> frozenset[str]:
        """Return the processor of a target ID, or what a generic one covers; none for SPIR-V."""
        processor = _parse(code).processor
        return GENERIC_PROCESSORS.get(processor, frozenset() if processor == SPIRV else frozenset([processor]))

    def canonical(self, name: str) -> str:
        """Return a target ID in canonical form. Raises ValueError for another word."""
        return str(_parse(name))

    def check_gpu(self, name: str) -> None:
        """Raise ValueError unless it is a processor."""
        if not is_target(name):
            raise ValueError("expected one without features, such as gfx942")

    def of_distribution(self, name: str) -> str | None:
        """Return the target or family that a name ends in."""
        return target_of_distribution(name)

    def of_local_version(self, local: str | None) -> str | None:
        """Return the target or family that a local version ends in."""
        return target_of_local_version(local)

    def in_distribution(self, name: str) -> str:
        """Return the name of the package that owns a target, or of a family: `gfx12-5`."""
        return name_in_distribution(name).lower()

    def is_package_for(self, name: str, gpu: str) -> bool:
        """Whether a target, a family or a generic processor has a GPU."""
        return overlap(name, gpu) or gpu in GENERIC_PROCESSORS.get(name, ())


AMD: Final = AmdArchitectures()


def _normalised(word: str) -> str:
    """Return a word as PEP 503 and PEP 440 have it in names of distributions and in local versions."""
    return re.sub("[-_.]+", "-", word).lower()


@dataclass(frozen=True)
class ArchitectureTable:
    """Architectures of another maker."""

    names: tuple[str, ...]
    #: Family -> the architectures that load code which is named for it.
    families: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    #: Architecture -> others whose code its GPUs load as well.
    loads: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    #: What files have in their names instead of an architecture or a family -> that name.
    spellings: Mapping[str, str] = field(default_factory=dict)
    #: Regular expression of further names in paths: of architectures that the table lacks; empty for none.
    pattern: str = ""
    #: Ends of the names of files that are device code as a whole.
    code_suffixes: tuple[str, ...] = ()
    listing_suffixes = ()

    @functools.cached_property
    def _expression(self) -> re.Pattern[str]:
        listed = sorted({*self.names, *self.families, *self.spellings}, key=lambda name: (-len(name), name))
        alternatives = [*map(re.escape, listed), *([f"(?:{self.pattern})"] if self.pattern else [])]
        return re.compile(f"(?<![0-9A-Za-z])(?:{'|'.join(alternatives)})(?![0-9A-Za-z])")

    @functools.cached_property
    def _ends(self) -> Mapping[str, str]:
        """What the ends of names and versions say -> the architecture or family."""
        return {_normalised(name): name for name in (*self.names, *self.families)}

    def named(self, path: str, known: Iterable[str] = ()) -> tuple[str, ...]:
        """Return the architectures and families that the last part of a path says which says any."""
        del known  # The table, or `pattern`, has them.
        for part in reversed(path.split("/")):
            if found := {
                self.spellings.get(match[0], match[0]) for match in self._expression.finditer(part) if match[0]
            }:
                return tuple(sorted(found))
        return ()

    def can_load(self, code: str, gpu: str) -> bool:
        """Whether a GPU loads code for an architecture or a family: its own ones, or as `loads` says."""
        return code == gpu or gpu in self.families.get(code, ()) or code in self.loads.get(gpu, ())

    def serving(self, code: str) -> set[str]:
        """Return an architecture of the table, or a family's architectures."""
        return {code} & set(self.names) | set(self.families.get(code, ()))

    def covered(self, code: str) -> frozenset[str]:
        """Return the members of a family; an architecture is its own, even if the table lacks it."""
        return frozenset(self.families.get(code, (code,)))

    def canonical(self, name: str) -> str:
        """Return a name of the table. Raises ValueError for another word."""
        if name not in self.names and name not in self.families:
            known = ", ".join([*self.names, *sorted(self.families)])
            raise ValueError(f"GPU architecture {name!r}: expected one of {known}. Add it to `names`, or correct it")
        return name

    def check_gpu(self, name: str) -> None:
        """Raise ValueError unless the table has the architecture."""
        if name not in self.names:
            raise ValueError(f"expected one of {', '.join(self.names)}")

    def of_distribution(self, name: str) -> str | None:
        """Return the architecture or family whose name, normalised, a name ends in: the longest such end."""
        words = _normalised(name).split("-")
        ends = ("-".join(words[start:]) for start in range(len(words)))
        return next((self._ends[end] for end in ends if end in self._ends), None)

    def of_local_version(self, local: str | None) -> str | None:
        """Return the same of a local version: `sm_90` for `cuda12.sm.90`."""
        return self.of_distribution(local or "")

    def in_distribution(self, name: str) -> str:
        """Return a name as distributions have it: `sm-90`."""
        return _normalised(name)

    def is_package_for(self, name: str, gpu: str) -> bool:
        """Whether a GPU loads code for the architecture or family."""
        return self.can_load(name, gpu)


def read_architectures(document: Mapping[str, Any] | None) -> Architectures:
    """Read the table that a rule wrote, or return AMD's if there is none.

    Raises ToolError for a pattern that is no regular expression.
    """
    if document is None:
        return AMD
    lists = {
        key: {name: tuple(values) for name, values in document.get(key, {}).items()} for key in ("families", "loads")
    }
    table = ArchitectureTable(
        tuple(document["names"]),
        **lists,
        spellings=document.get("spellings", {}),
        pattern=document.get("pattern", ""),
        code_suffixes=tuple(document.get("code_suffixes", ())),
    )
    try:
        re.compile(table.pattern)
    except re.error as error:
        message = f"pattern {table.pattern!r} is no regular expression: {error}. Correct the `sdk_gpu_architectures`"
        raise ToolError(message) from None
    return table


def load_architectures(path: str | None) -> Architectures:
    """Read the file of an `sdk_gpu_architectures`, or return AMD's without one.

    Raises ToolError for a file that is not one, and as `read_architectures` does.
    """
    document = read_document(path) if path else None
    if path and not (isinstance(document, dict) and isinstance(document.get("names"), list)):
        raise ToolError(f"{path}: expected the file of an `sdk_gpu_architectures`. Give the label of one")
    return read_architectures(document)
