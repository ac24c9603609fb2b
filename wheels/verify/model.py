"""The facts about wheels that checks look at. `wheels.verify.wheel` takes them from the files.

Everything here is plain data, read once.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Final

from packaging.metadata import Metadata
from packaging.tags import Tag
from packaging.utils import NormalizedName
from packaging.version import Version

from lib.elf.model import ElfFile
from lib.pe.model import PeImage
from lib.wheel.zip_members import Archive


@dataclass(frozen=True)
class FileFacts:
    """Facts about one member, from its bytes."""

    path: str
    """As in the archive, `/` between the parts."""
    size: int
    """Bytes, inflated; as many as were really there."""
    mode: int
    """st_mode, type and permissions; 0 where the archive was not made on Unix."""
    sha256: str
    """In hexadecimal; empty if the bytes could not be read to the end."""
    damage: str = ""
    """Why they could not; else empty."""
    content: bytes | None = None
    """The bytes of what lies in the .dist-info directory, and of .pth and .icd files; None for all other files."""
    elf: ElfFile | None = None
    """Of ELF files. Of objects, 32-bit and big-endian ones only the header (see ElfFile)."""
    elf_damage: str = ""
    """Why a file that begins like ELF cannot be read; else empty."""
    pe: PeImage | None = None
    """Of DLLs and EXEs."""
    pe_damage: str = ""
    """Why a file that begins like one of these, with MZ, cannot be read; else empty. It may be for DOS, or data."""
    build_paths: tuple[str, ...] = ()
    """Paths of the machine that built it, of configuration files; sorted."""
    collected: Mapping[str, object] = field(default_factory=dict)
    """What the collectors of the suites returned, by their names."""


@dataclass(frozen=True)
class Wheel:
    """One wheel. What cannot be read is None or empty here, and a finding of `wheels.verify.checks`."""

    path: Path
    size: int
    """Bytes of the wheel itself."""
    archive: Archive
    files: Mapping[str, FileFacts]
    """By path, sorted; no directories, and of several members with one path the last, as installers do it."""
    name: NormalizedName | None
    """From the file name, as `version` and `tags`."""
    version: Version | None
    tags: frozenset[Tag]
    dist_info: str | None
    """The name of its .dist-info directory, if there is just one."""
    metadata: Metadata | None
    """METADATA, if it is valid."""
    label: str = ""
    """Of a wheel variant, the last part of the file name."""

    @property
    def filename(self) -> str:
        """The wheel's file name."""
        return self.path.name

    def text(self, name: str) -> bytes | None:
        """Return the content of a file of the .dist-info directory, such as `WHEEL`; None if it is not there."""
        facts = self.files.get(f"{self.dist_info}/{name}")
        return None if facts is None else facts.content

    def installed(self, path: str) -> str | None:
        """Return where a file comes to lie, relative to site-packages; None for scripts, headers and data.

        (Binary distribution format, "The .data directory": `purelib` and `platlib` are the same place.)
        """
        top, _, rest = path.partition("/")
        if not top.endswith(".data"):
            return path
        key, _, inside = rest.partition("/")
        return inside if key in ("purelib", "platlib") else None


def is_path_file(path: str) -> bool:
    """Whether a file is installed as `.pth` in site-packages, where each start of the interpreter reads it (`site`)."""
    return re.fullmatch(r"(?:[^/]+\.data/(?:purelib|platlib)/)?[^/]+\.pth", path) is not None


#: How the files of modules end: source, and extension modules by the tags of their ABI (PEP 3149), on Windows with or
#: without one. All else that ends in .so is a library.
MODULE: Final = re.compile(r"\.(?:py|(?:(?:cp|pp|graalpy)\d[\w-]*\.)?pyd|abi3\.so|(?:cpython|pypy|graalpy)[\w-]*\.so)$")
#: Configuration by its name, or by the directory that it is in.
CONFIGURATION: Final = (".cfg", ".cmake", ".conf", ".icd", ".ini", ".json", ".la", ".pc", ".toml", ".yaml", ".yml")
CONFIGURATION_DIRECTORY: Final = "etc"


def is_configuration(path: str) -> bool:
    """Whether a file is configuration, outside of the .dist-info directory."""
    directories = path.split("/")[:-1]
    is_one = path.endswith(CONFIGURATION) or CONFIGURATION_DIRECTORY in directories
    return is_one and not (directories and directories[0].endswith(".dist-info"))


def is_driver_name(path: str) -> bool:
    """Whether a file has the name under which OpenCL's loader finds a driver (cl_khr_icd)."""
    return path.endswith(".icd")


@dataclass(frozen=True)
class DistributionSet:
    """Distributions that are published together. If several have one name, only one of them is installed."""

    wheels: tuple[Wheel, ...]
    """Sorted by file name."""
    sdists: tuple[Path, ...] = ()
    """Sorted by file name."""
    target: str = ""
    """The GPU target of the machine (`wheels.verify.installed_for_target`); empty for whatever machine."""


@dataclass(frozen=True)
class Collector:
    """Facts to be taken out of the bytes of files. All functions are called in other processes; none may raise.

    `inspect` is called once all bytes were read, with the file open and seekable: reading forward in it costs inflating
    again, a seek costs inflating 2 MiB on average. Its second argument is what is known of the file.
    """

    name: str
    wants: Callable[[str, int, bytes], bool]
    """Whether a file is of interest: its path in the wheel, its size in bytes, and its first bytes (4096 or all)."""
    inspect: Callable[[BinaryIO, FileFacts], object]
    """Return what is in a file, or None. It is pickled: only plain values and dataclasses."""
