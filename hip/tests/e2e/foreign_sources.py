"""Compares two builds of the same HIP sources: one by Bazel, one by the project's own build.

    python3 -m hip.tests.e2e.foreign_sources OURS THEIRS

Run it from the top of the workspace. Each is an object file, a program, a bundle (`.hipfb`), or a directory with object
files or bundles, which are paired by their names. It compares the device code for each GPU target: all that a GPU
loads, and the names of kernels and variables. Of object files it compares the symbols of the host's code as well. Name
programs for relocatable device code, which is bitcode before the link.
In November 2026, Kokkos 28848dfa, RAJA dd5eb76a, LAMMPS's lib/gpu and composable_kernel 8e22e1ae had equal device code,
LAMMPS with `-D__HIP_PLATFORM_AMD__`. Symbols of host code differed only by options of Bazel's C++ toolchain.
"""

import argparse
import hashlib
import io
import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from elftools.common.exceptions import ELFError
from elftools.elf.constants import SH_FLAGS
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import Symbol, SymbolTableSection

from lib.device.content import code_object_contents
from lib.device.model import DeviceError
from lib.device.reader import SECTION, read_device_code

#: Names that clang derives from all its arguments, paths among them.
DERIVED = re.compile(r"(__hip_(?:cuid|fatbin|gpubin_handle|module_ctor|module_dtor))_[0-9a-f]+")
#: Sections of names, and of what their lengths move: the derived ones have 15 or 16 digits.
NAMES = (".dynamic", ".dynstr", ".dynsym", ".gnu.hash", ".hash", ".relro_padding")
#: What follows the name of a kernel in the name of its descriptor.
KERNEL = ".kd"
#: The suffix of bundles.
BUNDLE = ".hipfb"


@dataclass
class Contents:
    """What an object file or a program has."""

    #: GPU target -> digest of a code object -> how many there are.
    device: dict[str, Counter[str]] = field(default_factory=dict)
    #: Kernels, of all GPU targets together.
    kernels: int = 0
    #: The symbols of an object file that others see, with binding, and whether it defines them; none of a program.
    symbols: frozenset[tuple[str, str, bool]] = frozenset()


def symbols(elf: ELFFile) -> Iterator[Symbol]:
    """Yield the symbols that have a name, except symbols of files and sections."""
    for section in elf.iter_sections():
        if isinstance(section, SymbolTableSection):
            named = (one for one in section.iter_symbols() if one.name)
            yield from (one for one in named if one["st_info"]["type"] not in ("STT_FILE", "STT_SECTION"))


def masked(symbol: Symbol) -> str:
    """Return the name of a symbol without what clang derives from its arguments."""
    return DERIVED.sub(r"\1", symbol.name)


def place(elf: ELFFile, symbol: Symbol) -> str:
    """Return the section that a symbol is in, and where in it; lengths of names move what NAMES has."""
    index = symbol["st_shndx"]
    if not isinstance(index, int):
        return str(index)
    section = elf.get_section(index)
    return section.name if section.name in NAMES else f"{section.name}+{symbol['st_value'] - section['sh_addr']}"


def digest(elf: ELFFile) -> str:
    """Return a digest of a code object: of all that a GPU loads, and of its symbols and their places in sections."""
    sha256 = hashlib.sha256()
    for section in elf.iter_sections():
        if section["sh_flags"] & SH_FLAGS.SHF_ALLOC and section.name not in NAMES:
            sha256.update(f"{section.name} {section['sh_size']}\n".encode())
            sha256.update(section.data())
    sha256.update(
        "\n".join(sorted(f"{masked(one)} {place(elf, one)} {one['st_size']}" for one in symbols(elf))).encode()
    )
    return sha256.hexdigest()


def add_device_code(contents: Contents, file: BinaryIO, path: str) -> None:
    """Add the code objects of a program or a bundle file."""
    device = read_device_code(file, path)
    for bundle in device.bundles:
        for code, chunks in code_object_contents(file, device, bundle):
            data = b"".join(chunks)
            if not code.entry.is_host and data:
                elf = ELFFile(io.BytesIO(data))
                contents.kernels += len({one.name for one in symbols(elf) if one.name.endswith(KERNEL)})
                contents.device.setdefault(str(code.entry.target), Counter())[digest(elf)] += 1


def read(path: Path) -> Contents:
    """Read an object file, a program or a bundle."""
    contents = Contents()
    with path.open("rb") as file:
        if path.suffix == BUNDLE:
            add_device_code(contents, file, str(path))
            return contents
        elf = ELFFile(file)
        if elf["e_type"] != "ET_REL":
            add_device_code(contents, file, str(path))
            return contents
        for section in elf.iter_sections():
            if section.name == SECTION:
                add_device_code(contents, io.BytesIO(section.data()), str(path))
        seen = (one for one in symbols(elf) if one["st_info"]["bind"] != "STB_LOCAL")
        contents.symbols = frozenset(
            (masked(one), one["st_info"]["bind"], one["st_shndx"] != "SHN_UNDEF") for one in seen
        )
    return contents


def files_of(directory: Path) -> dict[str, Path]:
    """Return the object files below a directory, or else the bundles in it, by their names without suffixes.

    Ends the program if two have one name.
    """
    found: dict[str, Path] = {}
    for path in sorted(directory.rglob("*.o")) or sorted(directory.glob(f"*{BUNDLE}")):
        other = found.setdefault(path.name.partition(".")[0], path)
        if other != path:
            raise SystemExit(f"{path} and {other} have one name; expected one file of a name. Name another directory")
    return found


def pairs(ours: Path, theirs: Path) -> tuple[list[tuple[str, Path, Path]], list[str]]:
    """Return what is compared (a name, our file and their file), and a sentence for each file without another."""
    if not ours.is_dir():
        return [(ours.name, ours, theirs)], []
    left, right = files_of(ours), files_of(theirs)
    alone = [f"{name}: only in {ours if name in left else theirs}" for name in sorted(left.keys() ^ right.keys())]
    return [(name, left[name], right[name]) for name in sorted(left.keys() & right.keys())], alone


def device_differences(ours: Contents, theirs: Contents) -> Iterator[str]:
    """Say for which GPU targets two files have different device code."""
    for target in sorted(ours.device.keys() | theirs.device.keys()):
        left, right = ours.device.get(target, Counter()), theirs.device.get(target, Counter())
        if left != right:
            yield f"{target}: {(left & right).total()} code objects are equal, of {left.total()} and {right.total()}"


def symbol_differences(ours: Contents, theirs: Contents) -> Iterator[str]:
    """Say which symbols of the host only one of two files has."""
    for symbol in sorted(ours.symbols ^ theirs.symbols):
        name, binding, defined = symbol
        where = "ours" if symbol in ours.symbols else "theirs"
        yield f"{binding} {name}, {'defined' if defined else 'undefined'}: only in {where}"


def compare(ours: Path, theirs: Path) -> int:
    """Compare files, and print what differs; return how many differences there are."""
    compared, alone = pairs(ours, theirs)
    device, host, objects, kernels = [], [], 0, 0
    for name, left, right in compared:
        one, other = read(left), read(right)
        objects, kernels = objects + sum(found.total() for found in one.device.values()), kernels + one.kernels
        device += [f"{name}: {text}" for text in device_differences(one, other)]
        host += [f"{name}: {text}" for text in symbol_differences(one, other)]
    print("\n".join([*alone, *device, *host]))
    print(f"{len(compared)} files, {objects} code objects, {kernels} kernels")
    print(f"device code: {len(device)} differences; symbols of the host: {len(host)} differences")
    return len(alone) + len(device) + len(host)


def main() -> int:
    """Compare what the command line names; the exit code is 1 if something differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ours", type=Path)
    parser.add_argument("theirs", type=Path)
    arguments = parser.parse_args()
    try:
        return 1 if compare(arguments.ours, arguments.theirs) else 0
    except (DeviceError, ELFError, OSError) as error:
        what = f"{arguments.ours} and {arguments.theirs}"
        raise SystemExit(f"{what} cannot be compared: {error}; expected object files, programs or bundles") from error


if __name__ == "__main__":
    sys.exit(main())
