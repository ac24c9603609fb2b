"""The device code of a file, as `lib.device.reader.read_device_code` returns it.

Offsets and sizes are in bytes. Offsets of a file are file offsets; offsets of a code object count from the beginning of
its bundle, inflated if it is compressed: so the format has it.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from typing import Final

from lib.elf.source import ElfError, FileError
from lib.gpus.target_id import SPIRV, TargetId, parse_target_id


class Method(Enum):
    """Compression of a bundle; the values come from LLVM's enumeration of compression formats."""

    ZLIB = 0
    ZSTD = 1


_TEXT = re.compile(r"[0-9A-Za-z_.:+-]+", re.ASCII)
#: How the fourth part begins when it is not the triple's environment but a target (AMD's, SPIR-V, NVIDIA's).
_TARGET_PREFIXES = ("gfx", SPIRV, "sm_")


@dataclass(frozen=True, slots=True)
class EntryId:
    """A parsed entry ID; `text` is how it stands in the bundle.

    `kind` is the runtime: `host`, `hip` (before code object V4, and SPIR-V), `hipv4`, `openmp`. `target` is None for
    the host, and where the triple says it all. The target of another maker's machine is in `text` alone.
    """

    text: str
    kind: str
    triple: str
    target: TargetId | None = None

    @property
    def is_host(self) -> bool:
        """Whether this stands for the program itself, whose code is not in the bundle."""
        return self.kind == "host"


def parse_entry_id(text: str) -> EntryId:
    """Parse an entry ID. Raises ValueError, whose message says what was expected."""
    kind, *parts = text.split("-", 4)
    if not _TEXT.fullmatch(text) or not kind or len(parts) < 3:
        raise ValueError(f"entry ID {text!r}: expected KIND-TRIPLE-TARGET, such as hipv4-amdgcn-amd-amdhsa--gfx1030")
    environment, _, target = "-".join(parts[3:]).partition("-")
    if environment.startswith(_TARGET_PREFIXES):
        environment, target = "", "-".join(parts[3:])
    triple = "-".join((*parts[:3], environment)).removesuffix("-")
    is_amd = parts[1] == "amd" and parts[0].startswith(("amdgcn", "amdgpu", "spirv"))
    return EntryId(text, kind, triple, parse_target_id(target) if target and is_amd else None)


@dataclass(frozen=True, slots=True)
class Compression:
    """Header of a compressed bundle.

    `digest` is the first eight bytes of the MD5 of the inflated bundle.
    """

    version: int
    method: Method
    header_size: int
    inflated_size: int
    digest: bytes


@dataclass(frozen=True, slots=True)
class CodeObject:
    """One entry of a bundle: `size` bytes at `offset` in the inflated bundle. The host's entry is mostly empty."""

    entry: EntryId
    offset: int
    size: int

    @property
    def end(self) -> int:
        """The offset behind the last byte."""
        return self.offset + self.size


@dataclass(frozen=True, slots=True)
class Bundle:
    """An offload bundle: `size` bytes at file offset `offset`, header included; `code_objects` in the table's order."""

    offset: int
    size: int
    compression: Compression | None
    code_objects: tuple[CodeObject, ...]

    @property
    def end(self) -> int:
        """The file offset behind the last byte."""
        return self.offset + self.size


class Pointer(Enum):
    """Way in which a wrapper's pointer gets its value when the file is loaded."""

    IN_PLACE = "in place"
    RELATIVE = "R_*_RELATIVE"
    RELR = "RELR"
    SYMBOL = "a symbol"


@dataclass(frozen=True, slots=True)
class Wrapper:
    """Structure for HIP (`__CudaFatBinaryWrapper`): at virtual address `address`, file offset `offset`.

    `bundle_address` is the virtual address of the bundle as linked, `bundle_offset` where the file has it.
    """

    address: int
    offset: int
    pointer: Pointer
    bundle_address: int
    bundle_offset: int


@dataclass(frozen=True, slots=True)
class SplitWrapper:
    """A wrapper whose bundle was split off: HIP takes code object `index` of the library out of `.kpack` archives.

    At virtual address `address`, file offset `offset`; `reference_offset` is where the file says which archives.
    """

    address: int
    offset: int
    index: int
    reference_offset: int


@dataclass(frozen=True, slots=True)
class Span:
    """Range of bundles: a section of an ELF file, or a whole bundle file (`name` is empty, `address` 0)."""

    name: str
    offset: int
    size: int
    address: int

    @property
    def end(self) -> int:
        """The file offset behind the last byte."""
        return self.offset + self.size


@dataclass(frozen=True, slots=True)
class DeviceCode:
    """All device code of the file called `path`: `spans` and `bundles` by file offset, wrappers by address."""

    path: str
    spans: tuple[Span, ...] = ()
    bundles: tuple[Bundle, ...] = ()
    wrappers: tuple[Wrapper, ...] = ()
    split: tuple[SplitWrapper, ...] = ()
    """Wrappers whose code is in archives elsewhere. HIP does not look at bundles that such a file may have left."""

    def code_objects(self) -> Iterator[CodeObject]:
        """Yield the code objects of all bundles that have bytes; the host's entries are none."""
        for bundle in self.bundles:
            yield from (code for code in bundle.code_objects if code.size and not code.entry.is_host)

    @property
    def unwrapped(self) -> tuple[Bundle, ...]:
        """Bundles that no wrapper points to: HIP never sees them."""
        wrapped = {wrapper.bundle_offset for wrapper in self.wrappers}
        return tuple(bundle for bundle in self.bundles if bundle.offset not in wrapped)


class DeviceError(FileError):
    """A file whose device code cannot be read."""


@contextmanager
def device_errors() -> Iterator[None]:
    """Turn the ElfError of `lib.elf`, whose `Source` all reading goes through, into DeviceError."""
    try:
        yield
    except ElfError as error:
        raise DeviceError(error.path, error.offset, error.reason) from None


#: The bits of e_flags that name the processor.
EF_AMDGPU_MACH: Final = 0xFF
#: The first number of a processor of the architecture amdgcn.
_FIRST: Final = 0x20
#: From that number on, in order; `-` stands for numbers that are reserved.
_NAMES: Final = """
gfx600 gfx601 gfx700 gfx701 gfx702 gfx703 gfx704 - gfx801 gfx802 gfx803 gfx810 gfx900 gfx902 gfx904 gfx906
gfx908 gfx909 gfx90c gfx1010 gfx1011 gfx1012 gfx1030 gfx1031 gfx1032 gfx1033 gfx602 gfx705 gfx805 gfx1035 gfx1034 gfx90a
gfx940 gfx1100 gfx1013 gfx1150 gfx1103 gfx1036 gfx1101 gfx1102 gfx1200 gfx1250 gfx1151 gfx941 gfx942 - gfx1201 gfx950
gfx1310 gfx9-generic gfx10-1-generic gfx10-3-generic gfx11-generic gfx1152 - - gfx1153 gfx12-generic gfx1251
gfx12-5-generic gfx1172 gfx1170 gfx1171 gfx9-4-generic
"""
PROCESSORS: Final[Mapping[int, str]] = {
    number: name for number, name in enumerate(_NAMES.split(), _FIRST) if name != "-"
}


def code_object_target(flags: int) -> TargetId | None:
    """Return the processor in e_flags, without features; None for a number that is not known."""
    name = PROCESSORS.get(flags & EF_AMDGPU_MACH)
    return TargetId(name) if name else None
