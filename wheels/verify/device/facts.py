"""Collects facts for the checks of device code from the bytes of files, while the engine reads them.

It reads only tables: some kilobytes of each bundle, however many gigabytes of code there are.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import BinaryIO, Final

from lib.device.kpack import SUFFIX, KpackReference, read_kpack, read_reference
from lib.device.model import DeviceError
from lib.device.reader import is_bundle, read_device_code
from lib.elf import constants as c
from lib.elf.reader import is_elf
from lib.elf.source import ElfError
from lib.gpus.target_id import TargetId
from lib.pe.reader import is_pe
from wheels.verify.model import Collector, FileFacts

DEVICE: Final = "device"


@dataclass(frozen=True)
class DeviceFacts:
    """The device code of one file: bundles of a library, or what an archive holds for libraries elsewhere."""

    bundles: tuple[frozenset[TargetId], ...] = ()
    """The targets of each bundle, by file offset, without targets of other makers."""
    archive: dict[str, frozenset[TargetId]] = field(default_factory=dict)
    """Of a `.kpack`: targets by `library#number`."""
    sizes: dict[TargetId, int] = field(default_factory=dict)
    """Bytes of code by target, of all bundles or of the whole archive."""
    reference: KpackReference | None = None
    """Of a library whose device code was split off: where it is."""
    wrappers: tuple[int, ...] = ()
    """The numbers of the bundles that such a library asks for."""
    is_program: bool = False
    """Whether it is a program or library, and not a bundle by itself."""
    damage: str = ""
    """Why it cannot be read; else empty."""


def _wants(path: str, size: int, head: bytes) -> bool:
    if path.endswith(SUFFIX) or is_bundle(head) or (is_pe(head) and size >= 64):
        return True
    host = is_elf(head) and int.from_bytes(head[18:20], "little") != c.EM_AMDGPU
    return host and size >= 64 and int.from_bytes(head[16:18], "little") in (c.ET_DYN, c.ET_EXEC)


def read_facts(file: BinaryIO, facts: FileFacts) -> DeviceFacts | None:
    """Read the device code of a file; None if there is none, and of a damaged ELF file or PE image: W4xx says so."""
    program = facts.elf or facts.pe
    try:
        if facts.path.endswith(SUFFIX):
            entries = read_kpack(file, facts.path)
            return DeviceFacts(
                archive={name: frozenset(target for target, _ in found) for name, found in entries.items()},
                sizes=_sizes(pair for found in entries.values() for pair in found),
            )
        if facts.elf_damage or facts.pe_damage:
            return None
        reference = read_reference(file, program) if program else None
        device = read_device_code(file, facts.path)
    except (DeviceError, ElfError) as error:
        return DeviceFacts(damage=f"at {error.offset:#x}: {error.reason}")
    if device.split:
        wrappers = tuple(wrapper.index for wrapper in device.split)
        return DeviceFacts(reference=reference, wrappers=wrappers, is_program=True)
    bundles = tuple(
        frozenset(code.entry.target for code in bundle.code_objects if code.size and code.entry.target)
        for bundle in device.bundles
    )
    if not bundles and reference is None:
        return None
    codes = ((code.entry.target, code.size) for code in device.code_objects())
    return DeviceFacts(
        bundles=bundles,
        sizes=_sizes((target, size) for target, size in codes if target),
        reference=reference,
        is_program=program is not None,
    )


def _sizes(codes: Iterable[tuple[TargetId, int]]) -> dict[TargetId, int]:
    found: Counter[TargetId] = Counter()
    for target, size in codes:
        found[target] += size
    return dict(sorted(found.items()))


COLLECTOR: Final = Collector(DEVICE, _wants, inspect=read_facts)
