"""Calls programs for the checks of .ci/run, and makes what they need once, when a check first asks for it.

    machine = Machine(scratch, log)
    machine.run("./bazelw", "build", "//packaging:all_wheels")
    machine.module_in(machine.sid, "pytest", "lib/elf")

What is made is named by a property: `debian13`, `rocm7`, `installers`. A check that is run alone makes what it needs;
in the whole run the check that makes it stands before those that use it.
"""

import re
import subprocess
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import BinaryIO

WORKSPACE = Path(__file__).resolve().parents[2]
#: Where a build leaves its packages.
PACKAGES = WORKSPACE / "bazel-bin/packaging"
#: The split packages of the example SDK.
MINI = WORKSPACE / "bazel-bin/tests/mini/split"
LOCK = WORKSPACE / "tools/python/requirements.txt"
#: pytest, and what it requires.
PYTEST = ("iniconfig", "packaging", "pluggy", "pygments", "pytest")
#: What locks packages, and what reads ELF files.
UV = "uv"
ELFTOOLS = "pyelftools"


class FailedError(Exception):
    """A check has failed; the log says more."""


@dataclass(frozen=True)
class Packages:
    """Packages of real ROCm: what they are built from, and where they run."""

    #: How checks name them.
    name: str
    #: The major version of ROCm: 5 or 7.
    rocm: int
    #: A layout that `develop.real_rocm` makes, or the directory of artifacts.
    layout: str
    #: Options of the build.
    options: tuple[str, ...] = ()
    #: GPU targets of the artifacts for which there are no packages.
    left_out: tuple[str, ...] = ()
    #: Files of tests/e2e/verify with what the verifier finds in this input alone.
    findings: tuple[str, ...] = ()


@dataclass
class Inventory:
    """Record of what was made for checks. All checks share it, also when they run in parallel."""

    #: What there is, or why it could not be made, by name.
    found: dict[str, Path | FailedError] = field(default_factory=dict)
    #: For each name, what is held while it is made.
    locks: defaultdict[str, Lock] = field(default_factory=lambda: defaultdict(Lock))
    #: Which packages were built last, and the identity of the index that tells them from later ones.
    packages: tuple[str, tuple[int, int]] | None = None


@dataclass(frozen=True)
class Machine:
    """Runs programs for a check, and makes what it needs."""

    #: A directory for whatever is made.
    scratch: Path
    #: Gets all that is printed: open for appending, without a buffer, as programs write to it, too.
    log: BinaryIO
    made: Inventory = field(default_factory=Inventory)

    def run(self, *command: object) -> None:
        """Run a program from the top of the workspace. Raises FailedError if it fails."""
        words = [str(word) for word in command]
        result = subprocess.run(
            words, cwd=WORKSPACE, stdin=subprocess.DEVNULL, stdout=self.log, stderr=subprocess.STDOUT, check=False
        )
        if result.returncode:
            raise FailedError(f"{' '.join(words)}: exit code {result.returncode}")

    def read(self, *command: object) -> str:
        """Run a program and return what it prints to its standard output. Raises FailedError if it fails."""
        words = [str(word) for word in command]
        result = subprocess.run(
            words, cwd=WORKSPACE, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self.log, check=False
        )
        if result.returncode:
            raise FailedError(f"{' '.join(words)}: exit code {result.returncode}")
        return result.stdout.decode(errors="replace")

    def say(self, text: str) -> None:
        """Write a line to the log."""
        self.log.write(f"{text}\n".encode())

    def bazel(self, *arguments: object) -> None:
        """Run Bazel."""
        self.run("./bazelw", *arguments)

    def module(self, module: str, *arguments: object) -> None:
        """Run a program of the project, with the machine's own Python."""
        self.run("python3", "-B", "-m", module, *arguments)

    def module_in(self, root: Path, module: str, *arguments: object) -> None:
        """Run a program of the project in a root file system."""
        self.run(*_in_root(root, module), *arguments)

    def read_in(self, root: Path, module: str, *arguments: object) -> str:
        """Run a program of the project in a root file system; return what it prints to its standard output."""
        return self.read(*_in_root(root, module), *arguments)

    def pytest(self, *files: str) -> None:
        """Run files of tests with the locked pytest, outside Bazel."""
        options = ("-q", "-p", "no:cacheprovider", "--import-mode=importlib", "--durations=0")
        self.run(self.programs / "bin/python", "-B", "-m", "pytest", *options, *files)

    def _once(self, name: str, make: Callable[[Path], None], *, is_kept: bool = True) -> Path:
        """Return a path of the scratch directory, made when it is first asked for. Raises FailedError if it cannot be.

        What depends on nothing of the workspace is kept: a file `NAME.made` beside it says that it is whole, and a
        later run with the same directory takes it as it is.
        """
        path, whole = self.scratch / name, self.scratch / f"{name}.made"
        with self.made.locks[name]:
            if name not in self.made.found:
                self.made.found[name] = path
                try:
                    if not (is_kept and whole.exists()):
                        make(path)
                        whole.touch()
                except (FailedError, OSError, ValueError) as error:
                    self.made.found[name] = FailedError(f"{name} could not be made: {error}")
            made = self.made.found[name]
        if isinstance(made, FailedError):
            raise made
        return made

    @property
    def programs(self) -> Path:
        """An environment with pytest, uv and pyelftools as tools/python/requirements.txt locks them."""
        return self._once("programs", self._make_programs)

    def _make_programs(self, path: Path) -> None:
        requirements = self.scratch / "programs.txt"
        requirements.write_text(locked((*PYTEST, UV, ELFTOOLS), LOCK.read_text(encoding="utf-8")), encoding="utf-8")
        self.run("python3", "-m", "venv", path)
        options = ("--quiet", "--disable-pip-version-check", "--no-deps", "--require-hashes")
        self.run(path / "bin/python", "-m", "pip", "install", *options, "-r", requirements)

    @property
    def debian13(self) -> Path:
        """A root of Debian 13, which runs ROCm 5.7 and has the tools of many checks."""
        return self._once("debian13", lambda path: self._make_root("tests/e2e/roots/debian_root.sh", "trixie", path))

    @property
    def sid(self) -> Path:
        """A root of Debian unstable, which runs ROCm 7."""
        return self._once("sid", lambda path: self._make_root("tests/e2e/roots/debian_root.sh", "sid", path))

    @property
    def engines(self) -> Path:
        """A root with remote engines."""
        return self._once("engines", lambda path: self._make_root("tests/remote/engine_root.sh", path))

    def _make_root(self, *command: object) -> None:
        self.run("rm", "-rf", "--one-file-system", command[-1])
        self.run(*command)

    @property
    def rocm5(self) -> Path:
        """The smaller libraries of ROCm 5.7, laid out as artifacts: `split` and `family`."""
        return self._once("rocm5", lambda path: self._fetch_rocm(5, path))

    @property
    def rocm7(self) -> Path:
        """The smaller libraries of ROCm 7, laid out as artifacts: `split` and `family`."""
        return self._once("rocm7", lambda path: self._fetch_rocm(7, path))

    @property
    def whole_rocm7(self) -> Path:
        """The same with its big libraries."""
        return self._once("whole-rocm7", lambda path: self.module("develop.real_rocm.fetch", "--rocm", 7, path))

    def _fetch_rocm(self, rocm: int, path: Path) -> None:
        self.module("develop.real_rocm.fetch", "--rocm", rocm, "--small", path)

    @property
    def installers(self) -> Path:
        """The directory for the wheels of installers, whichever a check fetches."""
        return self.scratch / "installers"

    @property
    def installers_for_debian13(self) -> Path:
        """The same directory, with those for the Python of Debian 13."""
        self._once("installers-3.13", lambda _: self._fetch_installers("3.13"))
        return self.installers

    def _fetch_installers(self, version: str) -> None:
        self.module("tests.e2e.install.installers", "--installers", self.installers, "--fetch", version)

    @property
    def windows_python(self) -> Path:
        """CPython for Windows, and its installers."""
        return self._once("windows-fetched", lambda path: self.module("tests.e2e.windows.machine", path))

    @property
    def older(self) -> Path:
        """The example SDK's packages, version 7.10.0."""
        return self._once("older", lambda path: self._copy_mini("7.10.0", path), is_kept=False)

    @property
    def newer(self) -> Path:
        """The example SDK's packages, version 7.11.0."""
        return self._once("newer", lambda path: self._copy_mini("7.11.0", path), is_kept=False)

    def _copy_mini(self, version: str, path: Path) -> None:
        self.bazel("build", "//tests/mini/split:dist", f"--//packaging:version={version}")
        self.run("rm", "-rf", path)
        self.run("cp", "-RL", MINI / "dist", path)

    @property
    def big_wheel(self) -> Path:
        """A directory with a wheel of over 4 GiB."""
        return self._once("big", lambda path: self.module("tests.e2e.validators.big", "--make", path), is_kept=False)

    @property
    def browser(self) -> Path:
        """Directory of the programs that open pages in a browser."""
        return self._once("page", lambda path: self.module("tests.e2e.index.page", "--tools", path, "--fetch"))

    @property
    def mini(self) -> Path:
        """The example SDK's packages, as they are built by default, with their reports beside `dist`."""
        self.bazel("build", "//tests/mini/split:dist")
        return MINI.resolve()

    def artifacts(self, packages: Packages) -> Path:
        """Return the directory of artifacts of some packages."""
        if Path(packages.layout).is_absolute():
            return Path(packages.layout)
        return (self.rocm5 if packages.rocm == 5 else self.rocm7) / packages.layout

    def root(self, packages: Packages) -> Path:
        """Return the root in which packages run."""
        return self.debian13 if packages.rocm == 5 else self.sid

    def build(self, packages: Packages) -> Path:
        """Build packages of real ROCm, unless they are those that were built last; return their directory."""
        if self.made.packages != (packages.name, identity(PACKAGES / "dist")):
            artifacts = f"--repo_env=ROCM_ARTIFACTS_DIR={self.artifacts(packages)}"
            self.bazel("build", "//packaging:dist", artifacts, *packages.options)
            self.made.packages = packages.name, identity(PACKAGES / "dist")
        return PACKAGES.resolve() / "dist"

    def use_device_library(self) -> None:
        """Make available what programs outside Bazel read compressed device code with."""
        self._use_built("lib/device", "zstd_codec.so")

    def use_libraries(self) -> None:
        """Make available that, and what programs outside Bazel deflate with."""
        self.use_device_library()
        self._use_built("lib/deflate", "deflater.so")

    def _use_built(self, package: str, library: str) -> None:
        name = f"{package}:{library}"
        with self.made.locks[name]:  # Once: some checks that ask run beside others that use Bazel.
            if name not in self.made.found:
                self.bazel("build", f"//{name}")
                self.made.found[name] = (WORKSPACE / f"bazel-bin/{package}/{library}").resolve()
                self.run("ln", "-sfn", self.made.found[name], f"{package}/")


def _in_root(root: Path, module: str) -> tuple[object, ...]:
    """Return the command for a program of the project in a root: without a network, from the top of the workspace."""
    return "tests/e2e/roots/in_root.sh", root, "env", "-C", WORKSPACE, "python3", "-B", "-m", module


def identity(directory: Path) -> tuple[int, int]:
    """Return inode and time of change of a directory of packages; they differ once the directory is built anew."""
    try:
        status = directory.stat()
    except FileNotFoundError:
        return 0, 0
    return status.st_ino, status.st_mtime_ns


def locked(projects: tuple[str, ...], lock: str) -> str:
    """Return the lines of some projects in a requirements file, with their hashes.

    Raises ValueError if it does not have one of them.
    """
    lines = []
    for project in projects:
        found = re.search(rf"^{re.escape(project)}==(?:.*\\\n)*.*\n", lock, re.MULTILINE)
        if not found:
            raise ValueError(f"{LOCK}: expected {project} with hashes")
        lines.append(found[0])
    return "".join(lines)
