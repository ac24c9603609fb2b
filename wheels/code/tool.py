"""Lists or extracts the GPU code in libraries, bundles, archives and wheels.

Files are read, never changed. A wheel is read without unpacking it.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final

from lib.common.command import CANNOT_RUN, CommandParser, FoundError, exit_codes, run_command
from lib.common.program import printable
from lib.device.content import code_object_contents
from lib.device.model import CodeObject, DeviceError
from lib.device.reader import read_device_code
from lib.elf.source import ElfError
from lib.gpus.target_id import TargetId, can_load, parse_target_id
from lib.wheel.member_file import MemberError, MemberReader
from wheels.code.device_listing import ListedCode, list_path, list_wheel, may_have_code, open_whole_wheel

EPILOG: Final = """examples:
  rocm-wheels code list acme_solver-1.0.0-py3-none-linux_x86_64.whl
  rocm-wheels code list --json lib/*.so > device-code.json
  rocm-wheels code extract lib/librocblas.so.4 --directory code --target gfx1030

A library made by HIP contains its GPU code in the section .hip_fatbin, as
offload bundles: one per source file, or one for the whole library. A bundle
has a code object for each GPU target, such as gfx1030 or gfx90a:xnack+. It may
be compressed.

A GPU loads code for its own processor, code for a generic processor that covers
it (gfx11-generic), and SPIR-V. A feature in the target must match the GPU: code
for gfx90a:xnack+ does not run where xnack is off; code for gfx90a runs on both.

""" + exit_codes("done", "extract found no code for the target")
LIST_EXAMPLES: Final = """examples:
  rocm-wheels code list lib/librocblas.so.4
  rocm-wheels code list --no-hashes acme-1.0-cp312-cp312-linux_x86_64.whl

"""
EXTRACT_EXAMPLE: Final = """example:
  rocm-wheels code extract lib/librocblas.so.4 --directory code --target gfx1030

"""
#: What is looked for.
SEARCHED: Final = (
    "sections of HIP and CUDA, bundles and code objects of AMD anywhere in files, .kpack archives, and names of GPUs"
)


def parser() -> CommandParser:
    """Describe the command line."""
    result = CommandParser("rocm-wheels code", description=__doc__, epilog=EPILOG)
    commands = result.add_subparsers(dest="command", required=True)
    done = LIST_EXAMPLES + exit_codes("every file was read")
    listing = commands.add_parser("list", help="print targets, sizes and hashes", epilog=done)
    listing.add_argument("files", nargs="+", type=Path, metavar="FILE", help="a library, bundle file, .kpack or wheel")
    listing.add_argument("--no-hashes", action="store_true", help="do not read the code: faster, but no hashes")
    listing.add_argument("--json", action="store_true", help="print everything as JSON")
    done = EXTRACT_EXAMPLE + exit_codes("the code was written", "there is no code for the target")
    taking = commands.add_parser("extract", help="write code objects into files", epilog=done)
    taking.add_argument("file", type=Path, metavar="FILE", help="a library, bundle file or wheel")
    taking.add_argument("--directory", type=Path, metavar="DIR", required=True, help="where to write the files")
    taking.add_argument("--target", metavar="TARGET", help="only code that this GPU can load, such as gfx90a:xnack+")
    return result


def listed(path: Path, *, hashes: bool) -> Iterator[ListedCode]:
    """Yield what one file of the command line holds."""
    return list_wheel(path, hashes=hashes) if path.suffix == ".whl" else list_path(path, hashes=hashes)


def print_text(path: Path, *, hashes: bool) -> None:
    """Print what a file holds, as it is found."""
    found, searched = False, 0
    if path.suffix == ".whl":
        print(f"{path}:")
    for one in listed(path, hashes=hashes):
        searched += 1
        if one.has_code:
            found = True
            print(printable("\n".join(one.lines())))
    if not found:
        files = "1 file" if searched == 1 else f"{searched} files"
        print(f"{path}: no device code; searched {files} for {SEARCHED}")


def list_files(paths: Sequence[Path], *, as_json: bool, hashes: bool) -> None:
    """Print what each file holds. Raises as `list_wheel` does at the first that cannot be read."""
    documents = []
    for path in paths:
        if as_json:
            files = [one.document() for one in listed(path, hashes=hashes) if one.has_code]
            documents.append({"file": str(path), "device_code": files})
        else:
            print_text(path, hashes=hashes)
    if as_json:
        print(json.dumps(documents, indent=1))


def opened_files(path: Path) -> Iterator[tuple[str, BinaryIO]]:
    """Yield the files that may have device code, open, and their paths in a wheel; an empty path stands for `path`."""
    with path.open("rb") as file:
        if path.suffix != ".whl":
            yield "", file
            return
        for member in open_whole_wheel(path).to_read:
            reader = MemberReader(file, member)
            if may_have_code(member.name, next(reader.chunks(), b"")):
                with reader.open() as opened:
                    yield member.name, opened


def extract(path: Path, directory: Path, target: TargetId | None) -> int:
    """Write each code object that `target` can load (None: each there is) into a file; returns how many there are.

    A file is called after the number of its bundle and its entry ID; of a wheel, it lies at the path of its library.
    Raises as `list_wheel` does.
    """
    count = 0
    for name, file in opened_files(path):
        device = read_device_code(file, str(path / name) if name else str(path))
        for number, bundle in enumerate(device.bundles):
            if not any(_is_wanted(code, target) for code in bundle.code_objects):
                continue
            for code, chunks in code_object_contents(file, device, bundle):
                if _is_wanted(code, target):
                    output = directory / name / f"{number:05}-{code.entry.text.replace(':', '_')}.co"
                    with _written(output) as out:
                        out.writelines(chunks)
                    count += 1
    return count


@contextmanager
def _written(output: Path) -> Iterator[BinaryIO]:
    """Open a file for writing. It gets its name only when it is complete."""
    output.parent.mkdir(parents=True, exist_ok=True)
    partial = output.with_name(f".{output.name}.partial")
    try:
        with partial.open("wb") as out:
            yield out
        partial.replace(output)
    finally:
        partial.unlink(missing_ok=True)


def _is_wanted(code: CodeObject, target: TargetId | None) -> bool:
    if code.entry.is_host or not code.size:
        return False
    return target is None or (code.entry.target is not None and can_load(code.entry.target, target))


def _run(arguments: argparse.Namespace) -> None:
    if arguments.command == "list":
        list_files(arguments.files, as_json=arguments.json, hashes=not arguments.no_hashes)
        return
    target = parse_target_id(arguments.target) if arguments.target else None
    count = extract(arguments.file, arguments.directory, target)
    if not count:
        raise FoundError(f"{arguments.file} has no code object that {target or 'a GPU'} can load")
    print(f"{count} code objects written to {arguments.directory}")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    arguments = parser().parse_args(argv)
    try:
        return run_command("rocm-wheels code", lambda: _run(arguments))
    except (DeviceError, ElfError, MemberError, ValueError) as error:
        print(f"rocm-wheels code: {error}", file=sys.stderr)
        return CANNOT_RUN
