"""Finds the device code in files and wheels, for people and scripts to look at.

A wheel is read without unpacking it. Each code object is hashed if that is wished for, of compressed bundles as it is
inflated: so equal code in different libraries, or builds, is known by its hash.
"""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Final

from lib.device.bundle import is_bundle
from lib.device.content import digests
from lib.device.kpack import SUFFIX, read_kpack
from lib.device.model import CodeObject, DeviceCode
from lib.device.reader import read_device_code
from lib.device.report import describe, document
from lib.elf.reader import is_elf
from lib.gpus.target_id import TargetId
from lib.pe.reader import is_pe
from lib.wheel.member_file import MemberReader
from wheels.verify.device.package_contents import target_of_name
from wheels.verify.wheel import open_wheel

#: Suffixes of PE images; what else begins like one can be for DOS, or data.
_IMAGES: Final = (".dll", ".exe", ".pyd")


@dataclass(frozen=True)
class ListedCode:
    """The device code of one file: bundles, or what an archive holds, or the file itself if it is named for a target.

    `hashes` has the SHA-256 of the code objects of each bundle, None if they were not read.
    """

    path: str
    size: int
    sha256: str
    device: DeviceCode = field(default_factory=lambda: DeviceCode(""))
    hashes: list[dict[CodeObject, str]] | None = None
    archive: Mapping[str, tuple[tuple[TargetId, int], ...]] = field(default_factory=dict)
    named: TargetId | None = None

    def lines(self) -> Iterator[str]:
        """Yield what people read."""
        if self.device.spans:
            yield from describe(self.device, self.hashes)
        elif self.archive:
            yield f"{self.path}: an archive for {len(self.archive)} bundles, {self.size} bytes"
            for name, entries in self.archive.items():
                yield from (f"  {name}  {target!s:<24} {size:>14} bytes" for target, size in entries)
        else:
            yield f"{self.path}: for {self.named} by its name, {self.size} bytes"
            yield f"  {self.sha256}"

    def document(self) -> dict[str, Any]:
        """Return what scripts read."""
        found = document(self.device, self.hashes) | {"path": self.path, "size": self.size, "sha256": self.sha256}
        if self.archive:
            found["archive"] = {
                name: [{"target": str(target), "size": size} for target, size in entries]
                for name, entries in self.archive.items()
            }
        if self.named:
            found["named_for"] = str(self.named)
        return found


def list_wheel(path: Path, *, hashes: bool) -> Iterator[ListedCode]:
    """Yield the files of a wheel that have device code, by path.

    Raises OSError, MemberError for a damaged member, DeviceError and ElfError for damaged device code.
    """
    members = open_wheel(path).to_read
    with path.open("rb") as file:
        for member in members:
            if member.readable:
                reader = MemberReader(file, member)
                head = next(reader.chunks(), b"")
                if may_have_code(member.name, head):
                    yield from _list_member(reader, member.name, hashes=hashes)


def _list_member(reader: MemberReader, name: str, *, hashes: bool) -> Iterator[ListedCode]:
    sha256 = hashlib.sha256()
    for chunk in reader.chunks():
        sha256.update(chunk)
    with reader.open() as opened:
        yield from list_file(opened, name, sha256.hexdigest(), hashes=hashes)


def list_path(path: Path, *, hashes: bool) -> Iterator[ListedCode]:
    """Yield the device code of a library, program, bundle file or archive. Raises as `list_wheel` does."""
    with path.open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
        yield from list_file(file, str(path), sha256, hashes=hashes)


def list_file(file: BinaryIO, path: str, sha256: str, *, hashes: bool) -> Iterator[ListedCode]:
    """Yield the device code of an open file, whose SHA-256 is known; nothing if it has none."""
    size = file.seek(0, 2)
    if path.endswith(SUFFIX):
        yield ListedCode(path, size, sha256, archive=read_kpack(file, path))
        return
    device = read_device_code(file, path)
    if device.bundles:
        found = [digests(file, device, bundle) for bundle in device.bundles] if hashes else None
        yield ListedCode(path, size, sha256, device=device, hashes=found)
    elif target_of_name(path):
        yield ListedCode(path, size, sha256, named=target_of_name(path))


def may_have_code(path: str, head: bytes) -> bool:
    """Say whether a file may have device code, by its path and first bytes."""
    is_image = is_pe(head) and path.lower().endswith(_IMAGES)
    return is_elf(head) or is_image or is_bundle(head) or path.endswith(SUFFIX) or target_of_name(path) is not None
