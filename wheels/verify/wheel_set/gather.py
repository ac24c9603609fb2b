"""Makes packages, side by side in one site-packages, of the wheels and sdists that the engine read.

    packages, faults = gather(distributions)
    for together in by_platform(packages): …

What cannot be read of a wheel by itself is a finding of `verify.checks`, and left out here. The collectors take out of
the bytes of files what the checks over a set need; they are called in the process that reads, and what they return is
pickled.
"""

import lzma
import tarfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO, Final

from packaging.metadata import RawMetadata, parse_email
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import InvalidSdistFilename, canonicalize_name, parse_sdist_filename

from lib.common.distributions import FILE_NAME, Distributions, parse_distributions
from lib.elf.reader import is_elf
from lib.wheel.entry_points import read_entry_points
from wheels.verify.model import Collector, DistributionSet, FileFacts, Wheel
from wheels.verify.wheel_set.devel_archive import (
    is_devel_archive,
    is_link_manifest,
    is_own,
    offered_files,
    read_devel_archive,
    read_link_manifest,
    with_links,
)
from wheels.verify.wheel_set.loader import read_linked
from wheels.verify.wheel_set.model import DevelTree, Linked, LinkManifest, Package
from wheels.verify.wheel_set.requirements import MAX_SIZE, is_selector_file, selected_requirements
from wheels.verify.windows import is_for_windows


@dataclass(frozen=True)
class Dependencies:
    """Requirements, and the extras that the distribution offers, normalised."""

    requires: tuple[Requirement, ...] = ()
    external: tuple[str, ...] = ()
    """What the system must have (Requires-External), in this project's wheels SONAMEs of libraries."""
    extras: frozenset[str] = frozenset()


def raw_metadata(content: bytes | None) -> RawMetadata:
    """Return the fields of METADATA or PKG-INFO, without those that cannot be read."""
    try:
        return parse_email(content or b"")[0]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}


def dependencies(content: bytes | None) -> Dependencies:
    """Return the requirements that can be read."""
    raw = raw_metadata(content)
    requires = []
    for text in raw.get("requires_dist", ()):
        with suppress(InvalidRequirement):
            requires.append(Requirement(text))
    extras = frozenset(canonicalize_name(extra) for extra in raw.get("provides_extra", ()))
    return Dependencies(tuple(requires), tuple(raw.get("requires_external", ())), extras)


#: What reading a broken archive raises.
_ERRORS: Final = (
    tarfile.TarError,
    zlib.error,
    lzma.LZMAError,
    OSError,
    EOFError,
    ValueError,
    OverflowError,
    RecursionError,
)
#: More than this of PKG-INFO is damage, in bytes.
_MAX_METADATA: Final = 1 << 24


@dataclass(frozen=True)
class SdistFacts:
    """The texts of an sdist, None where it has none; `damage` says why it cannot be read, else it is empty."""

    metadata: bytes | None = None
    selector: bytes | None = None
    damage: str = ""


def read_sdist(path: Path) -> SdistFacts:
    """Read an sdist (PyPA, "Source distribution format"): PKG-INFO lies in the one directory at its top."""
    metadata = selector = None
    try:
        with tarfile.open(path, "r:*") as tar:
            for info in tar:
                if not info.isreg():
                    continue
                if info.name.count("/") == 1 and info.name.endswith("/PKG-INFO"):
                    metadata = _read_member(tar, info, _MAX_METADATA)
                elif is_selector_file(info.name):
                    selector = _read_member(tar, info, MAX_SIZE)
    except _ERRORS as error:
        return SdistFacts(damage=str(error) or type(error).__name__)
    if metadata is None:
        return SdistFacts(damage="there is no PKG-INFO")
    return SdistFacts(metadata, selector)


def _read_member(tar: tarfile.TarFile, info: tarfile.TarInfo, limit: int) -> bytes:
    file = tar.extractfile(info)
    if file is None or info.size > limit:
        raise ValueError(f"{info.name} has {info.size} bytes; no more than {limit} are expected")
    return file.read()


LINKED: Final = "linked"
DEVEL: Final = "devel"
MANIFEST: Final = "manifest of links"
SELECTOR: Final = "selector"


def wants_linked(path: str, size: int, head: bytes) -> bool:
    """Want programs and libraries: for a `Collector`."""
    return is_elf(head) and size >= 64 and not path.endswith((".o", ".debug"))


def _wants_selector(path: str, size: int, head: bytes) -> bool:
    return is_selector_file(path) and size <= MAX_SIZE


def _read_selector(file: BinaryIO, facts: FileFacts) -> object:
    del facts
    return file.read()


COLLECTORS: Final = (
    Collector(LINKED, wants_linked, inspect=read_linked),
    Collector(DEVEL, is_devel_archive, inspect=read_devel_archive),
    Collector(MANIFEST, is_link_manifest, inspect=read_link_manifest),
    Collector(SELECTOR, _wants_selector, inspect=_read_selector),
)


#: What cannot be understood: file name of the distribution, path in it, and why.
Fault = tuple[str, str, str]


def gather(distributions: DistributionSet) -> tuple[tuple[Package, ...], list[Fault]]:
    """Return all packages, sorted by file name, and what could not be understood."""
    faults: list[Fault] = []
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


def _from_wheel(wheel: Wheel, faults: list[Fault]) -> Package | None:
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
        devel=_devel(files, str(wheel.version)),
        offered=_offered(wheel, files, faults),
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


def _devel(files: dict[str, FileFacts], version: str) -> DevelTree | None:
    trees = (facts.collected.get(DEVEL) for facts in files.values())
    archive = next((tree for tree in trees if isinstance(tree, DevelTree)), None)
    manifest = next((one for one in _manifests(files) if is_own(one)), None)
    if manifest is None:
        return archive
    sizes = {place: facts.size for place, facts in files.items()}
    images = {place: facts.pe for place, facts in files.items() if facts.pe}
    return with_links(manifest, version, archive, sizes, _linked(files), images)


def _manifests(files: dict[str, FileFacts]) -> list[LinkManifest]:
    found = (facts.collected.get(MANIFEST) for facts in files.values())
    return [one for one in found if isinstance(one, LinkManifest)]


def _offered(wheel: Wheel, files: dict[str, FileFacts], faults: list[Fault]) -> dict[str, str]:
    offered: dict[str, str] = {}
    for manifest in _manifests(files):
        if is_own(manifest):
            continue
        if manifest.damage:
            faults.append((wheel.filename, manifest.path, f"its links cannot be read: {manifest.damage}"))
        offered |= offered_files(manifest)
    return offered


def _selector(wheel: Wheel, faults: list[Fault]) -> Distributions | None:
    for path, facts in wheel.files.items():
        text = facts.collected.get(SELECTOR)
        if isinstance(text, bytes):
            return _parsed(wheel.filename, path, text, faults)
    return None


def _parsed(filename: str, path: str, text: bytes, faults: list[Fault]) -> Distributions | None:
    try:
        selector = parse_distributions(text)
        selected_requirements(selector)
    except ValueError as error:
        faults.append((filename, path, f"it does not say which packages there are: {error}"))
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


def _from_sdist(path: Path, faults: list[Fault]) -> Package | None:
    try:
        name, version = parse_sdist_filename(path.name)
    except InvalidSdistFilename as error:
        faults.append((path.name, "", str(error)))
        return None
    facts = read_sdist(path)
    if facts.damage:
        faults.append((path.name, "", f"the sdist cannot be read: {facts.damage}"))
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
