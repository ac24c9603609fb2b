"""The checks of `rocm-sdk test`.

`list_checks` names them all for what is installed; each is a function that returns a remark, or raises FailureError or
SkipError. Libraries are loaded in processes of their own, so that one cannot hide what another lacks.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from configparser import ConfigParser
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from .devel.layout import ARCHIVE_NAMES
from .distributions import Distributions, load_distributions, load_selection
from .installation import InstalledPackage, installed_packages
from .libraries import LIBRARIES, find_libraries, find_role
from .record import Row, read_record

# Where a library that others link against can lie, in the trees of core and libraries.
LIBRARY_DIRECTORIES = ("lib", "lib/rocm_sysdeps/lib", "lib/host-math/lib", "lib/llvm/lib")
SCRIPTS_FILE = "console_scripts.json"
LOAD_TIMEOUT_SECONDS = 300
ELF_MAGIC = b"\x7fELF"


class FailureError(Exception):
    """The check found what should not be; the text says what and what to do."""


class SkipError(Exception):
    """The check does not apply to this installation; the text says why."""


@dataclass(frozen=True)
class Check:
    """A named check; `run` returns a remark, which may be empty."""

    name: str
    run: Callable[[], str]


def list_checks() -> Iterator[Check]:
    """Name every check that applies, in a fixed order."""
    known = load_distributions()
    packages = dict(sorted(installed_packages(known).items()))
    yield Check("packages", partial(check_packages, known, packages))
    yield Check("target", partial(check_target, known, packages))
    for name, package in packages.items():
        yield Check(f"record:{name}", partial(check_record, package))
    for role in ("core", "libraries"):
        found = find_role(role, known)
        if found:
            for path in list_libraries(found.tree):
                yield Check(f"library:{path.relative_to(found.site)}", partial(check_library, path))
    yield Check("preload", partial(check_preload, known))
    for package in packages.values():
        for script, tool in list_scripts(package):
            yield Check(f"script:{script}", partial(check_script, package, script, tool))
    yield Check("devel", partial(check_devel, known, packages))


def check_packages(known: Distributions, packages: dict[str, InstalledPackage]) -> str:
    """Check that core is there, and all packages are of one version and in one directory."""
    core = known.packages["core"].distribution
    if core not in packages:
        raise FailureError(f"{core} is not installed. Install it: pip install {core}=={known.version}")
    wrong = [f"{name} {package.version}" for name, package in packages.items() if package.version != known.version]
    if wrong:
        raise FailureError(f"rocm is {known.version}, but found {', '.join(wrong)}. Install one version of all.")
    sites = sorted({str(package.site) for package in packages.values()})
    if len(sites) > 1:
        raise FailureError(f"packages must share one directory to find each other, but are in {', '.join(sites)}")
    # The devel package's tree is made on first need.
    wanted = [package.tree for package in packages.values() if package.names != known.packages["devel"]]
    missing = [str(tree) for tree in wanted if not tree.is_dir()]
    if missing:
        raise FailureError(f"missing: {', '.join(missing)}. Reinstall the package.")
    return ", ".join(packages)


def check_target(known: Distributions, packages: dict[str, InstalledPackage]) -> str:
    """Check that the target chosen at installation, perhaps on another machine (installers cache), is still right.

    It need not be if the package for the right one is installed as well.
    """
    from .detect import detect_gpus
    from .targets import select_target

    if not known.targets:
        raise SkipError("this version has no package per GPU target")
    recorded = str((load_selection() or {}).get("target", known.default_target))
    now = select_target(known.targets, known.default_target, os.environ, detect_gpus())
    wanted = known.target_packages()[now.target].distribution
    if now.source != "default" and now.target != recorded and wanted not in packages:
        raise FailureError(
            f"rocm was installed for {recorded}, but here {now.reason}. Install it again, with the extras you use: "
            f'pip install --force-reinstall --no-deps --no-cache-dir "rocm=={known.version}"'
        )
    return recorded


def check_record(package: InstalledPackage) -> str:
    """Check that every file that RECORD lists is there, in the size that it gives."""
    # Caches may be removed at any time, and the archive once the development tree is made.
    rows = [row for row in read_record(package.record) if not row.path.endswith((".pyc", *ARCHIVE_NAMES))]
    bad = [row.path for row in rows if not _is_as_recorded(package.site, row)]
    if bad:
        raise FailureError(
            f"{len(bad)} of {len(rows)} files are missing or of another size, {bad[0]} for one. Reinstall it: "
            f"pip install --force-reinstall --no-deps {package.names.distribution}=={package.version}"
        )
    return f"{len(rows)} files"


def _is_as_recorded(site: Path, row: Row) -> bool:
    path = site / row.path
    if not row.size:
        return path.exists()
    return path.is_file() and path.stat().st_size == int(row.size)


def list_libraries(tree: Path) -> list[Path]:
    """Return the shared libraries of a package's tree, those in the directories where libraries are looked for."""
    found = [path for below in LIBRARY_DIRECTORIES for path in sorted((tree / below).glob("*.so*"))]
    return [path for path in found if path.is_file() and _is_elf(path)]


def _is_elf(path: Path) -> bool:
    with open(path, "rb") as stream:
        return stream.read(len(ELF_MAGIC)) == ELF_MAGIC


def check_library(path: Path) -> str:
    """Check that the library loads, with nothing loaded before it and without LD_LIBRARY_PATH."""
    _run_python("import ctypes, sys; ctypes.CDLL(sys.argv[1])", str(path))
    return ""


def check_preload(known: Distributions) -> str:
    """Check that all public libraries that are installed can be preloaded into one process."""
    installed = [name for name, library in LIBRARIES.items() if find_role(library.package, known) and _is_found(name)]
    if not installed:
        raise SkipError("no public library is installed")
    _run_python("import rocm_sdk, sys; rocm_sdk.preload_libraries(*sys.argv[1:])", *installed)
    return ", ".join(installed)


def _is_found(shortname: str) -> bool:
    try:
        return bool(find_libraries(shortname))
    except FileNotFoundError:
        return False


def _run_python(code: str, *arguments: str) -> None:
    """Run a line of Python in a process of its own; raises FailureError with its last words if it fails."""
    environment = {name: value for name, value in os.environ.items() if name != "LD_LIBRARY_PATH"}
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env=environment,
        timeout=LOAD_TIMEOUT_SECONDS,
        check=False,
    )
    if done.returncode:
        words = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise FailureError(words[-1] if words else f"the process ended with status {done.returncode}")


def list_scripts(package: InstalledPackage) -> list[tuple[str, str]]:
    """Return the console scripts of a package's metadata with the tool that each runs, relative to its tree or ''."""
    entry_points = ConfigParser(delimiters=("=",), interpolation=None)
    entry_points.optionxform = str  # type: ignore[assignment,method-assign]
    entry_points.read(package.dist_info / "entry_points.txt", encoding="utf-8")
    scripts = list(entry_points["console_scripts"]) if entry_points.has_section("console_scripts") else []
    table = package.site / package.names.import_name / SCRIPTS_FILE
    tools = json.loads(table.read_text("utf-8")) if package.names.import_name and table.is_file() else []
    paths = {tool["script"]: str(tool["path"]) for tool in tools}
    return [(script, paths.get(script, "")) for script in sorted(scripts)]


def check_script(package: InstalledPackage, script: str, tool: str) -> str:
    """Check that the script and the tool that it runs are there and can be executed."""
    rows = [row.path for row in read_record(package.record) if row.path.rpartition("/")[2] == script]
    files = [package.site / path for path in rows if not path.startswith(package.names.tree + "/")]
    if not files:
        raise FailureError(f"RECORD lists no script {script}. Reinstall {package.names.distribution}.")
    wanted = files + ([package.tree / tool] if tool else [])
    bad = [str(path) for path in wanted if not os.access(path, os.X_OK)]
    if bad:
        raise FailureError(f"missing or not executable: {', '.join(bad)}. Reinstall {package.names.distribution}.")
    return tool


def check_devel(known: Distributions, packages: dict[str, InstalledPackage]) -> str:
    """Check that the development tree is whole, its links lead to the installed files, and RECORD lists it all."""
    if known.packages["devel"].distribution not in packages:
        raise SkipError("not installed")
    from .devel.inspect import find_faults

    faults = find_faults()
    if faults:
        raise FailureError(f"{len(faults)} faults: {'; '.join(faults[:5])}. Run `rocm-sdk init`, or reinstall it.")
    return ""
