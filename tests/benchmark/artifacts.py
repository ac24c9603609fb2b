"""The benchmark's input: a copy of the artifacts that costs nothing, and changes to it that harm nobody.

A copy has links to the same files (hard links), so no file is ever opened for writing: a change writes a new file and
puts it instead of the link.
"""

import errno
import os
import shutil
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

from lib.elf.constants import SHT_PROGBITS
from lib.elf.reader import read_elf
from lib.elf.source import ElfError

#: From this size on the catalog gives a file actions of its own.
BIG_FILE_BYTES = 32 << 20
MANIFEST = "artifact_manifest.txt"
MEBIBYTE = 1 << 20
#: Linking across file systems, or where a file system or the kernel's settings do not let us.
NOT_LINKED = (errno.EXDEV, errno.EPERM, errno.EACCES, errno.EMLINK, errno.EOPNOTSUPP)


def link_or_copy(source: str, target: str) -> None:
    """Give a file a second name; where that cannot be, copy it."""
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError as error:
        if error.errno not in NOT_LINKED:
            raise
        shutil.copy2(source, target, follow_symlinks=False)


def copy_artifacts(source: Path, target: Path) -> Path:
    """Copy a directory of artifacts, and return the copy."""
    for folder in sorted(path for path in source.iterdir() if path.is_dir() and not path.name.startswith(".")):
        shutil.copytree(folder.resolve(), target / folder.name, symlinks=True, copy_function=link_or_copy)
    return target


def read_all(artifacts: Path) -> None:
    """Read all files, so that the page cache has them: what ran before decides how much of them it still has."""
    for directory, _, names in os.walk(artifacts):
        for path in (Path(directory, name) for name in names):
            if not path.is_symlink():
                with path.open("rb", buffering=0) as file:
                    while file.read(MEBIBYTE):
                        pass


def replace(path: Path, change: Callable[[BinaryIO], object]) -> None:
    """Put a changed copy instead of a file, which may be shared with others, and wait until it is on the disk."""
    new = path.with_name(path.name + ".new")
    shutil.copy2(path, new)
    mode = new.stat().st_mode
    new.chmod(mode | stat.S_IWUSR)  # artifacts may be read-only
    with new.open("r+b") as file:
        change(file)
        os.fsync(file.fileno())
    new.chmod(mode)
    new.replace(path)


def change_library(path: Path, number: int) -> None:
    """Change some bytes in the middle of what a library mostly consists of, as another kernel would; its size stays."""
    with path.open("rb") as file:
        sections = read_elf(file, str(path)).section_headers
    biggest = max((section for section in sections if section.type == SHT_PROGBITS), key=lambda section: section.size)

    def change(file: BinaryIO) -> None:
        file.seek(biggest.offset + biggest.size // 2)
        file.write(number.to_bytes(8, "little"))

    replace(path, change)


def change_header(path: Path, number: int) -> None:
    """Add a comment to a header."""

    def change(file: BinaryIO) -> None:
        file.seek(0, os.SEEK_END)
        file.write(f"// {number}\n".encode())

    replace(path, change)


def files(artifacts: Path, component: str) -> Iterator[Path]:
    """Yield the regular files of all artifacts of a component, sorted."""
    for folder in sorted(artifacts.glob(f"*_{component}_*")):
        for path in sorted(folder.rglob("*")):
            if path.is_file() and not path.is_symlink() and path.name != MANIFEST:
                yield path


def is_library(path: Path) -> bool:
    """Whether a file is a library for the host that can be read: device code is ELF, too."""
    if ".so" not in path.name:
        return False
    try:
        with path.open("rb") as file:
            return any(section.type == SHT_PROGBITS for section in read_elf(file, str(path)).section_headers)
    except ElfError:
        return False


def find_library(artifacts: Path, kind: str) -> Path | None:
    """Choose the library to change: `big`, `small` or what its name begins with; None if there is none.

    Big is the biggest of all. Small is the one in the middle of those that share an action with other files.
    """
    found = sorted((path for path in files(artifacts, "lib") if is_library(path)), key=lambda path: path.stat().st_size)
    if kind == "big":
        return found[-1] if found else None
    if kind == "small":
        small = [path for path in found if path.stat().st_size < BIG_FILE_BYTES]
        return small[len(small) // 2] if small else None
    return next((path for path in reversed(found) if path.name.startswith(kind)), None)


def find_header(artifacts: Path) -> Path | None:
    """Choose the header to change, preferably a header that only the devel package has; None if there is no header."""
    found = [path for path in files(artifacts, "dev") if path.suffix in (".h", ".hpp") and "include" in path.parts]
    runtime = ("core-hip_dev_", "core-ocl_dev_")  # of these, core has the headers, too
    only = [path for path in found if not path.relative_to(artifacts).parts[0].startswith(runtime)]
    return next(iter(only or found), None)
