"""The .dist-info directory says what it must, and the same as the wheel's name.

PyPA, "Core metadata specifications" (through `packaging.metadata`, strictly), "Entry points specification"; PEP 639.
"""

import re
from collections.abc import Iterator
from typing import Final

from packaging.utils import canonicalize_name
from packaging.version import Version

from lib.wheel.entry_points import read_entry_points
from wheels.verify.finding import Finding, Rule, Severity
from wheels.verify.model import MODULE, Wheel
from wheels.verify.settings import Settings
from wheels.verify.wheel import parse_metadata

DIST_INFO = Rule(
    "W301",
    "no .dist-info directory, several, or one of another name",
    why="It must be {name}-{version}.dist-info, as in the wheel's own name (PEP 427).",
    remedy="Let the build tool name the wheel.",
)
INVALID = Rule(
    "W302",
    "METADATA is missing or not valid",
    why="Installers may refuse it, or read it in different ways; the package index refuses it where it is new.",
    remedy="Correct the field named; the specification is PyPA's Core Metadata.",
)
#: How `packaging` says that a field is newer than METADATA's version. Installers read it, and PyPI serves it:
#: setuptools wrote License-File for years before metadata 2.4 had it.
_EARLY: Final = re.compile(r"[\w-]+ introduced in metadata version ")
NAME = Rule(
    "W303",
    "METADATA has another name or version than the wheel",
    why="Installers compare them and refuse the wheel.",
    remedy="Let the build tool name the wheel.",
)
LICENSE_FILE = Rule(
    "W307",
    "a licence file that METADATA names is not there",
    why="License-File is a path below .dist-info/licenses (PEP 639), or below .dist-info before metadata 2.4.",
    remedy="Package the licence, or drop the field.",
)
ENTRY_POINTS = Rule(
    "W308",
    "entry_points.txt is not valid",
    why="Installers make the scripts from it; a line that they cannot read ends the installation.",
    remedy="Write name = module:object below a group's name; each module must be importable. "
    "A name in console_scripts of sdk_wheel has no dot.",
)
DESCRIPTION = Rule(
    "W309",
    "no description, or none that an index can show",
    severity=Severity.NOTE,
    why="The index shows it to people who look for the package.",
    remedy="Give Description and Description-Content-Type: text/markdown, text/x-rst or text/plain.",
)
ABSENT_MODULE = Rule(
    "W310",
    "an entry point of a module that does not exist",
    why="The command is installed, and ends with ModuleNotFoundError; a plugin cannot be loaded.",
    remedy="Correct the name, or package the module.",
)


def check(wheel: Wheel, settings: Settings) -> Iterator[Finding]:
    """Look at the .dist-info directory."""
    del settings
    if not wheel.files:
        return
    if wheel.dist_info is None:
        found = sorted({path.partition("/")[0] for path in wheel.files if ".dist-info/" in path})
        yield DIST_INFO.finding(wheel.filename, "", f"expected one, found {', '.join(found) or 'none'}")
        return
    yield from _dist_info_name(wheel, wheel.dist_info)
    yield from _metadata(wheel)
    yield from _entry_points(wheel)


def _dist_info_name(wheel: Wheel, name: str) -> Iterator[Finding]:
    stem = "-".join(wheel.filename.split("-")[:2])
    if wheel.name is not None and name != f"{stem}.dist-info":
        project, _, version = name.removesuffix(".dist-info").partition("-")
        try:
            same = canonicalize_name(project) == wheel.name and Version(version) == wheel.version
        except ValueError:  # InvalidVersion, or too many digits for Python.
            same = False
        if not same:
            yield DIST_INFO.finding(wheel.filename, name, f"expected {stem}.dist-info")


def _metadata(wheel: Wheel) -> Iterator[Finding]:
    path = f"{wheel.dist_info}/METADATA"
    content = wheel.text("METADATA")
    if content is None:
        yield INVALID.finding(wheel.filename, path, "there is none that can be read")
        return
    metadata = parse_metadata(content)
    if isinstance(metadata, list):
        for problem in metadata:
            if not _EARLY.match(problem):
                yield INVALID.finding(wheel.filename, path, problem)
        return
    if wheel.name is not None and canonicalize_name(metadata.name) != wheel.name:
        yield NAME.finding(wheel.filename, path, f"Name is {metadata.name!r}, the wheel is {wheel.name!r}")
    if wheel.version is not None and metadata.version != wheel.version:
        yield NAME.finding(wheel.filename, path, f"Version is {metadata.version}, the wheel's is {wheel.version}")
    for file in metadata.license_files or ():
        places = [f"{wheel.dist_info}/licenses/{file}", f"{wheel.dist_info}/{file}"]
        if not any(place in wheel.files for place in places):
            yield LICENSE_FILE.finding(wheel.filename, path, f"License-File is {file!r}; expected {places[0]}")
    if not (metadata.description or "").strip():
        yield DESCRIPTION.finding(wheel.filename, path, "there is no description")
    elif not metadata.description_content_type:
        yield DESCRIPTION.finding(wheel.filename, path, "Description-Content-Type is missing")


def _entry_points(wheel: Wheel) -> Iterator[Finding]:
    path = f"{wheel.dist_info}/entry_points.txt"
    content = wheel.text("entry_points.txt")
    if content is None:
        return
    try:
        found = read_entry_points(content)
    except ValueError as error:
        yield ENTRY_POINTS.finding(wheel.filename, path, str(error))
        return
    for one in found:
        what = f"[{one.group}] {one.name} is {one.reference!r}"
        if not one.module or (one.is_script and not one.attribute):
            yield ENTRY_POINTS.finding(wheel.filename, path, f"{what}; expected module:object")
        elif _is_absent(wheel, one.module):
            yield ABSENT_MODULE.finding(wheel.filename, path, f"{what}; no {one.module}")


def _is_absent(wheel: Wheel, module: str) -> bool:
    """Whether a module should be in a wheel, and is not. A package without any file here may be in another wheel."""
    top = module.partition(".")[0]
    if not any((wheel.installed(path) or "").startswith((f"{top}/", f"{top}.")) for path in wheel.files):
        return not (wheel.metadata and wheel.metadata.requires_dist)
    return not _has_module(wheel, module)


def _has_module(wheel: Wheel, module: str) -> bool:
    """Whether a wheel has a module, or a package with files."""
    place = module.replace(".", "/")
    installed = (wheel.installed(path) or "" for path in wheel.files)
    return any(path.startswith(f"{place}/") or MODULE.sub("", path) == place for path in installed)
