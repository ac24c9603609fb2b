"""Packages DLLs that nobody here compiled: MKL with what it needs, and a DLL with HIP code.

    python3 -m tests.e2e.windows.real DIRECTORY

It fetches Intel's wheels and bitsandbytes', lays their DLLs out as artifacts, and builds the project `real_sdk` beside
this file, which is copied out of this workspace. `DIRECTORY/dist` then has the wheels, `DIRECTORY/fetched` what the
tests under wine take besides: CPython and its installers. `.ci/run windows-real` calls this and `real_test.py`.
"""

import shutil
import sys
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from develop.ci.machine import locked
from tests.e2e.testing.builds import copy_out, remove_output_base
from tests.e2e.windows.corpus_wheels import WHEELS
from tests.e2e.windows.machine import fetch, fetch_wheels

PROJECT = Path(__file__).with_name("real_sdk")


@dataclass(frozen=True)
class Source:
    """What an artifact is made from."""

    wheel: str
    #: Libraries of the wheel; `*` stands for any part of a name.
    libraries: tuple[str, ...]
    #: Those that are left out, because of what they need.
    left_out: tuple[str, ...] = ()


#: By artifact. MKL's parts for two MPIs need those. No processor has AVX10 that wine tells of.
SOURCES = {
    "bitsandbytes": Source("bitsandbytes", ("libbitsandbytes_rocm72.dll",)),
    "mkl": Source("mkl", ("*.dll",), ("mkl_blacs_intelmpi_*", "mkl_blacs_msmpi_*", "mkl_avx10*", "mkl_vml_avx10*")),
    "openmp": Source("intel_openmp", ("libiomp5md.dll",)),
    "tbb": Source("tbb", ("*.dll",)),
    "tcm": Source("tcmlib", ("libhwloc-15.dll", "tcm.dll")),
    "umf": Source("umf", ("umf.dll",)),
}
#: Bazel prints errors, and what it was asked for.
QUIET = ("--ui_event_filters=-info", "--noshow_progress")
#: Projects of the corpus that are fetched.
PROJECTS = ("bitsandbytes", "intel-openmp", "mkl", "tbb", "tcmlib", "umf")


def fetch_projects(directory: Path) -> Path:
    """Fetch the wheels, unless they are there; return their directory."""
    lock, wheels = directory / "wheels.txt", directory / "wheels"
    lock.write_text(locked(PROJECTS, WHEELS.read_text(encoding="utf-8")), encoding="utf-8")
    fetch_wheels(lock, wheels)
    return wheels


def lay_out(wheels: Path, artifacts: Path, sources: Mapping[str, Source]) -> None:
    """Make artifacts of wheels: DLLs in `bin`, others in `lib`, licence texts in `share/licenses`."""
    shutil.rmtree(artifacts, ignore_errors=True)
    for name, source in sources.items():
        artifact = artifacts / f"{name}_lib_generic"
        (wheel,) = wheels.glob(f"{source.wheel}-*.whl")
        with zipfile.ZipFile(wheel) as archive:
            for member in archive.namelist():
                file, stage = Path(member), artifact / "stage"
                is_wanted = any(map(file.match, source.libraries)) and not any(map(file.match, source.left_out))
                if is_wanted:
                    target = stage / ("bin" if file.suffix == ".dll" else "lib") / file.name
                elif ".dist-info/" in member and file.name.upper().startswith("LICENSE"):
                    target = stage / "share/licenses" / name / file.name
                else:
                    continue
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(archive.read(member))
        (artifact / "artifact_manifest.txt").write_text("stage\n")


def build(directory: Path) -> None:
    """Build the project's wheels into `dist`, and the table of device code into `coverage.json`."""
    project = directory / "project"
    shutil.rmtree(project, ignore_errors=True)
    output_base = directory / "output_base"
    workspace = copy_out(PROJECT, project, output_base)
    options = (f"--repo_env=REAL_ARTIFACTS={directory / 'artifacts'}", *QUIET)
    try:
        result = workspace.run("build", *options, "//:dist", "//:coverage")
        print(result.stdout)
        if result.returncode:
            sys.exit("the packages were not built")
        shutil.rmtree(directory / "dist", ignore_errors=True)
        shutil.copytree(project / "bazel-bin/dist", directory / "dist")
        files = workspace.run("cquery", "--output=files", *options, "//:coverage").stdout.split()
        (table,) = (name for name in files if name.endswith("/coverage.json"))
        shutil.copyfile(project / table, directory / "coverage.json")
    finally:
        workspace.run("shutdown")
        remove_output_base(output_base)


def main() -> None:
    """Fetch, lay out and build."""
    directory = Path(sys.argv[1]).absolute()
    directory.mkdir(parents=True, exist_ok=True)
    wheels = fetch_projects(directory)
    fetch(directory / "fetched")
    lay_out(wheels, directory / "artifacts", SOURCES)
    build(directory)


if __name__ == "__main__":
    main()
