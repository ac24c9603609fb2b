"""Finds the device code in files and wheels, for people and scripts to look at.

A wheel is read without unpacking it. Each code object is hashed if that is wished for, of compressed bundles as it is
inflated: so equal code in different libraries, or builds, is known by its hash.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, BinaryIO, Final

from lib.common.program import ToolError
from lib.device.content import digests
from lib.device.kpack import SUFFIX, read_kpack
from lib.device.model import Bundle, CodeObject, DeviceCode
from lib.device.reader import is_bundle, read_device_code
from lib.elf.model import SectionHeader
from lib.elf.reader import is_elf, read_elf
from lib.elf.source import ElfError
from lib.gpus.gpu_files import COUNTED
from lib.gpus.target_id import TargetId
from lib.pe.reader import is_pe, read_pe
from lib.wheel.member_file import CHUNK, MemberError, MemberReader
from wheels.verify.device.package_targets import target_of_name
from wheels.verify.device.stray_code import Opener, Places, StrayCode, may_have_stray, stray_in_file
from wheels.verify.wheel import HEAD, OpenedWheel, open_wheel

#: The target of code objects whose entry ID names none.
NO_TARGET: Final = "(no target)"


def target_name(code: CodeObject) -> str:
    """Return the canonical target ID of a code object."""
    return str(code.entry.target or NO_TARGET)


def describe(device: DeviceCode, hashes: Sequence[dict[CodeObject, str]] | None) -> Iterator[str]:
    """Yield the lines that tell a person about a file; `hashes` has each bundle's hashes, None for totals alone."""
    if device.split:
        yield f"{device.path}: its device code is in archives, {len(device.split)} wrappers refer to it"
        return
    if not device.spans:
        yield f"{device.path}: no device code"
        return
    kinds = Counter(_compression(bundle) for bundle in device.bundles)
    how = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
    size = sum(span.size for span in device.spans)
    wrappers = f", {len(device.wrappers)} wrappers" if device.spans[0].name else ""
    yield f"{device.path}: {len(device.bundles)} bundles ({how or 'none'}){wrappers}, {size} bytes"
    if device.wrappers and device.unwrapped:
        yield f"  {len(device.unwrapped)} bundles have no wrapper: HIP does not see them"
    codes = list(device.code_objects())
    count = Counter(target_name(code) for code in codes)
    for target in sorted(count):
        total = sum(code.size for code in codes if target_name(code) == target)
        yield f"  {target:<24} {count[target]:>6} code objects {total:>14} bytes"
    for bundle, found in zip(device.bundles, hashes or [], strict=False):
        yield f"  bundle at {bundle.offset:#x}, {_compression(bundle)}, {bundle.size} bytes"
        for code, digest in found.items():
            yield f"    {digest}  {code.size:>10}  {code.entry.text}"


def document(device: DeviceCode, hashes: Sequence[dict[CodeObject, str]] | None) -> dict[str, Any]:
    """Return all that is known of a file, for JSON; with the SHA-256 of each code object if `hashes` is given."""
    return {
        "path": device.path,
        "spans": [asdict(span) for span in device.spans],
        "bundles": [
            {
                "offset": bundle.offset,
                "size": bundle.size,
                "compression": _compression_document(bundle),
                "code_objects": [
                    {
                        "id": code.entry.text,
                        "kind": code.entry.kind,
                        "triple": code.entry.triple,
                        "target": str(code.entry.target) if code.entry.target else None,
                        "offset": code.offset,
                        "size": code.size,
                    }
                    | ({"sha256": hashes[number][code]} if hashes is not None else {})
                    for code in bundle.code_objects
                ],
            }
            for number, bundle in enumerate(device.bundles)
        ],
        "wrappers": [asdict(wrapper) | {"pointer": wrapper.pointer.value} for wrapper in device.wrappers],
        "split_wrappers": [{"address": one.address, "offset": one.offset, "index": one.index} for one in device.split],
    }


def _compression(bundle: Bundle) -> str:
    known = bundle.compression
    return "plain" if known is None else f"{known.method.name.lower()} (CCOB version {known.version})"


def _compression_document(bundle: Bundle) -> dict[str, Any] | None:
    known = bundle.compression
    if known is None:
        return None
    digest = known.digest.hex()
    return {
        "version": known.version,
        "method": known.method.name.lower(),
        "inflated_size": known.inflated_size,
        "md5_head": digest,
    }


#: Suffixes of PE images; what else begins like one can be for DOS, or data.
_IMAGES: Final = (".dll", ".exe", ".pyd")
#: Suffixes of archives whose files are deflated, so that nothing is found in them.
_PACKED: Final = (".tar", ".tgz", ".gz", ".xz", ".bz2", ".zst", ".zip", ".conda", ".deb", ".rpm")


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
    stray: tuple[StrayCode, ...] = ()
    """Code objects and bundles elsewhere, such as among constants."""
    other: Mapping[str, int] = field(default_factory=dict)
    """Bytes of code for GPUs of other makers, by its kind: CUDA."""

    @property
    def has_code(self) -> bool:
        """Whether there is any device code."""
        return bool(self.device.spans or self.archive or self.named or self.stray or self.other)

    def lines(self) -> Iterator[str]:
        """Yield what people read."""
        if self.device.spans:
            yield from describe(self.device, self.hashes)
        elif self.archive:
            yield f"{self.path}: an archive for {len(self.archive)} bundles, {self.size} bytes"
            for name, entries in self.archive.items():
                yield from (f"  {name}  {target!s:<24} {size:>14} bytes" for target, size in entries)
        elif self.named:
            yield f"{self.path}: for {self.named} by its name, {self.size} bytes"
            yield f"  {self.sha256}"
        yield from (f"{one}: not in a section for device code" for one in self.stray)
        yield from (f"{self.path}: {size} bytes of code for {kind}" for kind, size in sorted(self.other.items()))

    def document(self) -> dict[str, Any]:
        """Return what scripts read."""
        found = document(self.device, self.hashes) | {"path": self.path, "size": self.size, "sha256": self.sha256}
        if self.archive:
            found["archive"] = {
                name: [{"target": str(target), "size": size} for target, size in entries]
                for name, entries in self.archive.items()
            }
        if self.stray:
            found["elsewhere"] = [
                {"section": one.section, "targets": list(map(str, one.targets)), "has_unknown": one.has_unknown}
                for one in self.stray
            ]
        if self.other:
            found["other"] = dict(self.other)
        if self.named:
            found["named_for"] = str(self.named)
        return found


class UnreadableError(ToolError):
    """A file that is not what its name says, or that cannot be read whole."""


def open_whole_wheel(path: Path) -> OpenedWheel:
    """Read the structure of a wheel. Raises UnreadableError for a damaged archive, and OSError."""
    opened = open_wheel(path)
    if trouble := opened.archive.damage:
        raise UnreadableError(f"{path}: {trouble.member or 'the archive'}: {trouble.evidence}; expected a whole wheel")
    return opened


def list_wheel(path: Path, *, hashes: bool) -> Iterator[ListedCode]:
    """Yield all files of a wheel, by path; few of them have device code.

    Raises UnreadableError for a damaged archive, OSError, MemberError for a damaged member, DeviceError and ElfError
    for damaged device code.
    """
    opened = open_whole_wheel(path)
    with path.open("rb") as file:
        for member in opened.to_read:
            reader = MemberReader(file, member)
            try:
                yield from _list_chunks(reader.chunks(), member.name, member.size, reader.open, hashes=hashes)
            except MemberError as error:
                raise UnreadableError(f"{path}: {member.name}: {error}; expected a whole wheel") from None


def list_path(path: Path, *, hashes: bool) -> Iterator[ListedCode]:
    """Yield the device code of a library, program, bundle file or archive. Raises as `list_wheel` does."""
    if path.name.endswith(_PACKED):
        raise UnreadableError(f"{path}: a packed archive; expected a library, bundle file, .kpack or wheel. Unpack it")
    with path.open("rb") as file:
        chunks = iter(lambda: file.read(CHUNK), b"")
        yield from _list_chunks(chunks, str(path), path.stat().st_size, lambda: path.open("rb"), hashes=hashes)


def _list_chunks(
    chunks: Iterable[bytes], path: str, size: int, opener: Opener, *, hashes: bool
) -> Iterator[ListedCode]:
    sha256, places, head = hashlib.sha256(), Places(), b""
    for chunk in chunks:
        head = head or chunk[:HEAD]
        sha256.update(chunk)
        places.feed(chunk)
    found = ListedCode(path, size, sha256.hexdigest())
    if may_have_code(path, head):
        with opener() as opened:
            found = list_file(opened, found, hashes=hashes)
    begun = places.finish()
    if isinstance(begun, tuple) and may_have_stray(path, size, head):
        headers = _section_headers(opener, path) if is_elf(head) else ()
        stray = tuple(stray_in_file(path, headers, begun, opener, is_read=bool(found.device.spans)))
        found = replace(found, stray=stray)
    if is_elf(head) or is_pe(head):
        with opener() as opened:
            found = replace(found, other=_other_code(opened, path, is_elf_file=is_elf(head)))
    yield found


def _section_headers(opener: Opener, path: str) -> Sequence[SectionHeader]:
    with opener() as file:
        try:
            return read_elf(file, path).section_headers
        except ElfError:
            return ()


def _other_code(file: BinaryIO, path: str, *, is_elf_file: bool) -> Mapping[str, int]:
    """Return the bytes of code for GPUs of other makers, by its kind."""
    try:
        if is_elf_file:
            sections = [(one.name, one.file_end - one.offset) for one in read_elf(file, path).section_headers]
        else:
            sections = [(one.name, one.size_of_raw_data) for one in read_pe(file, path).sections]
    except ElfError:
        return {}
    found: Counter[str] = Counter()
    for name, size in sections:
        if name in COUNTED and size:
            found[COUNTED[name]] += size
    return found


def list_file(file: BinaryIO, one: ListedCode, *, hashes: bool) -> ListedCode:
    """Return what an open file has in sections for device code, as a bundle, or by its name."""
    if one.path.endswith(SUFFIX):
        return replace(one, archive=read_kpack(file, one.path))
    device = read_device_code(file, one.path)
    if device.bundles:
        found = [digests(file, device, bundle) for bundle in device.bundles] if hashes else None
        return replace(one, device=device, hashes=found)
    return replace(one, named=target_of_name(one.path))


def may_have_code(path: str, head: bytes) -> bool:
    """Say whether a file may have device code, by its path and first bytes."""
    is_image = is_pe(head) and path.lower().endswith(_IMAGES)
    return is_elf(head) or is_image or is_bundle(head) or path.endswith(SUFFIX) or target_of_name(path) is not None
