"""Splits wheels from PyPI with device code, and compares the results with the originals: code, files, installations.

    python3 -m tests.e2e.split.wheels [--wheels DIR] [PROJECT…]

`.ci/run split-wheels` does that with what wheels.txt locks, in an environment that `environment.py` makes.

Run it from the top of the workspace, in an environment with pip, uv, delvewheel, packaging and pyelftools, and with the
libraries of CONTRIBUTING.md ("Tests without Bazel"). It needs clang-offload-bundler of LLVM 21 or newer (Debian:
clang-tools), as older ones cannot read all of these wheels. pip fetches the wheels, into `--wheels` if that is given.
The program prints a table of sizes.

Each code object that a thin wheel must have is compared with the fat one's, as `lib.device` and
clang-offload-bundler read it; every other file must be equal, and verify may find no other errors. pip and uv
install both, `pip check` must agree, and modules must be imported, or fail to be, alike.
"""

import argparse
import hashlib
import os
import re
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from lib.common.program import size_text
from tests.e2e.testing.commands import attempt, run
from tests.e2e.thin.bundler import bundler, raw_bundles, take_apart
from tests.e2e.thin.code import Bundle, Code, held, kept, loadable, same
from wheels.common.copying import MADE
from wheels.common.sound_wheel import SoundWheel, read_sound_wheel
from wheels.split.device_files import Form, Group, device_files, parse_groups
from wheels.verify.engine import Request, verify
from wheels.verify.finding import Severity


@dataclass(frozen=True)
class Project:
    """A wheel of PyPI, and what is made of it."""

    requirement: str
    #: Empty for a wheel without device code that can be split: it must be refused.
    targets: str
    modules: tuple[str, ...]
    #: What is installed beside it, so that imports get further. Others need PyTorch, which is too large here.
    beside: tuple[str, ...] = ("numpy",)

    @property
    def name(self) -> str:
        """Return what the command line calls it."""
        return self.requirement.partition("==")[0]


#: The versions of November 2026.
PROJECTS = (
    Project("comfy-kitchen==0.2.40", "gfx1100,gfx1201", ("comfy_kitchen",)),
    Project("torch-scatter-rocm==2.1.2.post7", "gfx1100,gfx942", ("torch_scatter",)),
    Project("bitsandbytes==0.50.2", "gfx1100,gfx942", ("bitsandbytes",)),
    Project("onnxruntime-rocm==1.22.2.post3", "gfx1100,gfx942", ("onnxruntime",)),
    Project("cupy-rocm-7-0==14.2.0", "gfx1100,gfx942", ("cupy", "cupyx")),
    Project("jax-rocm7-pjrt==0.12.0", "gfx1100,gfx942", ("jax_plugins.xla_rocm7",)),
    Project("amd-aiter==0.1.7.post2.dev18", "gfx942,gfx950", ("aiter",)),
    Project("openmm-hip-7==8.6.1", "", ()),
    Project("flydsl==0.5.0", "", ()),
)


def fetch(project: Project, folder: Path) -> Path:
    """Fetch a wheel for this interpreter, unless it is there."""
    name = re.split("==", project.requirement)[0].replace("-", "_")
    if not list(folder.glob(f"{name}-*.whl")):
        run(
            sys.executable,
            "-m",
            "pip",
            "download",
            "-q",
            "--no-deps",
            "-d",
            folder,
            project.requirement,
            **environment(),
        )
    [path] = folder.glob(f"{name}-*.whl")
    return path


def environment() -> dict[str, str]:
    """Return what pip and uv need of the environment: where packages come from."""
    prefixes = ("PIP_", "UV_", "SSL_", "REQUESTS_")
    return {name: value for name, value in os.environ.items() if name.startswith(prefixes) or name == "PATH"}


def split(fat: Path, project: Project, output: Path) -> tuple[int, str]:
    """Run the command; returns its exit status, and what it said."""
    targets = project.targets or "gfx1100"
    command = (sys.executable, "-B", "-m", "wheels", "split", fat, f"--targets={targets}")
    done = attempt(*command, f"--output={output}", **environment())
    return done.returncode, done.stdout + done.stderr


def extract(wheel: Path, name: str, to: Path) -> Path:
    """Write a file of a wheel; returns where it is."""
    path = to / hashlib.sha256(name.encode()).hexdigest()
    with zipfile.ZipFile(wheel) as archive, archive.open(name) as file, path.open("wb") as out:
        while data := file.read(1 << 20):
            out.write(data)
    return path


def read(path: Path, group: Group, scratch: Path, program: str) -> list[Bundle]:
    """Read the code objects of a file that a group loads, with both readers. Ends the program unless they agree."""
    ours = [kept(bundle, group.targets) for bundle in held(path).bundles]

    def wanted(entry: str) -> bool:
        return loadable(Code(entry, 0, ""), group.targets)

    same(path.name, ours, [take_apart(data, scratch, program, wanted) for data in raw_bundles(path)])
    return ours


def compare_code(fat: SoundWheel, thin: Path, group: Group, program: str) -> int:
    """Check that the sliced files of a thin wheel have the fat wheel's code objects for the group.

    Returns how many code objects the thin wheel has. Ends the program at a difference.
    """
    count = 0
    names = set(zipfile.ZipFile(thin).namelist())
    for name, device in device_files(fat.wheel).items():
        if not device.is_sliced:
            continue
        if name not in names:
            if device.form is Form.EMBEDDED or device.is_for(group):
                sys.exit(f"{thin.name}: lacks {name}")
            continue
        with tempfile.TemporaryDirectory() as folder:
            scratch = Path(folder)
            old = read(extract(fat.path, name, scratch), group, scratch, program)
            sliced = extract(thin, name, scratch)
            new = read(sliced, group, scratch, program)
            same(f"{thin.name}: {name}", new, held(sliced).bundles)  # There is nothing else in it.
        same(f"{thin.name}: {name}", old, new)
        count += sum(bool(code.size) for bundle in new for code in bundle)
    return count


def compare_files(fat: SoundWheel, thin: Path) -> int:
    """Compare all other files with the fat wheel's; return how many there are. Ends the program at a difference."""
    wheel = read_sound_wheel(thin)
    sliced = {name for name, device in device_files(fat.wheel).items() if device.is_sliced}
    made = {f"{wheel.name.dist_info}/{name}" for name in MADE}
    originals = {wheel.name.path_from(name, fat.name): facts for name, facts in fat.wheel.files.items()}
    if more := errors(thin) - errors(fat.path):
        sys.exit(f"{thin.name}: rocm-wheels verify finds {sorted(more)}, not so in the fat wheel")
    names = sorted(wheel.wheel.files.keys() - made - sliced)
    for name in names:
        if originals[name].sha256 != wheel.wheel.files[name].sha256:
            sys.exit(f"{thin.name}: {name} is not as it was")
    return len(names)


def errors(wheel: Path) -> set[str]:
    """Return the rules of rocm-wheels verify that a wheel breaks by errors."""
    found = verify([wheel], Request(wheel_set=False)).judged.findings
    return {one.id for one in found if one.severity is Severity.ERROR}


@dataclass(frozen=True)
class Installed:
    """Installed wheels: bytes, what `pip check` says, and how imports end."""

    size: int
    check: str
    imports: tuple[str, ...]


def install(wheels: Sequence[Path], modules: Sequence[str], place: Path, *, by_uv: bool = False) -> Installed:
    """Install wheels without what they require into a virtual environment, look at them, and uninstall them."""
    python, before = place / "bin/python", _size(place)
    given = ("--no-deps", "--offline", "--no-cache") if by_uv else ("--no-deps", "--no-index", "--no-compile")
    uv = Path(sys.executable).with_name("uv")
    program = (uv, "pip", "install", "--python", python) if by_uv else (python, "-m", "pip", "install")
    run(*program, "-q", *given, *wheels)
    size = _size(place) - before
    check = attempt(python, "-m", "pip", "check").stdout
    imports = [attempt(python, "-B", "-c", f"import {module}") for module in modules]
    ends = tuple(_end(one.stderr).replace(str(place), "…") for one in imports)
    run(python, "-m", "pip", "uninstall", "-q", "-y", *(one.name.partition("-")[0] for one in wheels))
    if _size(place) != before:
        sys.exit(f"{wheels[0].name}: {_size(place) - before} bytes stay behind when it is uninstalled")
    return Installed(size, re.sub(r"\+gfx\w+", "", check), ends)


def _end(said: str) -> str:
    """Return the line of a traceback that says what was raised; empty if nothing was."""
    lines = said.strip().splitlines()
    return next(
        (line for line in reversed(lines) if re.match(r"[\w.]*(?:Error|Exception)\b", line)), "".join(lines[-1:])
    )


def _size(folder: Path) -> int:
    return sum(path.lstat().st_size for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)


def compare_installed(fat: Path, thin: Sequence[Path], modules: Sequence[str], place: Path) -> tuple[int, int, str]:
    """Install all with pip and uv; returns sizes, fat and thin, and how the first import ends."""
    before = install([fat], modules, place)
    after = [install(thin, modules, place), install(thin, modules, place, by_uv=True)]
    for one in after:
        if (one.check, one.imports) != (before.check, before.imports):
            sys.exit(f"{thin[0].name}: {one}; the fat wheel: {before}")
    return before.size, after[0].size, before.imports[0] or "imported"


def judge(project: Project, fat_path: Path, place: Path, program: str) -> Iterator[str]:
    """Split a wheel and compare; yields rows of the table. `place` is a folder with a virtual environment."""
    output = place / "thin"
    status, said = split(fat_path, project, output)
    if not project.targets:
        if status != 1 or "no device code for AMD GPUs that can be split" not in said or output.exists():
            sys.exit(f"{fat_path.name}: expected to be refused: {said}")
        size = size_text(fat_path.stat().st_size)
        yield f"| {project.requirement} | none | {size} | | | | | |"
        return
    if status:
        sys.exit(said)
    print(said, file=sys.stderr)
    fat = read_sound_wheel(fat_path)
    for group in parse_groups(project.targets):
        thin = list((output / group.label).glob("*.whl"))
        codes = sum(compare_code(fat, one, group, program) for one in thin)
        files = sum(compare_files(fat, one) for one in thin)
        fat_size, thin_size, ended = compare_installed(fat_path, thin, project.modules, place / "venv")
        download = " + ".join(size_text(one.stat().st_size) for one in thin)
        yield (
            f"| {project.requirement} | {group.label} | {size_text(fat_path.stat().st_size)} | {download} | "
            f"{size_text(fat_size)} | {size_text(thin_size)} | {codes}, {files} | {ended[:90]} |"
        )


def main() -> None:
    """Check all projects. Ends the program at the first failure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wheels", type=Path, metavar="DIR", help="where wheels are, or are fetched to and kept")
    parser.add_argument("projects", nargs="*", metavar="PROJECT", help="some of the projects (default: all)")
    arguments = parser.parse_args()
    program = bundler(range(30, 20, -1))
    wanted = [one for one in PROJECTS if not arguments.projects or one.name in arguments.projects]
    for project in wanted:
        with tempfile.TemporaryDirectory() as folder:
            fat = fetch(project, arguments.wheels or Path(folder))
            run(sys.executable, "-m", "venv", Path(folder, "venv"))
            run(Path(folder, "venv/bin/python"), "-m", "pip", "install", "-q", *project.beside, **environment())
            for row in judge(project, fat, Path(folder), program):
                print(row, flush=True)


if __name__ == "__main__":
    main()
