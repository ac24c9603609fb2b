"""Makes packages, side by side in one site-packages, of the wheels and sdists that the engine read.

    packages, faults = gather(distributions)
    for together in by_platform(packages): …

What cannot be read of a wheel by itself is a finding of `verify.checks`, and left out here. The collectors take out of
the bytes of files what the checks over a set need; they are called in the process that reads, and what they return is
pickled.
"""

import posixpath
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO, Final

from packaging.utils import InvalidSdistFilename, canonicalize_name, parse_sdist_filename

from lib.common.distributions import FILE_NAME, Distributions, parse_distributions
from lib.elf.reader import is_elf
from lib.elf.source import ElfError
from lib.wheel.entry_points import read_entry_points
from wheels.verify.model import DistributionSet, FileFacts, Wheel
from wheels.verify.suite import Collector
from wheels.verify.wheel_set.core_metadata import dependencies, read_sdist
from wheels.verify.wheel_set.devel_archive import is_devel_archive, read_devel_archive
from wheels.verify.wheel_set.linked import read_linked
from wheels.verify.wheel_set.model import DevelTree, Linked, Package
from wheels.verify.wheel_set.selector import MAX_SIZE, is_selector_file, selected_requirements
from wheels.verify.windows import is_for_windows

LINKED: Final = "linked"
DEVEL: Final = "devel"
SELECTOR: Final = "selector"


def _wants_linked(path: str, size: int, head: bytes) -> bool:
    return is_elf(head) and size >= 64 and not posixpath.basename(path).endswith((".o", ".debug"))


def _read_linked(file: BinaryIO, path: str) -> object:
    try:
        return read_linked(file, path)
    except ElfError:
        return None  # W4xx says so.


def _wants_devel(path: str, size: int, head: bytes) -> bool:
    return is_devel_archive(path)


def _wants_selector(path: str, size: int, head: bytes) -> bool:
    return is_selector_file(path) and size <= MAX_SIZE


def _read_selector(file: BinaryIO, path: str) -> object:
    return file.read()


COLLECTORS: Final = (
    Collector(LINKED, _wants_linked, inspect=_read_linked),
    Collector(DEVEL, _wants_devel, inspect=read_devel_archive),
    Collector(SELECTOR, _wants_selector, inspect=_read_selector),
)


class Faults:
    """What cannot be understood: (file name of the distribution, path in it, why)."""

    def __init__(self) -> None:
        """Know of none."""
        self.found: list[tuple[str, str, str]] = []

    def add(self, filename: str, path: str, why: str) -> None:
        """Add one."""
        self.found.append((filename, path, why))


def gather(distributions: DistributionSet) -> tuple[tuple[Package, ...], Faults]:
    """Return all packages, sorted by file name, and what could not be understood."""
    faults = Faults()
    packages = [_from_wheel(wheel, faults) for wheel in distributions.wheels]
    packages += [_from_sdist(path, faults) for path in distributions.sdists]
    known = (package for package in packages if package is not None)
    return tuple(sorted(known, key=lambda package: package.filename)), faults


def by_platform(packages: Sequence[Package]) -> Iterator[tuple[Package, ...]]:
    """Yield those that can be installed together: what is not for Windows alone, then what is not for others alone.

    What is for any platform is in both. A set with nothing for Windows alone is one.
    """
    for_windows = {package.filename for package in packages if is_for_windows(package.tags)}
    for_any = {one.filename for one in packages if all(tag.platform == "any" for tag in one.tags)}
    if len(for_windows | for_any) < len(packages) or not for_windows:
        yield tuple(_on("linux", one) for one in packages if one.filename not in for_windows)
    if for_windows:
        on_windows = for_windows | for_any
        # Files of Linux are data there.
        selected = (_on("win32", one) for one in packages if one.filename in on_windows)
        yield tuple(replace(one, is_windows=True, linked={}) for one in selected)


def _on(platform: str, package: Package) -> Package:
    """Return a package with what its selector says of one platform."""
    if package.selector is None or not package.selector.platforms:
        return package
    selector = package.selector.on(platform)
    return replace(package, selector=selector) if package.is_wheel else _computed(package, selector)


def _from_wheel(wheel: Wheel, faults: Faults) -> Package | None:
    if wheel.name is None or wheel.version is None:
        return None
    files = {place: facts for path, facts in wheel.files.items() if (place := wheel.installed(path)) is not None}
    known = dependencies(wheel.text("METADATA"))
    return Package(
        filename=wheel.filename,
        name=wheel.name,
        version=wheel.version,
        tags=wheel.tags,
        requires=known.requires,
        external=known.external,
        extras=known.extras,
        files=files,
        elsewhere=_elsewhere(wheel),
        scripts=tuple(sorted({*_entry_points(wheel.text("entry_points.txt")), *_scripts(wheel)})),
        linked=_linked(files),
        devel=_devel(files),
        selector=_selector(wheel, faults),
    )


def _elsewhere(wheel: Wheel) -> dict[str, FileFacts]:
    """Return scripts, data and headers (PyPA, "Binary distribution format", "The .data directory")."""
    parted = ((path.split("/", 2), facts) for path, facts in wheel.files.items() if wheel.installed(path) is None)
    return {f"{{{parts[1]}}}/{parts[2]}": facts for parts, facts in parted if len(parts) == 3}


def _linked(files: dict[str, FileFacts]) -> dict[str, Linked]:
    found = {}
    for place, facts in files.items():
        linked = facts.collected.get(LINKED)
        if isinstance(linked, Linked):
            found[place] = replace(linked, path=place)
    return found


def _devel(files: dict[str, FileFacts]) -> DevelTree | None:
    trees = (facts.collected.get(DEVEL) for facts in files.values())
    return next((tree for tree in trees if isinstance(tree, DevelTree)), None)


def _selector(wheel: Wheel, faults: Faults) -> Distributions | None:
    for path, facts in wheel.files.items():
        text = facts.collected.get(SELECTOR)
        if isinstance(text, bytes):
            return _parsed(wheel.filename, path, text, faults)
    return None


def _parsed(filename: str, path: str, text: bytes, faults: Faults) -> Distributions | None:
    try:
        selector = parse_distributions(text)
        selected_requirements(selector)
    except ValueError as error:
        faults.add(filename, path, f"it does not say which packages there are: {error}")
        return None
    return selector


def _entry_points(content: bytes | None) -> Iterator[str]:
    """Yield the names of the scripts that installers make of entry points (PyPA, "Entry points specification")."""
    try:
        yield from (one.name for one in read_entry_points(content or b"") if one.is_script)
    except ValueError:
        return  # W308 says so.


def _scripts(wheel: Wheel) -> Iterator[str]:
    """Yield the names of the scripts that the wheel brings in its .data directory."""
    for path in wheel.files:
        top, _, rest = path.partition("/")
        if top.endswith(".data") and rest.startswith("scripts/"):
            yield rest.removeprefix("scripts/")


def _from_sdist(path: Path, faults: Faults) -> Package | None:
    try:
        name, version = parse_sdist_filename(path.name)
    except InvalidSdistFilename as error:
        faults.add(path.name, "", str(error))
        return None
    facts = read_sdist(path)
    if facts.damage:
        faults.add(path.name, "", f"the sdist cannot be read: {facts.damage}")
    known = dependencies(facts.metadata)
    package = Package(path.name, name, version, requires=known.requires, extras=known.extras, is_wheel=False)
    if facts.selector is None:
        return package
    selector = _parsed(path.name, FILE_NAME, facts.selector, faults)
    if selector is None:
        return package
    return _computed(package, selector)


def _computed(package: Package, selector: Distributions) -> Package:
    """Return the package with what its build backend can come to require, for whatever target."""
    wanted = selected_requirements(selector)
    requires = [requirement for requirements in wanted.values() for requirement in requirements]
    extras = frozenset(canonicalize_name(extra) for extra in wanted if extra)
    return replace(package, requires=tuple(requires), extras=extras, selector=selector)
