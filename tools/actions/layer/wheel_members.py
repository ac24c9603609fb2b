"""The members of a wheel as runs that can be joined to a layer.

A member of a wheel that these rules wrote is a run that `pack` made, closed by a final block: without that block, it is
the run again. Other programs end a stream inside a byte. Such a member is deflated again, and counted.
"""

import hashlib
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import IO, BinaryIO, Final

from lib.common.program import ToolError
from lib.deflate.library import BLOCK_BYTES, FINAL_BLOCK, blocks, crc32, deflate_block, in_order
from lib.wheel.deflated_run import Run
from lib.wheel.member_file import MemberError, MemberReader
from lib.wheel.zip_members import DEFLATED, ZipMember
from lib.wheel.zip_reader import read_archive

#: An empty block with BFINAL set, stored: it ends a stream only where that is at a byte boundary (RFC 1951, 3.2.4).
STORED_FINAL_BLOCK: Final = b"\x01\x00\x00\xff\xff"
#: libdeflate's level for what is deflated again: the level of the compression `balanced`.
_LEVEL: Final = 5
_INPUT: Final = 1 << 16


@dataclass(frozen=True)
class DeflatedMember:
    """One file of a wheel."""

    member: ZipMember
    run: Run
    #: SHA-256 of the file, in hex; empty if nobody read it.
    sha256: str = ""


#: Yields the members of a wheel, given its path.
Reader = Callable[[str], Iterator[DeflatedMember]]


class _Digests:
    """Size and digests of bytes that pass by."""

    def __init__(self) -> None:
        self.sha256, self.size, self.crc32 = hashlib.sha256(), 0, 0

    def take(self, chunk: bytes) -> bytes:
        self.sha256.update(chunk)
        self.size, self.crc32 = self.size + len(chunk), crc32(chunk, self.crc32)
        return chunk


def _members(wheel: str, file: BinaryIO) -> Iterator[ZipMember]:
    archive = read_archive(file)
    if trouble := archive.damage:
        raise ToolError(f"{wheel}: {trouble.member or 'the archive'}: {trouble.evidence}. Build the wheel again")
    yield from (member for member in archive.members if not member.is_directory)


def _run(wheel: str, member: ZipMember) -> Run:
    """Return a member without its final block."""
    return Run(member.compressed - len(FINAL_BLOCK), member.size, member.crc32, segment=wheel, offset=member.data)


def _has_final_block(file: BinaryIO, member: ZipMember) -> bool:
    """Whether a member ends in the bytes of a final block; in a stream of another program that can be chance."""
    file.seek(member.data + max(member.compressed - len(FINAL_BLOCK), 0))
    return member.method == DEFLATED and file.read(len(FINAL_BLOCK)) == FINAL_BLOCK


def own_members(wheel: str) -> Iterator[DeflatedMember]:
    """Yield the members of a wheel that these rules wrote, without reading them. Raises ToolError for another one."""
    with Path(wheel).open("rb") as file:
        for member in _members(wheel, file):
            if not _has_final_block(file, member):
                raise ToolError(
                    f"{wheel}: {member.name}: its bytes cannot be joined to a layer, because another program "
                    "compressed them; expected a wheel of sdk_wheel or sdk_static_wheel. Make the wheel by these rules"
                )
            yield DeflatedMember(member, _run(wheel, member))


@dataclass
class Recompressor:
    """Reads wheels of any program. What cannot be joined is deflated again, into a named scratch file."""

    scratch: IO[bytes]
    threads: int
    #: Bytes that were deflated again, inflated.
    recompressed: int = field(default=0, init=False)

    def members(self, wheel: str) -> Iterator[DeflatedMember]:
        """Yield the members, each of which is read. Raises ToolError for a damaged one."""
        with Path(wheel).open("rb") as file, ThreadPoolExecutor(self.threads) as pool:
            for member in _members(wheel, file):
                whole = _whole_blocks(wheel, file, member)
                try:
                    yield whole if whole else self._deflated_again(file, member, pool)
                except MemberError as error:
                    raise ToolError(f"{wheel}: {member.name}: {error}. Get the wheel again") from None
        self.scratch.flush()

    def _deflated_again(self, file: BinaryIO, member: ZipMember, pool: ThreadPoolExecutor) -> DeflatedMember:
        if not member.readable:
            raise MemberError("its place in the archive is wrong")
        digests, offset = _Digests(), self.scratch.tell()
        chunks = map(digests.take, MemberReader(file, member).chunks())
        for block in in_order(
            partial(deflate_block, level=_LEVEL, store_dense=True), blocks(chunks), pool, self.threads
        ):
            self.scratch.write(block)
        if digests.crc32 != member.crc32:
            raise MemberError(f"its CRC-32 is {digests.crc32:08x}; expected {member.crc32:08x}")
        self.recompressed += member.size
        length = self.scratch.tell() - offset
        run = Run(length, member.size, member.crc32, segment=self.scratch.name, offset=offset)
        return DeflatedMember(member, run, digests.sha256.hexdigest())


def _whole_blocks(wheel: str, file: BinaryIO, member: ZipMember) -> DeflatedMember | None:
    """Return a member that consists of whole blocks, up to a byte boundary, and a final one; None for any other."""
    if not (member.readable and _has_final_block(file, member)):
        return None
    run, digests, inflater = _run(wheel, member), _Digests(), zlib.decompressobj(-zlib.MAX_WBITS)
    left = run.length
    file.seek(member.data)
    try:
        while left > 0 and (data := file.read(min(left, _INPUT))):
            left -= len(data)
            while data and not inflater.eof:
                digests.take(inflater.decompress(data, BLOCK_BYTES))
                data = inflater.unconsumed_tail
        digests.take(inflater.decompress(STORED_FINAL_BLOCK))
    except zlib.error:
        return None
    is_whole = inflater.eof and not inflater.unused_data and (digests.size, digests.crc32) == (run.size, run.crc32)
    return DeflatedMember(member, run, digests.sha256.hexdigest()) if is_whole else None
