"""Has CMake read the packages of an install prefix: which targets each defines, and what it asks for.

    with tempfile.TemporaryDirectory() as scratch:
        cmake = CMake(program, prefix, ["lib/cmake/hip"], Path(scratch))
        cmake.read("hip", "lib/cmake/hip").targets["hip::host"].properties

CMake files are programs. So that they tell the same on every machine and change nothing on it:

- CMake reads a copy of the prefix. The copy has the CMake files, and the small files that these name. All other files
  are empty there. Links into the prefix stay.
- Commands that start programs or write files do nothing (cmake_project/CMakeLists.txt). Environment and PATH are empty.
  CMake looks for files, programs and packages in the copy alone.
- Time, memory and the size of files are limited.

A package at whose files CMake stops has no targets, and a note that says why. `message(FATAL_ERROR)` does not stop it.
"""

import os
import posixpath
import re
import resource
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from tools.fetch.catalog.names import CatalogError

#: What paths of the prefix begin with in properties and notes.
ROOT: Final = "<prefix>"
_PROJECT: Final = Path(__file__).parent / "cmake_project"
#: Bytes of a file that CMake files name, and whose content they may read.
_MAX_NAMED: Final = 1 << 20
_WORD: Final = re.compile(rb"[\w.+-]+")
#: Seconds for a package. LLVM's, the biggest, takes less than one.
_SECONDS: Final = 60
#: Bytes of memory, of a core dump, and of a file that is written.
_LIMITS: Final = ((resource.RLIMIT_AS, 1 << 30), (resource.RLIMIT_CORE, 0), (resource.RLIMIT_FSIZE, 256 << 20))
_MAX_NOTE: Final = 200


@dataclass
class ImportedTarget:
    """A library: `kind` is SHARED, STATIC, MODULE, UNKNOWN, OBJECT, INTERFACE or ALIAS; `place` is the file with it."""

    name: str
    kind: str = ""
    place: str = ""
    #: Values with their generator expressions evaluated, as lists.
    properties: dict[str, list[str]] = field(default_factory=dict)


@dataclass
class Export:
    """Exports of a package: targets by name, the packages that it asks for, and what is left out."""

    targets: dict[str, ImportedTarget] = field(default_factory=dict)
    dependencies: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    is_read: bool = True


class CMake:
    """Reads the packages of one prefix; `directories` has their places in it."""

    def __init__(
        self, program: Path, prefix: Path, directories: Sequence[str], scratch: Path, seconds: int = _SECONDS
    ) -> None:
        """Copy the prefix to the empty directory `scratch`. Raises CatalogError for files that cannot be read."""
        self._seconds = seconds
        self._program = program.absolute()
        self._scratch = scratch.resolve()
        self._copy = self._scratch / "sdk/prefix"
        self._directories = [f"{self._copy}/{one}" for one in directories]
        _copy_prefix(prefix, self._copy)

    def read(self, name: str, directory: str) -> Export:
        """Read the package in a directory of the prefix. Raises CatalogError if CMake cannot be run."""
        with tempfile.TemporaryDirectory(dir=self._scratch) as place:
            notes, targets, log = (Path(place, one) for one in ("notes", "targets", "log"))
            notes.touch()
            problem = self._run(place, log, name, directory, SDK_NOTES=notes, SDK_TARGETS=targets)
            export = self._noted(notes)
            if problem:
                export.notes.append(f"{name}: {problem}")
                export.is_read = False
            else:
                self._add_targets(export, name, targets)
        return export

    def _run(self, build: str, log: Path, name: str, directory: str, **files: Path) -> str:
        """Run CMake; return what stopped it, empty if nothing did."""
        variables = {
            "CMAKE_BUILD_TYPE": "Release",
            "CMAKE_PREFIX_PATH": ";".join((f"{self._copy}/{directory}", *self._directories, str(self._copy))),
            "SDK_PACKAGE": name,
            "SDK_PREFIX": self._copy,
            **files,
        }
        command = [str(self._program), "-S", str(_PROJECT), "-B", build, "-G", "Unix Makefiles"]
        command += [f"-D{variable}={value}" for variable, value in variables.items()]
        environment = {"HOME": build, "LC_ALL": "C", "PATH": f"{build}/none", "TMPDIR": build}
        try:
            with open(log, "wb") as output:
                done = subprocess.run(
                    command,
                    check=False,
                    cwd=build,
                    env=environment,
                    preexec_fn=_limit,
                    stderr=output,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    timeout=self._seconds,
                )
        except subprocess.TimeoutExpired:
            return f"CMake does not come to an end within {self._seconds} seconds"
        except OSError as error:
            raise CatalogError(f"{self._program}: {error.strerror}; expected CMake, which reads the SDK") from None
        return self._problem(log.read_text(encoding="utf-8", errors="replace"), done.returncode)

    def _problem(self, log: str, code: int) -> str:
        """Return CMake's first error, with the first place in the prefix that it names."""
        if not code:
            return ""
        error = re.split(r"\n\s*\n\s*\n|\nCMake ", log.partition("CMake Error")[2])[0]
        place = re.search(re.escape(f"{self._copy}/") + r"([^\s:]+:\d+)", error)
        text = " ".join(error.partition("\nCall Stack")[0].partition(":\n")[2].split()) or f"exit code {code}"
        return f"CMake stops{f' at {place[1]}' if place else ''}: {self._relative(text)[:_MAX_NOTE]}"

    def _relative(self, text: str) -> str:
        return text.replace(str(self._copy), ROOT)

    def _lines(self, file: Path) -> Iterator[tuple[str, str]]:
        for line in self._relative(file.read_text(encoding="utf-8", errors="replace")).split("\n"):
            key, equals, value = line.partition("=")
            if equals:
                yield key, value

    def _noted(self, file: Path) -> Export:
        export = Export()
        for key, value in self._lines(file):
            if key == "dependency" and value not in export.dependencies:
                export.dependencies.append(value)
            elif key == "note":
                place, _, text = value.partition(":")
                sentence = text.strip().partition(". ")[0]
                export.notes.append(f"{place.removeprefix(f'{ROOT}/')}: {sentence[:_MAX_NOTE]}")
        return export

    def _add_targets(self, export: Export, name: str, file: Path) -> None:
        target = ImportedTarget("")
        for key, value in self._lines(file):
            if key == "refused":
                export.notes.append(f"{name}: CMake does not accept it. {value}".strip())
            elif key == "target":
                target = export.targets.setdefault(value, ImportedTarget(value))
            elif key == "place":
                target.place = value.removeprefix(f"{ROOT}/")
            elif key == "TYPE":
                target.kind = value.removesuffix("_LIBRARY")
            else:
                target.properties[key] = split_list(value)


def split_list(value: str) -> list[str]:
    r"""Split a list of CMake at its semicolons, except at `\;`; leave empty elements out."""
    return [one.replace("\\;", ";") for one in re.split(r"(?<!\\);", value) if one]


def below(path: str) -> str | None:
    """Return a path that begins with ROOT relative to the prefix, None if it is not in it."""
    normal = posixpath.normpath(path)
    return "" if normal == ROOT else normal.removeprefix(f"{ROOT}/") if normal.startswith(f"{ROOT}/") else None


def _limit() -> None:
    for kind, most in _LIMITS:
        hard = resource.getrlimit(kind)[1]
        limit = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (limit, limit))


def _copy_prefix(prefix: Path, copy: Path) -> None:
    """Copy what CMake sees of a prefix."""
    others: list[tuple[str, str]] = []
    words: set[bytes] = set()
    try:
        for source, place in _make_directories(prefix, copy):
            if source.endswith(".cmake"):
                shutil.copyfile(source, place)
                words.update(_WORD.findall(Path(place).read_bytes()))
            else:
                others.append((source, place))
        for source, place in others:
            if os.fsencode(posixpath.basename(place)) in words and os.stat(source).st_size <= _MAX_NAMED:  # noqa: PTH116
                shutil.copyfile(source, place)
            else:
                os.mknod(place)
    except OSError as error:
        raise CatalogError(f"{error.filename}: {error.strerror}; expected a readable file (chmod a+r)") from None


def _make_directories(source: Path | str, place: Path | str) -> Iterator[tuple[str, str]]:
    """Make the directories of a copy, and its links; yield its files, each with its place in the copy."""
    os.makedirs(place)  # noqa: PTH103 - a prefix may have a hundred thousand files
    with os.scandir(source) as entries:
        for entry in sorted(entries, key=lambda one: one.name):
            path = f"{place}/{entry.name}"
            link = os.readlink(entry.path) if entry.is_symlink() else ""  # noqa: PTH115
            if link and not link.startswith("/"):
                os.symlink(link, path)  # noqa: PTH211
            elif entry.is_file():
                yield entry.path, path
            elif entry.is_dir(follow_symlinks=False):
                yield from _make_directories(entry.path, path)
