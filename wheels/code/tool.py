"""Lists the GPU code in libraries, bundle files and wheels: targets and sizes.

Files are read, never changed. A wheel is read without unpacking it.
"""

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import BinaryIO, Final

from lib.common.command import CANNOT_RUN, CommandParser, exit_codes, run_command
from lib.common.program import ToolError, counted, printable
from lib.device.kpack import SUFFIX, read_kpack
from lib.device.model import Bundle, DeviceCode, DeviceError
from lib.device.reader import is_bundle, read_device_code
from lib.elf.reader import is_elf
from lib.elf.source import ElfError
from lib.pe.reader import is_pe
from lib.wheel.member_file import CHUNK, MemberError, MemberReader
from wheels.verify.device.package_targets import target_of_name
from wheels.verify.wheel import HEAD, open_wheel

EPILOG: Final = """examples:
  rocm-wheels code list acme_solver-1.0.0-py3-none-linux_x86_64.whl
  rocm-wheels code list lib/*.so

A library made by HIP contains its GPU code in the section .hip_fatbin, as
offload bundles: one per source file, or one for the whole library. A bundle
has a code object for each GPU target, such as gfx1030 or gfx90a:xnack+. It may
be compressed.

A GPU loads code for its own processor, code for a generic processor that covers
it (gfx11-generic), and SPIR-V. A feature in the target must match the GPU: code
for gfx90a:xnack+ does not run where xnack is off; code for gfx90a runs on both.

""" + exit_codes("every file was read")
#: What is looked for.
SEARCHED: Final = "sections of HIP, bundle files, .kpack archives, and files named for GPUs"
#: Suffixes of PE images; what else begins like one can be for DOS, or data.
_IMAGES: Final = (".dll", ".exe", ".pyd")
#: Suffixes of archives whose files are deflated, so that nothing is found in them.
_PACKED: Final = (".tar", ".tgz", ".gz", ".xz", ".bz2", ".zst", ".zip", ".conda", ".deb", ".rpm")


#: Opens a file again.
Opener = Callable[[], AbstractContextManager[BinaryIO]]


class UnreadableError(ToolError):
    """A file that is not what its name says, or that cannot be read whole."""


def parser() -> CommandParser:
    """Describe the command line."""
    result = CommandParser("rocm-wheels code", description=__doc__, epilog=EPILOG)
    commands = result.add_subparsers(dest="command", required=True)
    listing = commands.add_parser("list", help="print targets and sizes", epilog=EPILOG)
    listing.add_argument("files", nargs="+", type=Path, metavar="FILE", help="a library, bundle file, .kpack or wheel")
    return result


def list_files(paths: Sequence[Path]) -> None:
    """Print what each file holds, as it is found.

    Raises UnreadableError for what is damaged or packed, OSError, DeviceError and ElfError for damaged device code.
    """
    for path in paths:
        found, searched = False, 0
        if path.suffix == ".whl":
            print(f"{path}:")
        for lines in _wheel_lines(path) if path.suffix == ".whl" else _file_lines(path):
            searched += 1
            if lines:
                found = True
                print(printable("\n".join(lines)))
        if not found:
            print(f"{path}: no device code; searched {counted(searched, 'file')} for {SEARCHED}")


def _wheel_lines(path: Path) -> Iterator[list[str]]:
    """Yield what to say of each file of a wheel, by path; few of them have device code."""
    opened = open_wheel(path)
    if trouble := opened.archive.damage:
        raise UnreadableError(f"{path}: {trouble.member or 'the archive'}: {trouble.evidence}; expected a whole wheel")
    with path.open("rb") as file:
        for member in opened.to_read:
            reader = MemberReader(file, member)
            try:
                yield list(_lines(reader.chunks(), member.name, member.size, reader.open))
            except MemberError as error:
                raise UnreadableError(f"{path}: {member.name}: {error}; expected a whole wheel") from None


def _file_lines(path: Path) -> Iterator[list[str]]:
    if path.name.endswith(_PACKED):
        raise UnreadableError(f"{path}: a packed archive; expected a library, bundle file, .kpack or wheel. Unpack it")
    with path.open("rb") as file:
        chunks = iter(lambda: file.read(CHUNK), b"")
        yield list(_lines(chunks, str(path), path.stat().st_size, lambda: path.open("rb")))


def _lines(chunks: Iterable[bytes], path: str, size: int, opener: Opener) -> Iterator[str]:
    """Yield what to say of a file: nothing if it has no device code."""
    head = b""
    for chunk in chunks:  # All of them: a damaged member is found at its end.
        head = head or chunk[:HEAD]
    named = target_of_name(path)
    with opener() as file:
        if path.endswith(SUFFIX):
            yield from _archive_lines(file, path, size)
        elif is_elf(head) or is_bundle(head) or named or (is_pe(head) and path.lower().endswith(_IMAGES)):
            device = read_device_code(file, path)
            yield from _bundle_lines(device)
            if named and not device.bundles:
                yield f"{path}: for {named} by its name, {size} bytes"


def _archive_lines(file: BinaryIO, path: str, size: int) -> Iterator[str]:
    archive = read_kpack(file, path)
    yield f"{path}: an archive for {len(archive)} bundles, {size} bytes"
    for name, entries in archive.items():
        yield from (f"  {name}  {target!s:<24} {length:>14} bytes" for target, length in entries)


def _bundle_lines(device: DeviceCode) -> Iterator[str]:
    if device.split:
        yield f"{device.path}: its device code is in archives, {len(device.split)} wrappers refer to it"
        return
    if not device.bundles:
        return
    kinds = Counter(map(_compression, device.bundles))
    how = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
    yield f"{device.path}: {len(device.bundles)} bundles ({how}), {sum(span.size for span in device.spans)} bytes"
    if device.wrappers and device.unwrapped:
        yield f"  {len(device.unwrapped)} bundles have no wrapper: HIP does not see them"
    count: Counter[str] = Counter()
    total: Counter[str] = Counter()
    for code in device.code_objects():
        target = str(code.entry.target or "(no target)")
        count[target] += 1
        total[target] += code.size
    for target in sorted(count):
        yield f"  {target:<24} {count[target]:>6} code objects {total[target]:>14} bytes"


def _compression(bundle: Bundle) -> str:
    return "plain" if bundle.compression is None else bundle.compression.method.name.lower()


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    arguments = parser().parse_args(argv)
    try:
        return run_command("rocm-wheels code", lambda: list_files(arguments.files))
    except (DeviceError, ElfError, ValueError) as error:
        print(f"rocm-wheels code: {error}", file=sys.stderr)
        return CANNOT_RUN
