"""What device code a file holds, in a form that several readers can give and that can be compared.

expected = [kept(bundle, target) for bundle in bundles_of(original)]
same("libx.so", expected, bundles_of(sliced))
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from lib.device.content import digests
from lib.device.model import parse_entry_id
from lib.device.reader import read_device_code
from lib.gpus.target_id import TargetId, can_load


@dataclass(frozen=True, order=True)
class Code:
    """An entry of a bundle: its ID, how many bytes it has, and their SHA-256 in hexadecimal."""

    entry: str
    size: int
    sha256: str

    @property
    def is_whole(self) -> bool:
        """Whether this stands for a compressed bundle as a whole."""
        return self.entry == COMPRESSED


#: What stands for the entry ID of a compressed bundle that is taken as a whole.
COMPRESSED = "compressed"
#: The entries of a bundle, sorted: not every reader keeps the order of its table.
Bundle: TypeAlias = tuple[Code, ...]


@dataclass(frozen=True)
class Held:
    """The bundles of a file in order, and of each wrapper (by address) the number of its bundle."""

    bundles: list[Bundle]
    wrappers: list[int]

    def handed(self) -> list[Bundle]:
        """List the bundles that wrappers hand over, sorted.

        Each once: of wrappers that share a bundle (clang's -fgpu-rdc makes one per source file), one registers it.
        """
        return sorted(self.bundles[number] for number in set(self.wrappers))


def held(path: Path) -> Held:
    """Read the bundles of a file with `lib.device`."""
    with path.open("rb") as file:
        device = read_device_code(file, str(path))
        bundles = [
            tuple(sorted(Code(code.entry.text, code.size, digest) for code, digest in found.items()))
            for found in (digests(file, device, bundle) for bundle in device.bundles)
        ]
    numbers = {bundle.offset: number for number, bundle in enumerate(device.bundles)}
    return Held(bundles, [numbers[wrapper.bundle_offset] for wrapper in device.wrappers])


def loadable(code: Code, targets: Iterable[TargetId]) -> bool:
    """Whether one of the targets can load a code object; the host's entry is none."""
    target = parse_entry_id(code.entry).target
    return target is not None and any(can_load(target, one) for one in targets)


def kept(bundle: Bundle, targets: Sequence[TargetId]) -> Bundle:
    """Return what a slice for some targets is to have of a bundle: the host's entries, and what these can load."""
    return tuple(code for code in bundle if parse_entry_id(code.entry).is_host or loadable(code, targets))


def same(what: str, expected: Sequence[Bundle], found: Sequence[Bundle]) -> None:
    """End the program, naming the first difference, unless the same bundles were found as expected."""
    if len(found) != len(expected):
        raise SystemExit(f"{what}: {len(found)} bundles; expected {len(expected)}")
    for number, (wanted, have) in enumerate(zip(expected, found, strict=True)):
        if missing := sorted((Counter(wanted) - Counter(have)).elements()):
            raise SystemExit(f"{what}: bundle {number} lacks {missing[0]}; it has {have}")
        if extra := sorted((Counter(have) - Counter(wanted)).elements()):
            raise SystemExit(f"{what}: bundle {number} has {extra[0]}, which it should not")
