"""Checks of the packages: versions and places, whether their files are there, whether the compiler starts."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from ..errors import DevelError
from ..installation import InstalledPackage, install, is_same_release, list_dist_infos, reinstall, uninstall
from ..selfcheck import FailureError, SkipError
from ..selfcheck.packages import find_changed, lasting_rows
from ..selfcheck.scripts import ask, find_script, list_scripts
from . import Finding, how_many
from .facts import Facts

#: The program that is started, and what it is asked: it starts clang for that. On a machine with CUDA, it may ask nvcc.
COMPILER = "hipcc"
QUESTION = "--version"
PLATFORM = {"HIP_PLATFORM": "amd"}


def missing_core(facts: Facts) -> Iterator[Finding]:
    """Find out whether there is anything installed but `rocm`."""
    core = facts.known.packages["core"].distribution
    if core not in facts.packages and core not in facts.remnants:
        remedy = install(f"{core}=={facts.known.version}", facts.installer)
        yield Finding("core", "problem", f"{core} is not installed", remedy)


def half_removed(facts: Facts) -> Iterator[Finding]:
    """Find packages of which the metadata is there, but not the Python code: installers take them for installed."""
    for name, package in sorted(facts.remnants.items()):
        missing = package.site / package.names.import_name
        text = f"{name} is half removed: {package.dist_info} is there, but not {missing}"
        yield Finding("files", "problem", text, reinstall(package))


def changed_files(facts: Facts) -> Iterator[Finding]:
    """Find packages with files that are missing or have another size. `development_tree` checks links."""
    own = [facts.own] if facts.own else []
    for package in [*own, *facts.packages.values()]:
        if not package.record.is_file():
            continue  # The files are another package manager's.
        rows = [row for row in lasting_rows(package) if row.digest]
        faults = find_changed(package, rows, quick=True)
        if faults:
            text = f"{package.names.distribution}: in {package.site}, {faults[0]}{how_many(faults)}"
            yield Finding("files", "problem", text, reinstall(package))


def scattered(facts: Facts) -> Iterator[Finding]:
    """Find packages that are not beside each other: their files' search paths lead from one to the next."""
    places: dict[Path, list[str]] = {}
    for name, package in sorted(facts.packages.items()):
        places.setdefault(package.site, []).append(name)
    if len(places) > 1:
        text = "; ".join(f"{', '.join(names)} in {site}" for site, names in sorted(places.items()))
        remedy = "Install all into one environment."
        yield Finding("places", "problem", f"the packages are in several directories: {text}", remedy)


def version_skew(facts: Facts) -> Iterator[Finding]:
    """Find packages of ROCm beside `rocm` that are of another version, or of a build of another layout."""
    known = facts.known
    ours = {names.distribution for names in (*known.packages.values(), *known.target_packages().values())}
    normal = {name.lower() for name in ours}
    for site in facts.sites:
        for name, dist_info in sorted(list_dist_infos(site, known).items()):
            if not (name.startswith("rocm-sdk-") or name in ("rocm", "rocm-profiler")):
                continue
            version = InstalledPackage(known.packages["core"], site, dist_info).version
            if not is_same_release(version, known.version):
                text = f"rocm is {known.version}, but {name} is {version} (in {site})"
                yield Finding("versions", "problem", text, install(f"{name}=={known.version}", facts.installer))
            elif name not in normal and name != "rocm":
                text = f"{name} is not among the packages of rocm {known.version}"
                yield Finding("versions", "warning", text, uninstall(name, facts.installer))


def compiler(facts: Facts) -> Iterator[Finding]:
    """Find out whether `hipcc` starts. If it would have to make the development tree first, it is not started."""
    core = facts.packages.get(facts.known.packages["core"].distribution)
    if core is None or (facts.layout is not None and not facts.layout.is_ready):
        return
    for script, tool in list_scripts(core):
        if script == COMPILER:
            try:
                ask(find_script(core, script, tool), core.names.distribution, QUESTION, strict=True, **PLATFORM)
            except SkipError:
                return
            except FailureError as failure:
                remedy = "`rocm-sdk test -k script:` shows all programs that do not start."
                yield Finding("compiler", "problem", str(failure), remedy)


REMEDY = "rocm-sdk init"


def development_tree(facts: Facts) -> Iterator[Finding]:
    """Find out whether the tree has all its links, or they can be made when it is needed."""
    layout = facts.layout
    if layout is None:
        return
    try:
        layout.check()
        faults = layout.faults()
    except DevelError as error:
        yield Finding("devel", "problem", str(error))
        return
    places = (layout.devel.site, layout.devel.dist_info)
    unwritable = next((path for path in places if not os.access(path, os.W_OK)), None)
    if faults and unwritable:
        text = f"in the development tree, {faults[0]}{how_many(faults)}, and this user cannot write to {unwritable}"
        remedy = f"Run `{REMEDY}` as a user who can, for example in the layer of an image that installs"
        yield Finding("devel", "problem", text, remedy)
    elif faults and layout.tree.was_finished:
        yield Finding("devel", "problem", f"in the development tree, {faults[0]}{how_many(faults)}", REMEDY)
