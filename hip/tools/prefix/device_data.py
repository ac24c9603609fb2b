"""For which GPUs the data files of libraries are, by their names.

DeviceData(Path("prefix")).readers(["lib/rocblas/**"])  # {"gfx1100": ("gfx11-generic", "gfx1100"), "gfx90a": …}

A program that is compiled for some GPU targets reads the files for the GPUs that its code may run on.
"""

import functools
import os
from collections.abc import Iterable
from pathlib import Path

from lib.gpus.families import is_target
from lib.gpus.paths import named_targets
from lib.gpus.table import TARGETS
from lib.gpus.target_id import GENERIC_PROCESSORS, TargetId, can_load, gpus_of


class DeviceData:
    """Looks at the names of a prefix's files, each directory once."""

    def __init__(self, prefix: Path) -> None:
        self._prefix = prefix
        self._names: dict[str, dict[str, tuple[str, ...]]] = {}

    def readers(self, patterns: Iterable[str]) -> dict[str, tuple[str, ...]]:
        """Return how names of data files say GPUs, and of each which targets have programs that read such files.

        `patterns` are `{directory}/**`. Targets are without features; names and targets are sorted.
        """
        found: dict[str, tuple[str, ...]] = {}
        for pattern in patterns:
            if pattern not in self._names:
                self._names[pattern] = self._look(pattern.removesuffix("/**"))
            found |= self._names[pattern]
        return dict(sorted(found.items()))

    def _look(self, directory: str) -> dict[str, tuple[str, ...]]:
        found = {}
        for place, _, names in os.walk(self._prefix / directory):
            for name in names:
                path = Path(place, name).relative_to(self._prefix).as_posix()
                for processor in {target.processor for target in named_targets(path)}:
                    if is_target(processor) or processor in GENERIC_PROCESSORS:
                        found[_as_in(path, processor)] = readers(processor)
        return found


def _as_in(path: str, processor: str) -> str:
    """Return a processor as a path has it: `gfx9_generic` in the names of identifiers."""
    return processor if processor in path else processor.replace("-", "_")


@functools.cache
def readers(processor: str) -> tuple[str, ...]:
    """Return the GPU targets, without features, whose programs may run where code for a processor is loaded."""
    named = {processor, *GENERIC_PROCESSORS, *(target.name for target in TARGETS)}
    targets = map(TargetId, named.union(*GENERIC_PROCESSORS.values()))
    code = TargetId(processor)
    return tuple(sorted(one.processor for one in targets if any(can_load(code, gpu) for gpu in gpus_of(one))))
