"""What device code a file holds, as LLVM's clang-offload-bundler says: a second opinion on `lib.device`.

    bundles = [take_apart(data, folder, bundler()) for data in raw_bundles(path)]

pyelftools finds the section, the bundles begin where their magic number is on a page, and the bundler takes them apart.
"""

import hashlib
import mmap
import shutil
import struct
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from elftools.elf.elffile import ELFFile

from tests.e2e.testing.commands import run
from tests.e2e.thin.code import Bundle, Code

#: How plain bundles and compressed ones begin, and on what.
COMPRESSED = b"CCOB"
MAGIC = (b"__CLANG_OFFLOAD_BUNDLE__", COMPRESSED)
PAGE = 4096
#: The header of version 1: magic number, version, method, size of what is inflated, digest.
HEADER_BYTES = struct.calcsize("<4sHHI8s")
#: The method of it that is not zlib.
ZSTD = 1
PROGRAM = "clang-offload-bundler"


@dataclass(frozen=True)
class Header:
    """How a bundle is compressed, as its header says (clang's documentation of the offload bundler)."""

    version: int
    method: int


def header(data: bytes) -> Header | None:
    """Return how a bundle is compressed; None for a plain one."""
    return Header(*struct.unpack_from("<HH", data, len(COMPRESSED))) if data.startswith(COMPRESSED) else None


def bundler(versions: Sequence[int] = range(30, 16, -1), tree: Path | None = None) -> str:
    """Return the path of clang-offload-bundler: in a package's tree, else the machine's newest of these versions.

    Ends the program if there is none.
    """
    if tree and (program := tree / "lib/llvm/bin" / PROGRAM).is_file():
        return str(program)
    names = [f"{PROGRAM}-{version}" for version in versions]
    found = next(filter(None, map(shutil.which, [*names, PROGRAM])), None)
    if found is None:
        raise SystemExit(f"no {PROGRAM}, of versions {versions[-1]} to {versions[0]}: install Debian's clang-tools")
    return found


def sections(path: Path) -> Iterator[tuple[int, int]]:
    """Yield file offset and size in bytes of each section of device code; of a bundle by itself, of all."""
    with path.open("rb") as file:
        if file.read(24).startswith(MAGIC):
            yield 0, path.stat().st_size
            return
        for section in ELFFile(file).iter_sections():
            if section.name == ".hip_fatbin" and section["sh_size"]:
                yield section["sh_offset"], section["sh_size"]


def raw_bundles(path: Path) -> Iterator[bytes]:
    """Yield the bundles in the sections of a library, each plain one with the zeros behind it."""
    with path.open("rb") as file, closing(mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)) as data:
        for offset, size in sections(path):
            starts = [at for at in range(offset, offset + size, PAGE) if data[at : at + 24].startswith(MAGIC)]
            for start, end in zip(starts, [*starts[1:], offset + size], strict=True):
                bundle = data[start:end]
                yield _without_padding(bundle) if bundle.startswith(COMPRESSED) else bundle


def _without_padding(bundle: bytes) -> bytes:
    """Cut off the zeros behind a compressed bundle: LLVM 18 takes it to end with its file.

    From version 2 on the header says how large it is; in version 1 what is compressed says where it ends.
    """
    sizes = {2: "<I", 3: "<Q"}
    found = header(bundle)
    if found and found.version in sizes:
        return bundle[: struct.unpack_from(sizes[found.version], bundle, 8)[0]]
    if found and found.method == ZSTD:
        return bundle[: _frame_end(bundle, HEADER_BYTES)]
    stream = zlib.decompressobj()
    stream.decompress(bundle[HEADER_BYTES:])
    return bundle[: len(bundle) - len(stream.unused_data)]


def _frame_end(data: bytes, at: int) -> int:
    """Return where the zstd frame ends that begins at an offset (RFC 8878, 3.1.1)."""
    descriptor = data[at + 4]
    is_single, has_checksum = descriptor >> 5 & 1, descriptor >> 2 & 1
    content_size = (is_single, 2, 4, 8)[descriptor >> 6]
    at += 5 + (not is_single) + (0, 1, 2, 4)[descriptor & 3] + content_size
    is_last = 0
    while not is_last:
        block = int.from_bytes(data[at : at + 3], "little")
        is_last, is_repeated = block & 1, block >> 1 & 3 == 1
        at += 3 + (1 if is_repeated else block >> 3)
    return at + 4 * has_checksum


def _any(entry: str) -> bool:
    del entry
    return True


def take_apart(data: bytes, folder: Path, program: str, wanted: Callable[[str], bool] = _any) -> Bundle:
    """Take one bundle apart, or the entries of it that are wanted. Ends the program if the bundler cannot.

    It knows no entry whose target is newer than it is. The host's entry, which is empty in all that clang makes, is
    only listed: LLVM 17 does not find it by its own name.
    """
    source = folder / "bundle"
    source.write_bytes(data)
    base = (program, "--type=o", f"--input={source}")
    listed = run(*base, "--list").split()
    codes = [Code(entry, 0, hashlib.sha256().hexdigest()) for entry in listed if entry.startswith("host-")]
    entries = [entry for entry in listed if not entry.startswith("host-") and wanted(entry)]
    outputs = {entry: folder / f"{number}.o" for number, entry in enumerate(entries)}
    if outputs:
        run(*base, "--unbundle", f"--targets={','.join(outputs)}", *(f"--output={one}" for one in outputs.values()))
    for entry, output in outputs.items():
        content = output.read_bytes()
        codes.append(Code(entry, len(content), hashlib.sha256(content).hexdigest()))
        output.unlink()
    source.unlink()
    return tuple(sorted(codes))
