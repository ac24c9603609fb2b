"""What an SDK is, as pure data: artifacts, the packages that are made from them, and the settings of a build.

It says all that the build (`tests.pipeline.run`) and the oracle (`tests.pipeline.expected`) have to know, so its `repr`
is the reproduction of a finding. `tests.pipeline.random_sdks` makes some.
"""

from dataclasses import dataclass, field
from enum import Enum

from develop.testing import device_sample, tiny_elf
from develop.testing.elf_sample import Sample
from lib.device.model import Method, Pointer
from lib.elf import constants as c

LOADER = "/lib64/ld-linux-x86-64.so.2"


@dataclass(frozen=True)
class Data:
    """Bytes that are no ELF file."""

    data: bytes = b""

    def build(self) -> bytes:
        """Return the bytes."""
        return self.data

    @property
    def is_script(self) -> bool:
        """Whether the kernel would start an interpreter for it."""
        return self.data.startswith(b"#!")


@dataclass(frozen=True)
class Elf:
    """A shared library, or a program if it is one, with a dynamic section."""

    soname: str | None = None
    needed: tuple[str, ...] = ()
    rpath: str | None = None
    runpath: str | None = None
    machine: int = c.EM_X86_64
    program: bool = False
    variant: int = 0
    """Tells builds of one library apart: their content differs, and its size if this is odd."""
    spare: int = 3
    """Free entries of the dynamic section: with none, an edit has to move something."""
    zeros: int = 0
    page: int = 0x1000
    versions: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Symbol versions that it needs, by the libraries' names."""
    opens: bool = False
    """Whether it calls dlopen."""
    empty_load: bool = False
    """Whether a segment has no bytes in the file, and its offset is past the end, as `objcopy` leaves them."""

    def build(self) -> bytes:
        """Return the bytes."""
        return Sample(
            page=self.page,
            empty_load=self.empty_load,
            machine=self.machine,
            soname=self.soname,
            needed=self.needed,
            rpath=self.rpath,
            runpath=self.runpath,
            interpreter=LOADER if self.program else None,
            versions=self.versions,
            undefined=("dlopen",) if self.opens else (),
            spare=self.spare,
            zeros=self.zeros,
            tail=f"build {self.variant}".encode() + bytes(1 + 8 * (self.variant % 2)),
        ).build()


class Form(Enum):
    """ELF files without an editable dynamic section, and device code."""

    OBJECT = "object"
    STATIC = "static"
    BUNDLE = "bundle"
    COMPRESSED = "compressed"
    FAT_LIBRARY = "fat library"


#: Clang's name for portable code; the kind and triple of its entry differ from AMD's processors.
SPIRV = "amdgcnspirv"


@dataclass(frozen=True)
class Other:
    """A file of some other form, made for GPU targets if it has device code."""

    form: Form
    targets: tuple[str, ...] = ("gfx1030",)
    machine: int = c.EM_X86_64
    parts: int = 1
    """Bundles of a fat library."""
    size: int = 50
    """Bytes of a code object, about."""
    compressions: tuple[tuple[int, str], ...] = ()
    """Version of the header and method of each bundle by turns: version 0 is plain. Empty: as the form says."""
    pointer: Pointer = Pointer.RELATIVE
    """What makes the pointers of a fat library's wrappers right."""
    soname: str | None = None
    """Of a fat library."""

    @property
    def has_code(self) -> bool:
        """Whether this is a file with device code."""
        return self.form in (Form.BUNDLE, Form.COMPRESSED, Form.FAT_LIBRARY)

    def code(self, part: int) -> list[tuple[str, bytes]]:
        """Return the entry IDs of a bundle and their code objects: no two of a library are alike."""
        entries = [(device_sample.HOST, b"")]
        for target in self.targets:
            prefix = "hip-spirv64-amd-amdhsa--" if target == SPIRV else device_sample.PREFIX
            seed = f"{part} {target} ".encode()
            entries.append((prefix + target, seed * (self.size // len(seed))))
        return entries

    def _bundle(self, part: int, align: int) -> bytes:
        plain = device_sample.bundle(self.code(part), align)
        compressions = self.compressions or (((2, "zlib"),) if self.form is Form.COMPRESSED else ((0, ""),))
        version, method = compressions[part % len(compressions)]
        return device_sample.compressed(plain, version, Method[method.upper()]) if version else plain

    def build(self) -> bytes:
        """Return the bytes."""
        if self.form is Form.OBJECT:
            return tiny_elf.relocatable(self.machine)
        if self.form is Form.STATIC:
            return tiny_elf.program(".rodata", b"static", machine=self.machine)
        if self.form is not Form.FAT_LIBRARY:
            return self._bundle(0, 64)
        parts = tuple(
            device_sample.Part(self._bundle(part, device_sample.PAGE), self.pointer) for part in range(self.parts)
        )
        return device_sample.Sample(
            parts, machine=self.machine, first=device_sample.First.DATA, soname=self.soname
        ).build()


Content = Data | Elf | Other


@dataclass(frozen=True)
class File:
    """A regular file."""

    content: Content = Data()
    executable: bool = False


@dataclass(frozen=True)
class Link:
    """A symbolic link, by its text."""

    text: str


@dataclass(frozen=True)
class Directory:
    """A directory that may be empty."""


Node = File | Link | Directory


@dataclass(frozen=True)
class Artifact:
    """One artifact: its whole name, and what lies below each of its base directories."""

    name: str
    bases: dict[str, dict[str, Node]]


@dataclass(frozen=True)
class Slice:
    """For which GPU targets a package of a `sdk_gpu_packages` is."""

    targets: tuple[str, ...]
    all_targets: tuple[str, ...]
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True)
class Package:
    """What a BUILD file says about one package and its wheel."""

    name: str
    tree: str
    artifacts: tuple[str, ...]
    builds_on: tuple[str, ...] = ()
    kind: str = "runtime"
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    rpath: tuple[str, ...] = ()
    repacked: bool = False
    """Whether a devel package may hold big files that packages it builds on leave out."""
    strict: bool = False
    """Whether it has to have a file of its artifacts, and each of its patterns a path that it matches."""
    slice: Slice | None = None
    """Of a package per GPU target. All such packages of an SDK are of one set."""

    @property
    def distribution(self) -> str:
        """Name of the distribution."""
        return f"sdk-{self.name.replace('_', '-')}"

    @property
    def import_name(self) -> str:
        """Name of the package's Python code."""
        return f"sdk_{self.name}"


#: Console scripts, and the paths of the tools that they start.
SCRIPTS = {"tool": "bin/tool", "tool-1": "bin/tool-1", "x++": "libexec/x/tool", "missing": "bin/missing"}


@dataclass(frozen=True)
class Settings:
    """The settings of a build."""

    compression: str = "fast"
    devel_archive: str = "none"
    version: str = "1.0"
    big_file: int = 32 << 20
    """Bytes from which on a file is a unit of its own."""
    machine: int = c.EM_X86_64
    """The CPU that launchers are made for."""
    license_patterns: tuple[str, ...] = ()
    scripts: bool = False
    """Whether the packages for run time have console scripts: all of SCRIPTS."""


@dataclass(frozen=True)
class Sdk:
    """Everything that a build has to know."""

    artifacts: tuple[Artifact, ...]
    packages: tuple[Package, ...]
    settings: Settings = field(default_factory=Settings)


#: A bundle whose table is nonsense.
TORN = b"__CLANG_OFFLOAD_BUNDLE__" + b"\xff" * 16


#: Names that say for which GPU targets a file is, and for which: docs/rocm/packages.md, "Thin packages". The last part
#: of a path that says any counts.
NAMED_TARGETS = {
    "K.co": (),
    "K_gfx1030.co": ("gfx1030",),
    "K_gfx906.co": ("gfx906",),
    "K_gfx1030_gfx906.co": ("gfx1030", "gfx906"),
    "gfx90a68.kdb": ("gfx90a",),
    "K-000-gfx90a-xnack+.hsaco": ("gfx90a:xnack+",),
    "K_gfx10-3-generic.hsaco": ("gfx10-3-generic",),
    "libk_gfx906.so.1": ("gfx906",),
    "libk.so.1": (),
    "gfx906": ("gfx906",),
    "K_gfx1011.co": ("gfx1011",),
}
