"""Helps the tests: links small files with the machine's own linkers, and has other tools look at edits.

None of it is part of the library. A linker or a tool that is not installed is left out; the tests that need one say so.
"""

import functools
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from lib.elf import constants as c
from lib.elf.dynamic_edit import DynamicEdit
from lib.elf.editor import plan_patch
from lib.elf.free_space import MIN_PAGE
from lib.elf.model import ElfFile
from lib.elf.patch import Literal, Patch
from lib.elf.reader import PHDR64, read_elf

COMPILERS = {"x86_64": ("gcc", "cc"), "aarch64": ("aarch64-linux-gnu-gcc",)}
LINKER_PROGRAMS = {"bfd": "ld.bfd", "gold": "ld.gold", "lld": "ld.lld", "mold": "mold"}
LIBRARY = """
int zeros[ZEROS] __attribute__((aligned(64))); int data = 5; __thread int local_zero[7]; __thread int local_data = 3;
extern int inner(int);
__attribute__((constructor)) static void start(void) { data++; }
int outer(int x) { for (int i = 0; i < ZEROS; i++) if (zeros[i]) return -1;
  local_zero[0]++; return inner(x) + data + local_data + local_zero[0]; }
"""
INNER = "int inner(int x) { return 2 * x; }"
#: Calls the library twice: 2 * 4 + 6 + 3 + 1, then one more.
PROGRAM = "extern int outer(int); int main(void) { return outer(4) == 18 && outer(4) == 19 ? 42 : 1; }"


def compiler(machine: str = "x86_64") -> str | None:
    """Find a C compiler for a machine, None if there is none."""
    return next((name for name in COMPILERS[machine] if shutil.which(name)), None)


def linkers(machine: str = "x86_64") -> list[str]:
    """List the linkers that `link` can use here, by the name that -fuse-ld takes."""
    if machine == "aarch64":
        return ["bfd", *(name for name in ("lld", "mold") if shutil.which(LINKER_PROGRAMS[name]))]
    return [name for name, program in LINKER_PROGRAMS.items() if shutil.which(program)]


def link(output: Path, text: str, *options: str, linker: str = "bfd", machine: str = "x86_64") -> Path:
    """Compile C text and link it. Raises CalledProcessError when the linker does not know an option."""
    source = output.with_suffix(".c")
    source.write_text(text, encoding="utf-8")
    command = [compiler(machine) or "cc", f"-fuse-ld={linker}", "-O1", "-o", str(output), str(source), *options]
    with tempfile.TemporaryDirectory() as found:  # a cross compiler does not look for linkers where they are
        if machine != "x86_64" and linker != "bfd":
            Path(found, f"ld.{linker}").symlink_to(shutil.which(LINKER_PROGRAMS[linker]) or "absent")
            command.append(f"-B{found}")
        subprocess.run(command, check=True, capture_output=True)
    source.unlink()
    return output


@functools.cache
def takes(linker: str, machine: str, option: str) -> bool:
    """Whether a linker knows an option."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            base = ("-shared", "-fPIC", "-Wl,--fatal-warnings", option)
            link(Path(folder, "lib.so"), INNER, *base, linker=linker, machine=machine)
        except subprocess.CalledProcessError:
            return False
    return True


def link_pair(folder: Path, *options: str, linker: str = "bfd", machine: str = "x86_64", zeros: int = 1000) -> Path:
    """Link `folder/libouter.so`, which needs `folder/away/libinner.so` and has no search path to it."""
    away = folder / "away"
    away.mkdir(parents=True, exist_ok=True)
    link(away / "libinner.so", INNER, "-shared", "-fPIC", "-Wl,-soname,libinner.so", linker=linker, machine=machine)
    base = ("-shared", "-fPIC", f"-DZEROS={zeros}", "-Wl,-soname,libouter.so", f"-L{away}", "-linner")
    return link(folder / "libouter.so", LIBRARY, *base, *options, linker=linker, machine=machine)


def facts(path: Path) -> ElfFile:
    """Read a file's facts."""
    with path.open("rb") as file:
        return read_elf(file, str(path))


def apply_edit(source: Path, output: Path, edit: DynamicEdit) -> Patch:
    """Write the edited file, with the mode of the source, and return the patch that made it."""
    with source.open("rb") as file:
        patch = plan_patch(read_elf(file, str(source)), file, edit)
        with output.open("wb") as out:
            for chunk in patch.chunks(file):
                out.write(chunk)
    output.chmod(source.stat().st_mode)
    return patch


def extend(source: Path, output: Path, entries: Sequence[str]) -> Patch:
    """Write a copy with more RPATH entries."""
    elf = facts(source)
    present = (elf.rpath if elf.runpath is None else elf.runpath) or ""
    return apply_edit(source, output, DynamicEdit(tuple(dict.fromkeys(filter(None, [*present.split(":"), *entries])))))


def check_bytes(source: Path, output: Path, patch: Patch) -> None:
    """Assert that the output has all the bytes that the patch keeps of the source, at the offsets it says."""
    old, new = source.read_bytes(), output.read_bytes()
    assert (len(old), len(new)) == (patch.source_size, patch.size)
    at = 0
    for piece in patch.pieces:
        if not isinstance(piece, Literal):
            start = patch.new_offset(at)
            assert start is not None
            assert new[start : start + piece.size] == old[at : at + piece.size]
        at += piece.replaces


def check_growth(source: Path, output: Path) -> None:
    """Assert that the output is larger by what moved, and by no more than two pages.

    Of .bss it may have as many zeros as it would have moved of what follows the program headers, had it got another.
    """
    old, new = facts(source), facts(output)
    end = old.phoff + PHDR64.size * len(old.program_headers)
    behind = sum(one.size for one in old.section_headers if one.offset < end + PHDR64.size and one.file_end > end)
    places = {(section.name, section.addr) for section in old.section_headers}
    moved = sum(one.size for one in new.section_headers if one.addr and (one.name, one.addr) not in places)
    if not new.section_headers:
        header = new.program_header(c.PT_DYNAMIC)
        moved = (new.dynamic_value(c.DT_STRSZ) or 0) + (header.filesz if header else 0)
    moved += PHDR64.size * len(new.program_headers) * (new.phoff != old.phoff)
    assert new.size - old.size <= moved + MIN_PAGE + max(MIN_PAGE, behind)


def loads(library: Path, search: Path | None = None) -> bool:
    """Whether a library loads in a process of its own, and its function answers."""
    code = "import ctypes, sys; sys.exit(42 if ctypes.CDLL(sys.argv[1]).outer(4) == 18 else 1)"
    return works(sys.executable, "-c", code, str(library.absolute()), search=search)


def works(*command: str, search: Path | None = None) -> bool:
    """Whether a process ends with status 42. Libraries are found by search paths alone, or in the folder `search`."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("LD_")}
    env |= {"LD_LIBRARY_PATH": str(search)} if search else {}
    return subprocess.run(command, env=env, capture_output=True, check=False).returncode == 42


def second_opinion(path: Path) -> dict[str, list[str]]:
    """Ask readelf (and patchelf, if it is there) for the search path: what each of them says, by its name."""
    opinions: dict[str, list[str]] = {}
    if shutil.which("readelf"):
        text = _output("readelf", "-dW", str(path))
        lines = [line for line in text.splitlines() if "(RPATH)" in line or "(RUNPATH)" in line]
        opinions["readelf"] = [line.split("[", 1)[1].rstrip("]") for line in lines]
    if shutil.which("patchelf"):
        opinions["patchelf"] = [line for line in _output("patchelf", "--print-rpath", str(path)).splitlines() if line]
    return opinions


def complaints(path: Path) -> set[str]:
    """List what eu-elflint and readelf have to say against a file.

    mold 2.37 lets the symbol _TLS_MODULE_BASE_ refer to the first section, whichever that is: eu-elflint objects to
    that before and after an edit, but in words that depend on where the section lies. The words are left out.
    """
    found: set[str] = set()
    if shutil.which("eu-elflint"):
        text = _output("eu-elflint", "--gnu-ld", str(path))
        lines = (re.sub(r"(\(_TLS_MODULE_BASE_\)): .*", r"\1", line) for line in text.splitlines())
        found |= {line for line in lines if line != "No errors"}
    if shutil.which("readelf"):
        done = subprocess.run(["readelf", "-aW", str(path)], capture_output=True, text=True, check=False)
        found |= {line.replace(str(path), "FILE") for line in done.stderr.splitlines()}
    return found


def _output(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout
