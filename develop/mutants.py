"""Plants 100 bugs, one at a time, and tells which tests find each.

    python3 -B -m develop.mutants            # all: about an hour
    python3 -B -m develop.mutants --only 12 40     # these two
    python3 -B -m develop.mutants --draw 56  # other random functions

Each mutant changes one line. First the tests of its own room run, then the next
ring: the folders that use the room, random SDKs, planted faults of wheels.
Tests that fail without a mutant do not count. MUTANTS was written for functions
that seed 55 drew. A mutant has a line or two: the file and the harm, then the
text before and after. The file must have the text exactly once, or one file of
its room if it has moved.

The tests of before, of the rooms and the next ring, found 55 of these 100. Now
they find all.

Run it where `python3 -m pytest` works (CONTRIBUTING.md, "Tests without Bazel").
Tests of packages of the mini SDK find them in bazel-bin: ./bazelw build
//tests/mini/{split,family,thin,windows}:dist
"""

import argparse
import ast
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
#: How many functions are drawn from each room.
ROOMS = {
    "lib/elf": 4, "lib/pe": 3, "lib/device": 6, "lib/wheel": 4, "lib/pack": 3, "lib/plan": 3, "lib/gpus": 2,
    "lib/common": 5, "tools/actions/plan": 6, "tools/actions/pack": 2, "tools/actions/link": 3,
    "tools/actions/inspect": 2, "tools/actions/layer": 5, "tools/actions/platform_tag": 1,
    "tools/actions": 4, "tools/fetch/catalog": 4, "tools/fetch/lock": 3, "tools/fetch/debian": 3, "rules/runtime": 4,
    "packaging/rocm": 7, "packaging/core": 2, "wheels/verify": 10, "wheels/split": 4, "wheels/require_sdk": 4,
    "wheels/code": 2, "hip/tools": 4,
}  # fmt: skip
_RUNTIME, _PIPELINE = "packaging/rocm/tests", "tests/pipeline/pipeline_test.py"
#: The tests of a room that are not in its folder.
ELSEWHERE = {"wheels/verify": "wheels/tests", "packaging/rocm": _RUNTIME, "packaging/core": _RUNTIME}
#: The next ring, by the beginning of the room.
NEXT = {
    "lib": ("lib", "tools/actions", "wheels", _PIPELINE), "tools/actions": ("lib", "wheels", _PIPELINE),
    "tools/fetch": ("tools/fetch", _PIPELINE), "rules/runtime": (_RUNTIME, "wheels/verify", _PIPELINE),
    "packaging": (_RUNTIME, "rules/runtime", _PIPELINE), "wheels": ("wheels",), "hip": ("hip/tools", "hip/tests"),
}  # fmt: skip
LEAST, LEAST_SHARE, SECONDS = 0.92, 0.8, 900
NOT_DRAWN = ("tools/actions/index/", "/tests/", "/examples/", "_test.py")
BUILT = ("lib/deflate/deflater.so", "lib/device/zstd_codec.so", "bazel-bin")
#: The file, the harm, the text before and after.

MUTANTS = r"""
lib/common/distributions.py: what one platform lacks is required there
if len(there) < len(platforms) else "" => if not there else ""
tools/actions/material/tool.py: the mode of a file is not in its digest | path, one.mode, digest] => path, None, digest]
wheels/verify/release_checks.py: device code for one of two GPUs may go
for code in sorted(codes) if not serves(same, code)] => for code in sorted(codes) if not same]
lib/elf/opened_names.py: a file that opens two libraries by name needs one | text.find(_SUFFIX, at + 1) => -1
lib/elf/resize_layout.py: a table that begins before what is cut out is torn
start < offsets.stop and offsets.start < end => start < offsets.stop and offsets.stop < end
lib/elf/resize.py: relative references whose place moves too lead elsewhere
self._new_address(base, position) if reference.base_moves else base => base
lib/elf/moves.py: the loader reads beyond, or not all of, a string table that has moved
{c.DT_STRTAB: place.vaddr, c.DT_STRSZ: place.size} => {c.DT_STRTAB: place.vaddr}
lib/pe/reader.py: a string that is longer than a piece is read wrongly
self._read(at, min(PIECE, in_memory), what) => self._read(address, min(PIECE, in_memory), what)
lib/pe/model.py: bytes that are only in memory are read from the next section's
0 <= at < section.size_in_file => 0 <= at < section.size_in_memory
lib/pe/reader.py: DLLs that are loaded late are needed by nobody
(*_read_imports(image, header), *_read_delayed(image, header)) => tuple(_read_imports(image, header))
lib/device/content.py: a decompression bomb is inflated | stored * MAX_RATIO + => stored * MAX_RATIO * MAX_RATIO +
lib/device/model.py: code for xnack- counts as code for another target
environment, target = "", "-".join(parts[3:]) => environment, target = "", environment
lib/device/content.py: the digest of two chunks is the second's | sha256.update(chunk) => sha256 = hashlib.sha256(chunk)
lib/device/slice.py: zeros between code objects are lost | self._pending or position > self._position => self._pending
lib/device/kpack.py: a document that ends inside a value is read | if self.at + size > => if self.at >
lib/wheel/zip_reader.py: members behind a prefix are read at the wrong place | header + directory.shift, 0 => header, 0
lib/wheel/member_file.py: a block that comes in two pieces is cut after the first | while at < end: => if at < end:
lib/wheel/metadata_writer.py: maintainers that installers refuse are written
check_people("maintainers", project.maintainers, => check_people("maintainers", project.authors,
lib/wheel/record.py: a digest that was cut passes | if len(value) != hashlib.sha256().digest_size: => if not value:
lib/pack/content.py: all thin packages get the code of the first one's target
for texts in key)) for key in keys] => for texts in key)) for key in [keys[0]] * len(keys)]
lib/pack/packed_tree.py: `files` cannot replace what was left out |  if entry.treatment is not Treatment.DROP} => }
lib/pack/content.py: notes of one source in two packages are about the wrong path
notes[entry.path] = list(patch.notes) => notes[source] = list(patch.notes)
lib/plan/model.py: a GPU's tree is taken for a directory | tuple(document.get("target_trees", ())) => ()
lib/plan/model.py: a file for a GPU that the build leaves out is a file for all
return named(path, self.all_targets + self.left_out) => return named(path, self.all_targets)
lib/plan/model.py: the second file with equal bytes has lost its source
[list(pair) for pair in self.equal_sources] => [list(pair) for pair in self.equal_sources[:1]]
lib/gpus/families.py: unknown GPUs belong to dgpu-all | name[: -len("-all")], _ALL_OPEN) => name[: -len("-all")], 1)
lib/gpus/paths.py: a word that is spelt like no target is answered with none that is near
near = same if 0 < len(same) <= _SHOWN => near = same if len(same) <= _SHOWN
lib/common/arguments.py: the second file of a key replaces the first | if key in found => if found.get(key) == value
lib/common/program.py: 999,600 bytes are 1000 kB | while value >= 999.5 and => while value >= 1000 and
lib/common/worker.py: Bazel waits for a buffered answer | json.loads(line))), flush=True) => json.loads(line))))
lib/common/manifest.py: a file with "=" in its name is looked for where another is
for count in range(len(parts) - 1, 0, -1)) => for count in range(1, len(parts)))
lib/device/coverage.py: a target lacks what the first library lacks, and no other
if not serves(codes, target)) => if not serves(codes, target) and library == min(coverage.libraries))
tools/actions/plan/runtime.py: launchers have no CPU if only the second package below has programs
for plan in builds_on for entry in plan.entries} => for plan in builds_on[:1] for entry in plan.entries}
tools/actions/plan/slicing.py: code for a GPU that is left out stops the build
(code, declared.all_targets + declared.left_out) => (code, declared.all_targets)
tools/actions/plan/devel.py: links are not compared by what they lead to
here = (node.found or node.entry) if node else None => here = found if node else None
tools/actions/plan/forwarders.py: a library whose file has another name than its SONAME gets a forwarder
and entry.soname == posixpath.basename(entry.path) => and entry.soname
tools/actions/plan/runtime.py: a file is packed where a package below has a directory
owners.get(entry.path) or directories.get(entry.path) or => owners.get(entry.path) or
tools/actions/plan/tool.py: a second big file is lost | in edits if unit not in packed) => in edits if not packed)
tools/actions/pack/tool.py: a unit of which only a digest is wanted has none
if any(one.entries or one.digest for one in edits): => if any(one.entries for one in edits):
tools/actions/pack/tool.py: the second of two empty packages has no segment | in segments: => in segments[:1]:
tools/actions/link/tool.py: wheels for Windows have no console scripts
(f"{row['path']}.exe" if is_windows else row["path"]) in modes => row["path"] in modes
tools/actions/link/tool.py: files of a devel package come in an archive that nobody asked for
args.devel not in (None, NO_ARCHIVE) => args.devel is not None
lib/pack/packed_tree.py: programs in the devel archive are not executable | int(packed[path].mode, 8) => 0o644
tools/actions/inspect/tool.py: of two code objects for one target, one counts
sizes[target] = sizes.get(target, 0) + code.size => sizes[target] = code.size
tools/actions/inspect/tool.py: a DLL that is loaded late is not needed
"needed_late": list(image.delayed_libraries), => "needed_late": list(image.libraries),
tools/actions/layer/installed_wheel.py: a layer ends with the first member of a wheel
length = member.compressed - len(FINAL_BLOCK) => length = member.compressed
tools/actions/layer/tool.py: a sound layer counts as damaged | yield FINAL_BLOCK => yield b""
tools/actions/layer/devel_tree.py: links of the second tree for a GPU are not in the image
for tree in manifest.trees} => for tree in list(manifest.trees)[:1]}
tools/actions/layer/installed_wheel.py: programs of a wheel are not executable in an image
return 0o755 if member.mode & _EXECUTABLE => return 0o755 if not member.mode
tools/actions/layer/installed_wheel.py: an image has no console scripts | if not one.is_script: => if one.is_script:
tools/actions/platform_tag/needs.py: the symbols of libraries that are loaded late do not count for the tag
(*facts.get("needed", ()), *facts.get("needed_late", ())) => tuple(facts.get("needed", ()))
tools/actions/describe/tool.py: of two wheels with one name, one is described
        if path.name in found: => if False:
tools/actions/sbom/tool.py: a component has version "7.*" | "==" and "*" not in one.version] => "=="]
tools/actions/coverage/tool.py: the build names one package of two
in lacks.items() if libraries => in list(lacks.items())[:1] if libraries
tools/fetch/catalog/scan.py: the second base directory may lead out of the artifact
for base in bases:\n        check_base( => for base in bases[:1]:\n        check_base(
tools/fetch/catalog/repository.py: a directory with a name that no label can hold is linked whole
if (base, parent) not in made => if parent not in made
tools/fetch/catalog/scan.py: a list ends in a traceback | except (ValueError, AttributeError) => except ValueError
tools/fetch/catalog/one_archive.py: an archive that is cut between two members is taken for whole
(last + chunk)[-BLOCK:] => bytes(BLOCK)
tools/fetch/lock/tool.py: generic archives are not locked beside those of a target | } | {GENERIC} => }
tools/fetch/lock/tool.py: the second of two targets need not be there
for target in wanted: => for target in wanted[:1]:
tools/fetch/lock/web.py: a server fills the memory in place of a checksum
if len(content) > SMALL: => if len(chunk) > SMALL:
tools/fetch/debian/apt.py: packages are unpacked under the names of others
return [files[one.name] for one in packages] => return [files[name] for name in sorted(files)]
tools/fetch/debian/tool.py: a suite must have all optional packages
*selection.optional} - set(absent)) => *selection.optional})
tools/fetch/debian/sources.py: of two suites of a source, one is used | " ".join(source.suites) => source.suites[0]
rules/runtime/devel_tree.py: a program that finds its files by its place may be a link
elif _is_same(place, source) and not (os.path.islink(place) and is_program(source)): => elif _is_same(place, source):
rules/runtime/libraries/pe.py: addresses in the part of a section that is only in the file are in none
if start <= address < start + max(size, in_file): => if start <= address < start + size:
rules/runtime/libraries/loading.py: a library is loaded twice, by the names of file and link
beside.is_file() and not beside.samefile(path) => beside.is_file()
rules/runtime/libraries/loading.py: of two libraries with one name, the one is loaded that the file does not mean
for place in [*reached, *directories] => for place in directories
packaging/rocm/src/rocm_sdk/_dist_info.py: a library that Windows does not have is looked for there
optional, bool(dll_pattern), globs) => optional, True, globs)
packaging/rocm/src/rocm_sdk/doctor/loading.py: a library prints, doctor stops | .splitlines()[-1] => .splitlines()[0]
packaging/rocm/src/rocm_sdk/selfcheck/run.py: what is skipped passes | "skipped", str(reason) => "passed", str(reason)
packaging/rocm/src/rocm_sdk/devel.py: a namespace package ends in a traceback
os.path.dirname(spec.origin) if spec.origin else None => os.path.dirname(spec.origin)
packaging/rocm/src/rocm_sdk/devel.py: after half a removal, one is told to install what pip thinks is there
half_removed_remedy(names, known) or f'Install => f'Install
packaging/rocm/src/rocm_sdk/process.py: 7.1 is a version that the pattern 7.1 means, as is 7x1
".*".join(map(re.escape, pattern.split("*"))) => ".*".join(pattern.split("*"))
packaging/rocm/src/rocm_sdk/environment.py: of two directories of a search path, one is set
str(place) for place in places if place.is_dir() => str(place) for place in places[:1] if place.is_dir()
packaging/core/src/rocm_sdk_core/_cli.py: a tool whose reader ends fails | (SIGPIPE, SIGXFSZ) => (SIGXFSZ,)
packaging/core/src/rocm_sdk_core/_cli.py: what stops the making of a devel tree ends in a traceback
if type(error).__module__ != "rocm_sdk.errors": => if type(error).__module__ == "rocm_sdk.errors":
wheels/verify/device/code_for_targets.py: one library that lacks a family is enough | held and all( => held and any(
wheels/verify/wheel_set/loader.py: a tree whose name begins with the devel tree's is inside it
target.startswith(devel.tree + "/"): => target.startswith(devel.tree):
wheels/verify/device/facts.py: of two code objects for a target, one counts
found[target] += size => found[target] = size
wheels/verify/wheel_set/requirements.py: packages for every target are missing where only the default's is wanted
if target and target == default} => if target}
wheels/verify/device/places.py: files for two targets are one place | in found if len(found) == 1 else (): => in found:
wheels/verify/device/code_for_targets.py: a copy with code for one of its two targets is refused
len(unserved(copy.codes, targets)) == len(targets): => unserved(copy.codes, targets):
wheels/verify/wheel_set/set_checks.py: launchers of Windows have no target
if facts.pe is not None:\n        images => if False:\n        images
wheels/verify/device/places.py: the second bundle is lost | enumerate(facts.bundles): => enumerate(facts.bundles[:1]):
wheels/verify/checks/elf.py: files with debug information are taken for programs
elf.machine != c.EM_AMDGPU and not elf.debug_only: => elf.machine != c.EM_AMDGPU:
wheels/split/write.py: of two thin wheels, one has the library with the code of all GPUs
wanted[file.source].append((plan.label, file)) => wanted[file.source] = [(plan.label, file)]
wheels/split/tool.py: what split finds wrong has the exit code of a mistake on the command line
interrupted="what is there is whole", otherwise=FOUND) => interrupted="what is there is whole")
wheels/split/plan.py: a second GPU without any code gets a wheel
for group in groups:\n        if unknown => for group in groups[:1]:\n        if unknown
wheels/split/write.py: a library in .data has all code | get((plan.label, file.path)) => get((plan.label, file.source))
wheels/require_sdk/plan.py: the report gives the wrong reason
if gpus.served:\n        return => if not gpus.served:\n        return
wheels/require_sdk/needs.py: nothing is found in site-packages itself
relpath(directory or '.' => relpath(directory or 'lib'
wheels/require_sdk/libraries.py: device code defines symbols for the host
not elf.has_dynamic or elf.machine == c.EM_AMDGPU or elf.debug_only => not elf.has_dynamic or elf.debug_only
wheels/require_sdk/libraries.py: a file with damaged tables needs nothing | (symbols, str): => (symbols, bytes):
wheels/code/tool.py: a target has the bytes of the last code object alone
total[target] += code.size => total[target] = code.size
wheels/code/tool.py: a damaged wheel is called clean
if trouble := opened.archive.damage: => if trouble := None:
hip/tools/slice.py: a library that cannot be sliced is missing | shutil.copy(args.library, args.output) => pass
hip/tools/interface_library.py: the library's own name is no version, and the first version is it
enumerate(interface.versions, FIRST_VERSION) if name => enumerate(interface.versions, 1) if name
hip/tools/prefix/cmake_exports.py: a value with "=" is cut | value = line.partition("=") => value = line.rpartition("=")
hip/tools/prefix/packages.py: of two packages with one name, the last counts
found.setdefault(name.lower(), (name, inside)) => found[name.lower()] = (name, inside)
"""


@dataclass(frozen=True)
class Mutant:
    """A harmful change of one line: `before` becomes `after` in the file `path`."""

    number: int
    path: str
    harm: str
    before: str
    after: str

    @property
    def room(self) -> str:
        """The folder that the file belongs to, as ROOMS has it."""
        return max((room for room in ROOMS if self.path.startswith(f"{room}/")), key=len)

    def find(self, tree: Path) -> Path:
        """Return the file with the text. Raises SystemExit unless there is exactly one."""
        for files in ([tree / self.path], sources(tree, self.room)):
            having = [path for path in files if path.exists() and path.read_text("utf-8").count(self.before) == 1]
            if len(having) == 1:
                return having[0]
        raise SystemExit(
            f"mutant {self.number}: expected {self.before!r} once in {self.path}, or in one file of {self.room}. "
            "Write the line as it is now, or another mutant for its function"
        )

    def rings(self) -> dict[str, list[str]]:
        """Return the paths of each ring's tests; the module's own come first."""
        own = self.room if self.room not in ("tools/actions", "hip/tools") else str(Path(self.path).parent)
        first = [self.path.replace(".py", "_test.py"), own, ELSEWHERE.get(self.room, own)]
        following = NEXT[max((one for one in NEXT if own.startswith(one)), key=len)]
        return {"own": [one for one in first if (ROOT / one).exists()], "next": list(following)}


def read_mutants() -> list[Mutant]:
    """Return the table."""
    rows = re.findall(r"^(\S+\.py): (.*?)(?: \| |\n)(.*) => (.*)\n", MUTANTS, re.MULTILINE)
    return [Mutant(number, *(one.replace("\\n", "\n") for one in row)) for number, row in enumerate(rows, 1)]


def sources(tree: Path, room: str) -> list[Path]:
    """Return the modules of a room without its tests and without rooms inside it, sorted."""
    others = (*(f"{one}/" for one in ROOMS if one.startswith(f"{room}/")), *NOT_DRAWN)
    paths = [path for path in sorted((tree / room).rglob("*.py")) if not path.is_symlink()]
    return [path for path in paths if not any(one in path.relative_to(tree).as_posix() for one in others)]


def draw(seed: str) -> None:
    """Print functions of four lines and more, as many of each room as ROOMS says."""
    for room, count in ROOMS.items():
        found = []
        for path in sources(ROOT, room):
            nodes = [one for one in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(one, ast.FunctionDef)]
            long = [one for one in nodes if (one.end_lineno or 0) - one.body[0].lineno >= 3]
            found += [(str(path.relative_to(ROOT)), one.lineno, one.name) for one in long]
        for file, line, name in random.Random(f"{seed}/{room}").sample(sorted(found), min(count, len(found))):
            print(f"{file}:{line} {name}")


def run_tests(tree: Path, paths: list[str], *options: str) -> list[str]:
    """Run tests in a copy; return those that fail, all paths if there is no end."""
    command = [sys.executable, "-B", "-m", "pytest", "-q", "--tb=no", "-rfE", "-p", "no:cacheprovider"]
    environment = {**os.environ, "PYTHONPATH": "packaging/rocm/src", "BUILDIFIER": "/bin/true"}
    command += ["--import-mode=importlib", *options, *paths]
    try:
        done = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return paths
    failed = re.findall(r"^(?:FAILED|ERROR) (.*?)(?: - .*)?$", done.stdout, re.MULTILINE)
    return failed or (paths if done.returncode in (3, 4) else [])


def judge(tree: Path, mutant: Mutant, failing: list[str]) -> tuple[str, str]:
    """Plant a mutant, run its rings until a test fails that passes without it; return the ring and the test."""
    file = mutant.find(tree)
    text = file.read_text("utf-8")
    for ring, paths in mutant.rings().items():
        while True:
            known = [f"--{'deselect' if '::' in one else 'ignore'}={one}" for one in failing]
            file.write_text(text.replace(mutant.before, mutant.after), "utf-8")
            found = run_tests(tree, paths, "-x", *known)
            file.write_text(text, "utf-8")
            if not found:
                break
            if not run_tests(tree, found):
                return ring, found[0]
            more = {*found, *run_tests(tree, paths, "--continue-on-collection-errors")} - set(failing)
            if not more:  # pytest itself cannot run there.
                break
            failing += sorted(more)
    return "", ""


def copy_tree(tree: Path) -> None:
    """Copy the files of this checkout that git knows, and what Bazel has built for tests without it."""
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in filter(lambda name: os.path.lexists(ROOT / name), names.strip("\0").split("\0")):
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, tree / name, follow_symlinks=False)
    for name in filter(lambda name: (ROOT / name).exists(), BUILT):
        (tree / name).symlink_to((ROOT / name).resolve())


def main() -> int:
    """Run the mutants, or draw functions; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", type=int, nargs="+", metavar="NUMBER", help="run these mutants")
    parser.add_argument("--draw", metavar="SEED", help="print functions to write mutants for, and run nothing")
    arguments = parser.parse_args()
    if arguments.draw:
        draw(arguments.draw)
        return 0
    chosen = [one for one in read_mutants() if not arguments.only or one.number in arguments.only]
    killed, failing = Counter[str](), list[str]()
    with tempfile.TemporaryDirectory() as folder:
        copy_tree(Path(folder))
        for mutant in chosen:
            mutant.find(Path(folder))
        for mutant in chosen:
            start = time.monotonic()
            ring, test = judge(Path(folder), mutant, failing)
            killed[mutant.room] += bool(ring)
            print(f"{mutant.number:3} {ring or 'SURVIVED':8} {time.monotonic() - start:4.0f} s ", end="")
            print(f"{mutant.path}: {mutant.harm}; {test}", flush=True)
    count = Counter(one.room for one in chosen)
    weak = [f"{room} {killed[room]} of {count[room]}" for room in count if killed[room] < LEAST_SHARE * count[room]]
    print(f"{killed.total()} of {count.total()} are found; too few in: {', '.join(weak) or 'no room'}")
    return int(bool(weak) or killed.total() < LEAST * count.total())


if __name__ == "__main__":
    sys.exit(main())
