"""Shows which GPUs a library, program or bundle file holds device code for, takes the code out, or keeps some of it.

For people and scripts; the build calls the library directly.
"""

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from lib.device.content import code_object_contents, digests
from lib.device.model import CodeObject, DeviceError, device_errors
from lib.device.reader import read_device_code
from lib.device.report import describe, document
from lib.device.slice import plan_slice
from lib.elf.patch import Patch
from lib.elf.patched import write_patched
from lib.gpus.target_id import TargetId, can_load, parse_target_id

EPILOG = """examples:
  device list lib/librocblas.so.4
  device list --hashes lib/librocblas.so.4
  device list --json --hashes lib/*.so > device-code.json
  device extract lib/librocblas.so.4 --directory /tmp/code --target gfx1030
  device slice lib/librocblas.so.4 --targets gfx1030 gfx1100 --output /tmp/librocblas.so.4

A library made by HIP holds its GPU code in the section .hip_fatbin, as offload bundles: one per source file, or one for
the whole library. A bundle has a code object for each GPU target that was compiled, such as gfx1030 or gfx90a:xnack+;
it may be compressed. A wrapper is what the library passes to HIP when it is loaded: a pointer to a bundle.

A GPU loads code for its own processor, for a generic processor that covers it (gfx11-generic), and SPIR-V. A feature in
the target must match the GPU: code for gfx90a:xnack+ does not run where xnack is off, and code for gfx90a runs on both.

slice keeps the code that some GPUs can load, and the host code unchanged. A compressed bundle that loses code is
written uncompressed, which every HIP can load."""


def list_files(paths: Sequence[str], *, as_json: bool, hashes: bool) -> None:
    """Print what each file holds. Raises DeviceError or OSError at the first that cannot be read."""
    documents = []
    for path in paths:
        with open(path, "rb") as file:
            device = read_device_code(file, path)
            found = [digests(file, device, bundle) for bundle in device.bundles] if hashes else None
        if as_json:
            documents.append(document(device, found))
        else:
            print("\n".join(describe(device, found)))
    if as_json:
        print(json.dumps(documents, indent=1))


def extract(path: str, directory: Path, target: TargetId | None) -> list[Path]:
    """Write each code object that `target` can load (None: each there is) into a file; returns the files' paths.

    A file is called after the number of its bundle and its entry ID. Raises DeviceError, or OSError as the system does.
    """
    written = []
    directory.mkdir(parents=True, exist_ok=True)
    with open(path, "rb") as file:
        device = read_device_code(file, path)
        for number, bundle in enumerate(device.bundles):
            if not any(_is_wanted(code, target) for code in bundle.code_objects):
                continue
            for code, chunks in code_object_contents(file, device, bundle):
                if _is_wanted(code, target):
                    output = directory / f"{number:05}-{code.entry.text.replace(':', '_')}.co"
                    partial = output.with_name(f".{output.name}.partial")
                    try:
                        with partial.open("wb") as out:
                            out.writelines(chunks)
                        partial.replace(output)
                    finally:
                        partial.unlink(missing_ok=True)
                    written.append(output)
    return written


def slice_file(path: str, output: str, targets: Sequence[TargetId], absent: Sequence[TargetId]) -> Patch:
    """Write a copy of `path` with the code for some targets to `output` (it may be the same file); keeps the mode.

    Raises DeviceError for a file that cannot be sliced, OSError as the system does.
    """
    with open(path, "rb") as file:
        patch = plan_slice(file, path, targets, absent)
        with device_errors():
            write_patched(patch, file, output)
    print(f"{output}: {patch.source_size} -> {patch.size} bytes")
    for note in patch.notes:
        print(f"  note: {note}")
    return patch


def _is_wanted(code: CodeObject, target: TargetId | None) -> bool:
    if code.entry.is_host or not code.size:
        return False
    return target is None or (code.entry.target is not None and can_load(code.entry.target, target))


def parser() -> argparse.ArgumentParser:
    """Make the command line parser."""
    result = argparse.ArgumentParser(
        prog="device", description=__doc__, epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = result.add_subparsers(dest="command", required=True)
    command = commands.add_parser("list", help="print which targets files hold device code for")
    command.add_argument("files", metavar="FILE", nargs="+")
    command.add_argument("--json", action="store_true", help="print everything that is known, as JSON")
    command.add_argument("--hashes", action="store_true", help="read every code object, and print its SHA-256")
    command = commands.add_parser("extract", help="write code objects into files")
    command.add_argument("file", metavar="FILE", help="the library, program or bundle file to read")
    command.add_argument("--directory", type=Path, metavar="DIR", required=True, help="where to write the files")
    command.add_argument("--target", metavar="TARGET", help="only code that this GPU can load, such as gfx90a:xnack+")
    command = commands.add_parser("slice", help="write a copy with code for some GPUs only")
    command.add_argument("file", metavar="FILE", help="the library, program or bundle file to read")
    command.add_argument(
        "--targets", metavar="TARGET", nargs="+", required=True, help="GPUs, such as gfx1030 gfx90a:xnack+"
    )
    command.add_argument(
        "--absent", metavar="TARGET", nargs="+", default=[], help="of these, GPUs that FILE has no code for"
    )
    command.add_argument("--output", metavar="OUT", required=True, help="the file to write; it may be FILE itself")
    return result


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit status."""
    arguments = parser().parse_args(argv)
    try:
        if arguments.command == "list":
            list_files(arguments.files, as_json=arguments.json, hashes=arguments.hashes)
        elif arguments.command == "slice":
            targets, absent = map(parse_target_id, arguments.targets), map(parse_target_id, arguments.absent)
            slice_file(arguments.file, arguments.output, list(targets), list(absent))
        else:
            target = parse_target_id(arguments.target) if arguments.target else None
            written = extract(arguments.file, arguments.directory, target)
            print(f"{len(written)} code objects written to {arguments.directory}")
            if not written:
                print(f"device: {arguments.file} has no code object that {target or 'a GPU'} can load", file=sys.stderr)
                return 1
    except (DeviceError, OSError, ValueError) as error:
        print(f"device: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    os.chdir(os.environ.get("BUILD_WORKING_DIRECTORY", "."))  # Where `bazel run` was typed.
    sys.exit(main())
