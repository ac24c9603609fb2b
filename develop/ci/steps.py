"""Runs the checks of .ci/run: one function for each, which gets the machine and calls programs and tests."""

import os
import re
import shutil
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from develop.ci.check import BUILD, Check, Requirement
from develop.ci.machine import WORKSPACE, FailedError, Machine, Packages
from develop.ci.results import Count

#: e_machine of an ELF header.
EM_AARCH64 = 183
#: Prints the version as pip takes it.
PYTHON_VERSION = "import sys; print('.'.join(map(str, sys.version_info[:2])))"
#: A command line that begins with a program of the machine: every one names a file of the build.
SHELL = re.compile(r"^ *Command Line: \(exec (?:/|sh|bash|env)|run_shell|/bin/(?:ba)?sh", re.MULTILINE)


def _missing_debian() -> str:
    if os.geteuid() or not shutil.which("apt-get"):
        return "needs root on Debian or Ubuntu, to make roots of other releases"
    return ""


def _missing_apt() -> str:
    return "" if shutil.which("apt-get") and shutil.which("dpkg-deb") else "needs apt, on Debian or Ubuntu"


def _missing_directories(*variables: str) -> str:
    absent = [name for name in variables if not os.environ.get(name)]
    for name in variables:
        if name not in absent and not Path(os.environ[name]).is_dir():
            raise FailedError(f"{name}={os.environ[name]}: there is no such directory")
    return f"needs {' and '.join(absent)} in the environment" if absent else ""


#: Roots of other releases are made.
DEBIAN = Requirement(_missing_debian)
DEBIAN_PACKAGES = Requirement(_missing_apt)
#: Artifacts of ROCm 7 that ROCm/rocm-kpack split.
KPACK = Requirement(lambda: _missing_directories("ROCM_KPACK_ARTIFACTS"), is_optional=True)
#: Sources of today's Bazel modules.
MODULES = Requirement(lambda: _missing_directories("ROCM_MODULE_SOURCES"), is_optional=True)
#: A checkout of TheRock.
AMD = Requirement(lambda: _missing_directories("ROCM_THEROCK"), is_optional=True)


#: pytest in a root: it runs files that Bazel does not, or for which only the root has what they need.
PYTEST_THERE = ("pytest", "-q", "-p", "no:cacheprovider", "--import-mode=importlib")


def bazel(*arguments: str) -> Callable[[Machine], None]:
    """Run Bazel."""
    return lambda machine: machine.bazel(*arguments)


def module(name: str, *arguments: str) -> Callable[[Machine], None]:
    """Run a program of the project."""
    return lambda machine: machine.module(name, *arguments)


def make(what: Callable[[Machine], Path]) -> Callable[[Machine], None]:
    """Make what later checks need."""

    def run(machine: Machine) -> None:
        what(machine)

    return run


def with_pytest(name: str, sentence: str, *files: str, holds: str = BUILD) -> Check:
    """Return a check that runs files of tests outside Bazel, because they call Bazel themselves."""
    return Check(name, sentence, lambda machine: machine.pytest(*files), tests=files, holds=holds)


def bazel_tests(machine: Machine) -> Count:
    """Run every test, one result per target: so the closing line says how much was tested."""
    output = machine.read("bash", "-c", "./bazelw test //tests/... 2>&1 || true")
    machine.say(output)
    lines = [line for line in output.splitlines() if re.match(r"//|ERROR|FAIL", line)]
    print("\n".join(lines), flush=True)
    passed = sum(bool(re.match(r"//.* PASSED ", line)) for line in lines)
    failed = sum(bool(re.match(r"//.* (FAILED |TIMEOUT |NO STATUS|FAILED TO BUILD)", line)) for line in lines)
    if not re.search(r"^Executed .* tests?", output, re.MULTILINE):
        raise FailedError("Bazel executed no tests")
    return Count(passed, failed)


def mini_versions(machine: Machine) -> Path:
    """Make packages that many checks install, and what programs outside Bazel need; return the newer packages."""
    machine.use_libraries()
    return machine.older and machine.newer


def every_test(machine: Machine) -> None:
    """Ask Bazel which tests //tests/... does not reach; //tests/lint has a list of those that it does."""
    query = 'kind(".*_test rule", //...) except tests(//tests/...)'
    missing = machine.read("./bazelw", "query", "--ui_event_filters=-info", "--noshow_progress", query).split()
    if missing:
        raise FailedError(f"add these to //tests:unit: {', '.join(missing)}")


def no_shell(machine: Machine) -> None:
    """Look for a shell, or what PATH happens to have, in the actions of a package build."""
    actions = machine.read("./bazelw", "aquery", "--output=text", "deps(//packaging:dist)")
    kinds = Counter(re.findall(r"^ *Mnemonic: (Rocm\w+)", actions, re.MULTILINE))
    machine.say(f"{dict(kinds)}")
    if not kinds:
        raise FailedError("Bazel printed no actions")
    if found := SHELL.search(actions):
        line = actions[found.start() :].partition("\n")[0]
        raise FailedError(f"an action runs a shell, or a program of the machine: {line.strip()}")


def no_op(machine: Machine) -> None:
    """Build twice."""
    machine.bazel("build", "//packaging:all_wheels")
    start = time.monotonic()
    machine.bazel("build", "//packaging:all_wheels")
    machine.say(f"a second call took {time.monotonic() - start:.3f} s")


def launcher_for_aarch64(machine: Machine) -> None:
    """Build the launcher for the other CPU, with the same toolchain."""
    machine.bazel("build", "//tools/actions/launcher", "--platforms=//:linux_aarch64")
    header = (WORKSPACE / "bazel-bin/tools/actions/launcher/launcher").read_bytes()[:20]
    machine_type = int.from_bytes(header[18:20], "little")
    if machine_type != EM_AARCH64:
        raise FailedError(f"the launcher has e_machine {machine_type}; expected {EM_AARCH64}")


def big_wheel(machine: Machine) -> None:
    """Give a big wheel to every tool."""
    machine.module("tests.e2e.validators.big", "--check", machine.big_wheel)


def devel_histories(machine: Machine) -> None:
    """Let development trees live through random histories."""
    machine.module("tests.e2e.install.devel_histories", *_two_versions(machine), "--installers", machine.installers)


def _two_versions(machine: Machine) -> tuple[object, ...]:
    return "--dist", machine.older, "--newer", machine.newer


def channel(machine: Machine) -> None:
    """Keep channels in a directory and in buckets, and kill publishers while pip and uv install."""
    machine.use_libraries()
    programs = "tests.e2e.channel.locked_programs"
    machine.module(programs, "tests.e2e.channel.places", "--dist", machine.newer)
    for place in ("directory", "bucket"):
        machine.module(programs, "tests.e2e.channel.channel_kills", "--kills", "20", "--place", place)


def push(machine: Machine) -> None:
    """Make an image of the example SDK's layers in a registry."""
    machine.bazel("build", "//tests/mini/split:layers_gfx942")
    layers = [machine.mini / f"{name}_layer.tar.gz" for name in ("core", "libraries", "device_gfx942", "rocm")]
    machine.module_in(machine.sid, "tests.e2e.push.registry", *layers)


def validate_mini(machine: Machine) -> None:
    """Check the example SDK's packages with other tools."""
    mini = machine.mini
    machine.module("tests.e2e.validators.validate", "--dist", mini / "dist", "--reports", mini, "--example")


def installers(machine: Machine) -> None:
    """Install the example SDK with the machine's own interpreters."""
    machine.module("tests.e2e.install.installers", *_two_versions(machine), "--installers", machine.installers)


def pages(machine: Machine) -> None:
    """Paste the README's doors, the tutorial and the examples that need nothing but Bazel and Python."""
    artifact = machine.scratch / "page-artifacts" / "core-hip_lib_generic"
    (artifact / "stage" / "lib").mkdir(parents=True, exist_ok=True)
    (artifact / "artifact_manifest.txt").write_text("stage\n")
    (artifact / "stage" / "lib" / "data").write_text("data\n")
    doors = ("a-package-of-your-own", "package-a-rocm-build")
    given = f"--artifacts={artifact.parent}"
    machine.module("tests.docs.pasted", given, *(f"README.md#{door}" for door in doors))
    machine.module("tests.docs.pasted", "wheels/README.md#split-a-wheel-by-gpu")
    examples = [f"examples/{name}/README.md" for name in ("another_sdk", "mini_sdk", "packages")]
    machine.module("tests.docs.pasted", "docs/sdk/tutorial.md", *examples)


def hip_page(machine: Machine) -> None:
    """Paste the HIP program of hip/README.md into an empty folder."""
    machine.module("tests.docs.pasted", "hip/README.md")


def launcher_for_windows(machine: Machine) -> None:
    """Build the launcher for Windows, and let wine run it."""
    machine.bazel("build", "//tools/actions/launcher", "//tests/e2e/windows:shows", "--platforms=//:windows_x86_64")
    machine.module_in(machine.debian13, *PYTEST_THERE, "tests/e2e/windows/launcher_test.py")


#: Makes the environment in which wheels are split.
SPLIT = "tests.e2e.split.environment"
#: What shows that they can be used.
PACKAGES_FOR_WINDOWS = tuple(f"tests/e2e/windows/{name}_test.py" for name in ("devel", "packages"))


def packages_for_windows(machine: Machine) -> None:
    """Install the example SDK's packages for Windows with CPython for Windows, under wine."""
    machine.bazel("build", "//tests/mini/windows:dist", "//tests/mini/windows:acme_sdk")
    dist = (WORKSPACE / "bazel-bin/tests/mini/windows/dist").resolve()
    given = (f"--dist={dist}", f"--fetched={machine.windows_python}")
    machine.module_in(machine.debian13, *PYTEST_THERE, *PACKAGES_FOR_WINDOWS, *given)


def foreign_sdks(machine: Machine) -> None:
    """Package CUDA's libraries and Debian's ffmpeg, and use them, on Linux and under wine."""
    made = machine.scratch / "foreign-sdks"
    machine.module("tests.e2e.foreign_sdks.make", made)
    given = (f"--made={made}", f"--fetched={machine.windows_python}")
    machine.module_in(machine.debian13, *PYTEST_THERE, "tests/e2e/foreign_sdks/foreign_sdks_test.py", *given)


def windows_corpus(machine: Machine) -> None:
    """Read the images of real wheels for Windows as others do."""
    corpus = machine.scratch / "windows-corpus"
    machine.module("tests.e2e.windows.corpus_wheels", corpus)
    given = ("--wheels", corpus / "wheels")
    machine.run(corpus / "readers/bin/python", "-B", "-m", "tests.e2e.windows.corpus", *given)


def edit_elf(machine: Machine) -> None:
    """Run the tests of ELF edits, and of what linkers and the loader take, where every linker is."""
    machine.module_in(machine.debian13, *PYTEST_THERE, "lib/elf")
    _all_tests(machine, "lib/pack/forwarder_test.py")


def _all_tests(machine: Machine, *files: str) -> None:
    """Run tests for which Bazel's sandbox has not all, in a root that has; none may be skipped."""
    options = ("-q", "-rs", "-p", "no:cacheprovider", "--import-mode=importlib")
    output = machine.read_in(machine.debian13, "pytest", *options, *files)
    machine.say(output)
    if "SKIPPED" in output:
        raise FailedError("pytest skipped a test")


def framework(machine: Machine) -> None:
    """Build the example framework with what `rocm-sdk env` prints."""
    machine.module_in(machine.debian13, "tests.e2e.install.framework", "--dist", machine.mini / "dist")


def _installed_in_debian13(machine: Machine, program: str, *arguments: str) -> None:
    root, directory = machine.debian13, machine.installers_for_debian13
    machine.module_in(root, program, *arguments, "--installers", directory, *_two_versions(machine))


def installers_debian13(machine: Machine) -> None:
    """Install with a newer Python."""
    _installed_in_debian13(machine, "tests.e2e.install.installers", "--python", "python3")


def index(machine: Machine) -> None:
    """Let pip and uv ask nginx for the index."""
    _installed_in_debian13(machine, "tests.e2e.index.index_server")


def page(machine: Machine) -> None:
    """Look at the landing page in a browser."""
    arguments = ("--tools", machine.browser, "--dist", machine.newer, "--output", machine.scratch / "screenshots")
    machine.module_in(machine.debian13, "tests.e2e.index.page", *arguments)


def split_wheels(machine: Machine) -> None:
    """Split wheels of PyPI, and read them with LLVM's bundler."""
    root, fetched = machine.debian13, machine.scratch / "split"
    machine.use_libraries()
    version = machine.read("tests/e2e/roots/in_root.sh", root, "python3", "-c", PYTHON_VERSION).strip()
    machine.module(SPLIT, fetched, "--fetch", version, "programs", "wheels")
    wheels = ("tests.e2e.split.wheels", "--wheels", fetched / "wheels")
    machine.module_in(root, SPLIT, fetched, *wheels, "amd-aiter", "comfy-kitchen", "torch-scatter-rocm")


def wheel_variants(machine: Machine) -> None:
    """Let the reference implementation of wheel variants choose."""
    fetched = machine.scratch / "variants"
    machine.use_libraries()
    version = machine.read("python3", "-c", PYTHON_VERSION).strip()
    machine.module(SPLIT, fetched, "--fetch", version, "programs")
    machine.module(SPLIT, fetched, "tests.e2e.split.variants")


def remote(*options: str) -> Callable[[Machine], None]:
    """Build and test with remote engines, from Debian's packages and PyPI."""

    def run(machine: Machine) -> None:
        given = ("--root", machine.engines, "--programs", machine.scratch / "buildgrid")
        machine.module("tests.remote.execution", *given, *options)

    return run


def remote_hip(machine: Machine) -> None:
    """Build HIP programs with remote engines."""
    given = ("--programs", machine.scratch / "buildgrid", "--artifacts", machine.rocm7 / "split")
    machine.module("hip.tests.e2e.remote", "--root", machine.engines, *given)


def with_rocm7(name: str) -> Callable[[Machine], None]:
    """Run a program with ROCm 7, split."""
    return lambda machine: machine.module(name, "--artifacts", machine.rocm7 / "split")


def hip_libraries(machine: Machine) -> None:
    """Run programs with each library of ROCm 7, and of the ROCm that `rocm.debian` fetches."""
    machine.module("hip.tests.e2e.programs", "--libraries", "--artifacts", machine.whole_rocm7 / "split")
    machine.module("hip.tests.e2e.programs", "--debian")


def todays_modules(machine: Machine) -> None:
    """Build and test with the modules of today, in a copy that asks for them."""
    made = machine.scratch / "todays-modules"
    machine.module("tests.e2e.modules.todays", "--sources", os.environ["ROCM_MODULE_SOURCES"], "--scratch", made)


def compare_with_amd(machine: Machine) -> None:
    """Compare with what AMD's script makes; it needs a newer Python."""
    given = ("--therock", os.environ["ROCM_THEROCK"], "--artifacts", machine.whole_rocm7 / "split")
    program = (machine.programs / "bin/python", "-B", "-m", "tests.e2e.amd.comparison")
    machine.run(*program, "--python", os.environ.get("ROCM_AMD_PYTHON", "python3.12"), *given)


@dataclass(frozen=True)
class OfPackages:
    """The checks of packages of real ROCm."""

    packages: Packages

    def build(self, machine: Machine) -> None:
        """Build them."""
        machine.build(self.packages)

    def use(self, machine: Machine) -> None:
        """Install them where they run, and use them."""
        root, dist = machine.root(self.packages), machine.build(self.packages)
        machine.module_in(root, "tests.e2e.install.real_rocm", "--rocm", self.packages.rocm, "--dist", dist)
        if self.packages.rocm >= 7:  # Input for tests has no HIP bundler of 5.7.
            machine.module_in(root, "tests.e2e.install.package_sets", "--dist", dist, "--set", "")

    def verify(self, machine: Machine) -> None:
        """Prove what is to be proven before they are published."""
        configs = [word for name in self.packages.findings for word in ("--config", f"tests/e2e/verify/{name}.toml")]
        machine.module("tests.e2e.verify.real", "--dist", machine.build(self.packages), *configs)

    def code(self, machine: Machine) -> None:
        """Compare what thin packages hold, and hand to HIP, with what they were made from."""
        root, dist = machine.root(self.packages), machine.build(self.packages)
        machine.use_device_library()
        given = ("--artifacts", machine.artifacts(self.packages), "--dist", dist)
        machine.module_in(root, "tests.e2e.thin.real", *given, "--left-out", *self.packages.left_out)

    def validate(self, machine: Machine) -> None:
        """Other tools judge them."""
        dist = machine.build(self.packages)
        machine.module("tests.e2e.validators.validate", "--dist", dist, "--reports", dist.parent)

    def clients(self, machine: Machine) -> None:
        """Run programs from PyPI with them."""
        root, dist, wheels = machine.root(self.packages), machine.build(self.packages), machine.scratch / "clients"
        version = machine.read("tests/e2e/roots/in_root.sh", root, "python3", "-c", PYTHON_VERSION).strip()
        given = ("--dist", dist, "--wheels", wheels)
        machine.module("tests.e2e.install.clients", *given, "--fetch", version)
        machine.module_in(root, "tests.e2e.install.clients", *given)

    def sets(self, machine: Machine) -> None:
        """Install each set of packages alone."""
        dist = machine.build(self.packages)
        machine.module_in(machine.root(self.packages), "tests.e2e.install.package_sets", "--dist", dist)

    def reports(self, machine: Machine) -> None:
        """Do what users of AMD's packages reported not to work."""
        dist = machine.build(self.packages)
        machine.module_in(machine.root(self.packages), "tests.e2e.install.reports", "--dist", dist)

    def checks(self, title: str, *needs: Requirement) -> Iterator[Check]:
        """Yield the checks that all packages have, and the one of thin packages."""
        name = self.packages.name
        yield Check(f"{name}-build", f"build real {title}", self.build, needs)
        yield Check(f"{name}-use", f"install and use real {title}", self.use, needs)
        yield Check(f"{name}-verify", f"verify real {title}", self.verify, needs)
        if self.packages.left_out:
            short = title.removesuffix(" (thin)")
            yield Check(f"{name}-code", f"thin packages of {short} hold all code, and load", self.code, needs)


def thin(rocm: int, targets: str, left_out: str, *findings: str) -> OfPackages:
    """Return the checks of thin packages, which are made from artifacts that have fat libraries."""
    options = (
        "--repo_env=ROCM_LAYOUT=thin",
        f"--repo_env=ROCM_TARGETS_LEFT_OUT={left_out}",
        f"--repo_env=ROCM_TARGETS={targets}",
    )
    return OfPackages(Packages(f"thin-rocm{rocm}", rocm, "family", options, tuple(left_out.split(",")), findings))


#: ROCm 5.7 in one layout alone, thin: it has bundles of an older clang, another HIP, a GPU target that one library
#: alone has code for, and no bundler in its compiler. What a layout is, ROCm 7 shows.
THIN5 = thin(5, "gfx1010,gfx1030,gfx1100,gfx1101,gfx1102,gfx803,gfx900,gfx906,gfx908,gfx90a", "gfx1011")
#: Packages for five targets of fifteen, one of each generation, so that it takes half the time. gfx950 could not have
#: one: it lacks what nearly all others have.
THIN7 = thin(
    7,
    "gfx1030,gfx1100,gfx1201,gfx90a,gfx942",
    "gfx1010,gfx1101,gfx1102,gfx1151,gfx1200,gfx803,gfx900,gfx906,gfx908,gfx950",
    "small7",
)
KPACK7 = OfPackages(
    Packages("kpack", 7, str(Path(os.environ.get("ROCM_KPACK_ARTIFACTS", "")).absolute()), findings=("gfx950", "kpack"))
)
FAMILY7 = OfPackages(Packages("family", 7, "family", findings=("small7",)))
#: What AMD releases.
SPLIT7 = OfPackages(Packages("split", 7, "split", findings=("small7", "gfx950")))


def hip_wheel(machine: Machine) -> None:
    """Compile an extension with ROCm's packages, and install it beside them."""
    given = ("--dist", machine.build(SPLIT7.packages), "--root", machine.sid, "--uv", machine.programs / "bin/uv")
    machine.module("hip.tests.e2e.wheel", *given)
