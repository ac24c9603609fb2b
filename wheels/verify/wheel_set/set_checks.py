"""S101 to S177: what lies between the distributions of a set, as they are installed together in one site-packages.

A launcher, which replaces a link, has to find its program. A wheel has to come under a licence.

Of several distributions of one name one is installed. What each package is sure to have beside it is what it requires;
see `wheels.verify.wheel_set.closure`.
"""

import posixpath
from collections.abc import Iterator, Mapping, Sequence
from typing import BinaryIO, Final

from lib.elf.reader import is_elf
from lib.elf.source import ElfError, Source
from lib.pack.stand_ins import PE_SECTION, SECTION
from lib.pe.reader import is_pe
from wheels.verify.device.device_checks import check_device_code
from wheels.verify.finding import Finding, Rule, Severity
from wheels.verify.model import Collector, DistributionSet, FileFacts, Wheel
from wheels.verify.settings import Settings
from wheels.verify.wheel_set import devel, importing, linking, owners, requirements
from wheels.verify.wheel_set.closure import by_name, closure, meant_for
from wheels.verify.wheel_set.gather import by_platform, gather, raw_metadata
from wheels.verify.wheel_set.loader import inside, install
from wheels.verify.wheel_set.model import Package

UNLICENSED = Rule(
    "S161",
    "a wheel without a licence",
    severity=Severity.WARNING,
    why="Nobody may use or pass on what comes without a licence, and most licences ask that their text goes along.",
    remedy="Give License-Expression and License-File.",
)


def check_licences(wheel: Wheel, settings: Settings) -> Iterator[Finding]:
    """Check one wheel: an expression (License, or a classifier, in old metadata) and a text (PEP 639)."""
    del settings
    content = wheel.text("METADATA")
    if content is None:
        return  # W302 says so.
    raw = raw_metadata(content)
    classified = any(one.startswith("License ::") for one in raw.get("classifiers", ()))
    if not (raw.get("license_expression") or raw.get("license") or classified):
        yield UNLICENSED.finding(wheel.filename, "", "has no License-Expression")
    # Whether the text of a License-File is there, W307 says.
    elif not (raw.get("license_files") or any(_is_licence(wheel, path) for path in wheel.files)):
        yield UNLICENSED.finding(wheel.filename, "", "has no licence text (License-File)")


def _is_licence(wheel: Wheel, path: str) -> bool:
    named = path.rpartition("/")[2].upper().startswith(("LICENSE", "LICENCE", "COPYING", "NOTICE"))
    return named and path.startswith(f"{wheel.dist_info}/")


STARTS_NOTHING = Rule(
    "S124",
    "a launcher starts nothing that can be executed",
    why="Users who call the program get an error of the launcher.",
    remedy="Package the program that the link leads to, with mode 0755, in this package or a package that it requires.",
)
LAUNCHER: Final = "launcher"
#: No launcher is bigger, in bytes.
_MAX_SIZE: Final = 1 << 16
_EXECUTABLE: Final = 0o111


def _wants_launcher(path: str, size: int, head: bytes) -> bool:
    return (is_elf(head) or is_pe(head)) and size <= _MAX_SIZE


def read_target(file: BinaryIO, facts: FileFacts) -> str | None:
    """Return the path that a launcher executes, relative to its own directory; None for any other file."""
    if facts.pe is not None:
        images = [one for one in facts.pe.sections if one.name == PE_SECTION and one.pointer_to_raw_data]
        places = [(one.begin, min(one.size_of_raw_data, one.size_in_memory)) for one in images]
    else:
        sections = facts.elf.section_headers if facts.elf else ()
        places = [(one.offset, one.size) for one in sections if one.name == SECTION]
    try:
        data = Source(file, facts.path).read(*places[0], SECTION) if places else None
    except ElfError:
        return None  # W401 and W421 say so.
    return None if data is None else data.partition(b"\0")[0].decode("utf-8", "backslashreplace")


def check_launchers(packages: Sequence[Package], names: Mapping[str, Sequence[Package]]) -> Iterator[Finding]:
    """Check the launchers of each package against what is installed with it."""
    for package in packages:
        launchers = {
            path: facts.collected.get(LAUNCHER)
            for path, facts in package.files.items()
            if package.is_windows or facts.pe is None
        }
        there = {path: facts for one in closure(package, names) for path, facts in one.files.items()}
        for path, target in sorted((path, target) for path, target in launchers.items() if isinstance(target, str)):
            started = inside(posixpath.join(posixpath.dirname(path), target)) if target else None
            facts = there.get(started) if started else None
            if facts is None:
                evidence = f"starts {target!r}, and no package that is installed with it has {started}"
                yield STARTS_NOTHING.finding(package.filename, path, evidence)
            elif facts.mode and not facts.mode & _EXECUTABLE and not package.is_windows:
                evidence = f"starts {started}, whose mode is {facts.mode & 0o7777:04o}"
                yield STARTS_NOTHING.finding(package.filename, path, evidence)


LAUNCHERS: Final = Collector(LAUNCHER, _wants_launcher, inspect=read_target)


def check_set(distributions: DistributionSet, settings: Settings) -> Iterator[Finding]:
    """Look at all distributions together."""
    packages, faults = gather(distributions)
    for filename, path, why in faults:
        yield requirements.UNREADABLE.finding(filename, path, why)
    # What is for any platform is looked at with each: what is found twice is one finding.
    groups = list(by_platform(packages))
    yield from dict.fromkeys(finding for together in groups for finding in _check_together(together, settings))
    yield from check_device_code(groups, distributions.target)


def _check_together(packages: Sequence[Package], settings: Settings) -> Iterator[Finding]:
    names = by_name(packages)
    selectors = [package.selector for package in packages if package.selector]
    yield from linking.check_linking(packages, names, settings)
    yield from owners.check_owners(packages)
    yield from owners.check_libraries(packages)
    if any(package.is_windows for package in packages):
        yield from owners.check_dlls(packages)
        yield from importing.check_importing(packages, names, settings)
    yield from check_launchers(packages, names)
    meant = meant_for(packages)
    yield from requirements.check_requirements(meant, names, settings)
    yield from requirements.check_selection(meant, names, settings)
    yield from linking.check_opening(packages, settings)
    whole = install(packages)
    for package in packages:
        yield from devel.check_devel(package, selectors[0] if selectors else None, whole)
