"""Packs the entries of one unit: patches ELF files in flight, deflates, digests.

    pack --label TARGET --edits FILE --artifact NAME --manifest FILE --launcher PROGRAM
         --compression fast|balanced|small --threads N --segment OUT --index OUT FILE=PATH…

Bulk bytes are read here, once, and nowhere else. What an entry becomes is in the edit
file; the result is a segment and its index (`tools.pack.segment`).
"""

import hashlib
import zlib
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, BinaryIO

from tools.common.documents import read_document, write_document
from tools.common.errors import ToolError
from tools.common.manifest import located_sources
from tools.common.program import argument_parser, report_errors
from tools.elf.edit import ElfEdit
from tools.elf.editor import plan_patch
from tools.elf.errors import ElfError
from tools.elf.reader import read_elf
from tools.pack.deflate import BLOCK_BYTES, LEVELS, blocks, deflate
from tools.pack.launcher import finished_launcher
from tools.pack.segment import Index, Packed


class Packer:
    """Writes entries to a segment, one after the other."""

    def __init__(self, segment: BinaryIO, pool: ThreadPoolExecutor, level: int, ahead: int) -> None:
        """Deflate at zlib's `level` in the threads of `pool`, `ahead` blocks at a time."""
        self._segment = segment
        self._pool = pool
        self._level = level
        self._ahead = ahead

    def pack(self, path: str, mode: str, chunks: Iterable[bytes]) -> Packed:
        """Deflate one entry's bytes to the end of the segment and return where they are."""
        offset, size, crc, sha256 = self._segment.tell(), 0, 0, hashlib.sha256()

        def digested() -> Iterator[bytes]:
            nonlocal size, crc
            for block in blocks(chunks):
                size += len(block)
                crc = zlib.crc32(block, crc)
                sha256.update(block)
                yield block

        for deflated in deflate(digested(), self._level, self._pool, self._ahead):
            self._segment.write(deflated)
        return Packed(path, mode, offset, self._segment.tell() - offset, size, crc, sha256.hexdigest())


def file_chunks(file: BinaryIO) -> Iterator[bytes]:
    """Read a file block by block."""
    while chunk := file.read(BLOCK_BYTES):
        yield chunk


def patched_chunks(file: BinaryIO, entry: dict[str, Any], notes: dict[str, list[str]]) -> Iterator[bytes]:
    """Stream an ELF file with its search path replaced, and note by its path what that gave up.

    Raises ToolError where the edit cannot be made.
    """
    source, rpath = entry["source"], entry["rpath"]
    edit = ElfEdit()
    if rpath:
        edit.set_search_path(rpath)
    else:
        edit.remove_search_path()
    try:
        patch = plan_patch(read_elf(file, source), file, edit)
        if patch.notes:
            notes[entry["path"]] = list(patch.notes)
        for chunk in patch.chunks(file, BLOCK_BYTES):
            yield bytes(chunk)
    except ElfError as error:
        raise ToolError(
            f"{error}. Its RPATH cannot be set: exclude the file from the package, or link it differently"
        ) from None


def entry_chunks(
    entry: dict[str, Any], located: dict[str, str], launcher: str | None, notes: dict[str, list[str]]
) -> Iterator[bytes]:
    """Stream the bytes that an entry has in the package."""
    if "launcher_target" in entry:
        if launcher is None:
            raise ToolError(f"{entry['path']}: needs a launcher; expected the rule to give one")
        yield finished_launcher(launcher, entry["path"], entry["launcher_target"])
        return
    with open(located[entry["source"]], "rb") as file:
        yield from patched_chunks(file, entry, notes) if "rpath" in entry else file_chunks(file)


def source_digest(path: str) -> str:
    """Return the SHA-256 of a file, in hex."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def main(argv: list[str]) -> int:
    """Pack what the edit file names and write the segment and its index."""
    parser = argument_parser(__doc__)
    parser.add_argument("--label", required=True, help="Bazel target, named in errors")
    parser.add_argument("--edits", required=True, help="the unit's edit file, from plan")
    parser.add_argument("--artifact", required=True, help="name of the artifact")
    parser.add_argument("--manifest", required=True, help="the artifact's manifest")
    parser.add_argument("--launcher", help="the compiled launcher")
    parser.add_argument("--compression", choices=sorted(LEVELS), default="balanced", help="speed against size")
    parser.add_argument("--threads", type=int, default=1, help="threads that deflate")
    parser.add_argument("--segment", required=True, help="segment to write")
    parser.add_argument("--index", required=True, help="index to write")
    parser.add_argument("files", nargs="*", metavar="FILE=PATH", help="the build's name of a file, and where it is")
    args = parser.parse_args(argv)

    def work() -> None:
        located = located_sources(args.manifest, args.artifact, args.files)
        edits = read_document(args.edits)
        notes: dict[str, list[str]] = {}
        with ThreadPoolExecutor(args.threads) as pool, Path(args.segment).open("wb") as segment:
            packer = Packer(segment, pool, LEVELS[args.compression], 2 * args.threads)
            entries = tuple(
                packer.pack(entry["path"], entry["mode"], entry_chunks(entry, located, args.launcher, notes))
                for entry in edits["entries"]
            )
        digests = {source: source_digest(located[source]) for source in edits["digest"]}
        write_document(args.index, Index(entries, digests, notes).to_document())

    return report_errors(args.label, work)
