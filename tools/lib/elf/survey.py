"""Edits every ELF program and library below some folders, and checks each against everything that can look at it.

    python3 -m tools.lib.elf.survey --root ROOT [--every N] [--library-path DIR:DIR...] DIR...

ROOT is a system's root directory with python3 in it, in which the files are loaded (with bubblewrap; it is not
changed). A DIR outside ROOT is seen inside at the same path. Of each file, a copy with more RPATH entries is put over
the original, so that all around it is as before. It must read back as wished, by this library, readelf and patchelf;
wishing it again must change nothing; bytes outside the reported ranges must be the original's; eu-elflint and readelf
must find nothing new; the loader must search the wished directories in the wished order, find the same libraries, and
load it (or answer --version) exactly where it did before; bfd, gold and lld must link against it where they did before;
and a stripped copy must do as the original does. Prints each problem, and a tally.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from elftools.elf.elffile import ELFFile
from elftools.elf.gnuversions import GNUVerSymSection
from elftools.elf.sections import SymbolTableSection

from tools.lib.elf.editor import plan_patch
from tools.lib.elf.model import ElfFile, refusal
from tools.lib.elf.patch import Patch, SourceRange, Strategy
from tools.lib.elf.reader import is_elf, read_elf
from tools.lib.elf.search_path import SearchPath
from tools.lib.elf.testing import complaints, extend, facts, second_opinion

ENTRIES = tuple(
    f"$ORIGIN/../../other/{name}" for name in ("lib", "lib/sysdeps/lib", "lib/host-math/lib", "lib/llvm/lib")
)
START = "void _start(void) { for (;;); }"
INSIDE = "/run/elf-survey"


@dataclass
class Survey:
    """Where the files are looked at, and what came of it."""

    root: Path
    folder: Path
    library_path: str = ""
    tally: Counter[str] = field(default_factory=Counter)
    seconds: list[float] = field(default_factory=list)

    def probe(self, path: Path, replacement: Path | None, kind: str) -> dict[str, Any]:
        """Ask the loader inside the root about a file, with `replacement` in its place."""
        inside = Path("/", path.relative_to(self.root)) if path.is_relative_to(self.root) else path
        command = ["bwrap", "--unshare-all", "--die-with-parent", "--ro-bind", str(self.root), "/", "--dev", "/dev"]
        command += ["--proc", "/proc", "--tmpfs", "/tmp", "--tmpfs", "/run"]
        if inside == path:
            top = Path(*path.parts[:3])
            command += ["--ro-bind", str(top), str(top)]
        command += ["--ro-bind", str(Path(__file__).with_name("probe.py")), f"{INSIDE}/probe.py"]
        if replacement is not None:
            command += ["--ro-bind", str(replacement), str(inside)]
        command += ["--clearenv", "--setenv", "PATH", "/usr/bin", "--setenv", "HOME", "/tmp"]
        if self.library_path:
            command += ["--setenv", "LD_LIBRARY_PATH", self.library_path]
        command += ["python3", f"{INSIDE}/probe.py", str(inside), kind]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return json.loads(done.stdout) if done.returncode == 0 else {"failed": done.stderr[-500:]}

    def look_at(self, path: Path, elf: ElfFile) -> Iterator[str]:
        """Edit one file and yield every problem with it."""
        edited = self.folder / path.name
        started = time.perf_counter()
        with path.open("rb") as file:
            patch = plan_patch(read_elf(file, str(path)), file, SearchPath(tuple(ENTRIES), extend=True))
        self.seconds.append(time.perf_counter() - started)
        extend(path, edited, ENTRIES)
        self.tally[patch.strategy.value] += 1
        for note in patch.notes:
            self.tally[note] += 1
        yield from check_file(path, elf, edited, patch)
        kind = "program" if elf.is_program else "library"
        yield from self.check_loading(path, elf, edited, kind)
        if kind == "library":
            yield from self.check_linking(path, edited)
        edited.unlink()

    def check_loading(self, path: Path, elf: ElfFile, edited: Path, kind: str) -> Iterator[str]:
        """Compare what the loader makes of the original, of the edited file, and of both stripped."""
        before, after = self.probe(path, None, kind), self.probe(path, edited, kind)
        origin = Path("/", path.parent.relative_to(self.root)) if path.is_relative_to(self.root) else path.parent
        wanted = [os.path.normpath(entry.replace("$ORIGIN", str(origin))) for entry in wished(elf)]
        for name in ("found", "outcome"):
            if before.get(name, "?") != after.get(name, "!"):
                yield f"{name}: {before} became {after}"
        searched = after.get("searched", [])  # the first time; later ones leave out what was found not to exist
        if searched[:1] not in ([], [["RPATH", list(dict.fromkeys(wanted))]]):
            yield f"search order: {searched[0]} instead of {wanted}"
        self.tally["searched by the loader"] += bool(searched)
        self.tally[f"{kind}: works" if before.get("outcome", [1])[0] == 0 else f"{kind}: fails as before"] += 1
        stripped, reference = self.folder / "stripped", self.folder / "reference"
        errors = []
        for source, target in ((path, reference), (edited, stripped)):
            done = subprocess.run(["strip", "-o", target, source], capture_output=True, text=True, check=False)
            errors.append(done.stderr.replace(str(source), "FILE"))
        if errors[0] != errors[1]:
            yield f"strip: {errors}"
        if stripped.exists():
            stripped.chmod(0o755)
            if self.probe(path, stripped, kind).get("outcome") != before.get("outcome"):
                yield "stripped: does not do as before"
            if facts(stripped).rpath != ":".join(wished(elf)):
                yield "stripped: lost its search path"
        for made in (stripped, reference):
            made.unlink(missing_ok=True)

    def check_linking(self, path: Path, edited: Path) -> Iterator[str]:
        """Link a program that uses one of the library's symbols against the original and against the edited file."""
        start = self.folder / "start.o"
        if not start.exists():
            command = ["cc", "-c", "-fno-pic", "-xc", "-", "-o", str(start)]
            subprocess.run(command, input=START, text=True, check=True)
        symbol = an_exported_function(path)
        use = ["-u", symbol] if symbol else []
        for linker in ("ld.bfd", "ld.gold", "ld.lld"):
            said = []
            for library in (path, edited):
                command = [
                    linker,
                    "-o",
                    str(self.folder / "linked"),
                    str(start),
                    str(library),
                    "--allow-shlib-undefined",
                ]
                done = subprocess.run([*command, "-e", "_start", *use], capture_output=True, text=True, check=False)
                said.append((done.returncode, done.stderr.replace(str(library), "FILE")))
            if said[0] != said[1]:
                yield f"{linker}: {said}"
            self.tally[f"{linker}: links" if said[1][0] == 0 else f"{linker}: fails as before"] += 1


def wished(elf: ElfFile) -> list[str]:
    """List the search path entries that a file shall have."""
    current = elf.rpath if elf.runpath is None else elf.runpath
    present = current.split(":") if current else []
    return [*present, *(entry for entry in ENTRIES if entry not in present)]


def check_file(path: Path, elf: ElfFile, edited: Path, patch: Patch) -> Iterator[str]:
    """Yield what is wrong with the edited file's bytes."""
    wanted = ":".join(wished(elf))
    new = facts(edited)
    if (new.rpath, new.runpath) != (wanted, None):
        yield f"reads back as {new.rpath}, {new.runpath}"
    if extend(edited, edited.with_suffix(".again"), ENTRIES).strategy is not Strategy.IDENTITY:
        yield "the same wish changes more"
    edited.with_suffix(".again").unlink()
    for name, opinion in second_opinion(edited).items():
        if opinion != [wanted]:
            yield f"{name} reads {opinion}"
    if added := complaints(edited) - complaints(path):
        yield f"new complaints: {sorted(added)}"
    with path.open("rb") as old, edited.open("rb") as result:
        for piece in patch.pieces:
            if isinstance(piece, SourceRange):
                old.seek(piece.offset)
                left = piece.size
                while left and (count := min(left, 1 << 20)):
                    if old.read(count) != result.read(count):
                        yield f"a byte near {old.tell():#x} changed that should not"
                        return
                    left -= count
            else:
                result.seek(piece.size, os.SEEK_CUR)
        if result.read(1):
            yield "the file is longer than the patch says"


def an_exported_function(path: Path) -> str | None:
    """Find a function that programs can link to."""
    with path.open("rb") as file:
        elf = ELFFile(file)
        table, versions = elf.get_section_by_name(".dynsym"), elf.get_section_by_name(".gnu.version")
        if not isinstance(table, SymbolTableSection):
            return None
        for number, symbol in enumerate(table.iter_symbols()):
            if symbol["st_shndx"] in ("SHN_UNDEF", "SHN_ABS") or symbol["st_info"]["type"] != "STT_FUNC":
                continue
            if isinstance(versions, GNUVerSymSection):
                version = versions.get_symbol(number)["ndx"]
                if version == "VER_NDX_LOCAL" or (isinstance(version, int) and version & 0x8000):
                    continue
            if symbol["st_info"]["bind"] == "STB_GLOBAL" and symbol["st_other"]["visibility"] == "STV_DEFAULT":
                return str(symbol.name)
    return None


def editable_files(folders: Sequence[Path]) -> Iterator[tuple[Path, ElfFile]]:
    """Find the files that can be edited, in sorted order."""
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if path.is_symlink() or not path.is_file():
                continue
            with path.open("rb") as file:
                if is_elf(file.read(4)):
                    elf = read_elf(file, str(path))
                    if refusal(elf) is None:
                        yield path, elf


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns 1 if there was any problem."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=Path, required=True, help="the root directory of a system to load the files in")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="take only every N-th file")
    parser.add_argument("--library-path", default="", help="LD_LIBRARY_PATH for loading, as seen inside the root")
    parser.add_argument("folders", type=Path, nargs="+", metavar="DIR")
    arguments = parser.parse_args(argv)
    files = list(editable_files(arguments.folders))[:: arguments.every]
    problems = 0
    with tempfile.TemporaryDirectory() as folder:
        survey = Survey(arguments.root, Path(folder), arguments.library_path)
        for path, elf in files:
            for problem in survey.look_at(path, elf):
                problems += 1
                print(f"{path}: {problem}", flush=True)
    print(f"{len(files)} files, {problems} problems; slowest plan: {max(survey.seconds, default=0):.3f} s")
    for name, count in sorted(survey.tally.items()):
        print(f"  {count:5} {name}")
    return int(problems > 0)


if __name__ == "__main__":
    sys.exit(main())
