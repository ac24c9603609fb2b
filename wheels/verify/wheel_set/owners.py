"""Checks that each path has one owner.

Installers overwrite without a message, and whoever is uninstalled first takes the file along.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from lib.elf import constants as c
from lib.plan.windows_names import upper_of
from wheels.verify.device.package_targets import Owned, owned_packages
from wheels.verify.finding import Finding, Rule
from wheels.verify.model import FileFacts
from wheels.verify.wheel_set.importing import Dlls
from wheels.verify.wheel_set.model import Linked, Package
from wheels.verify.windows import is_redistributable

TWO_OWNERS = Rule(
    "S121",
    "a path belongs to two distributions",
    why="The one installed last overwrites the other's file, and uninstalling either breaks the other.",
    remedy="Leave the file to one of them, and let the other require it.",
)
COMMAND = Rule(
    "S123",
    "two distributions install a command of the same name",
    why="The one installed last overwrites the other's, and uninstalling either removes it.",
    remedy="Leave the command to one of them.",
)
TWO_LIBRARIES = Rule(
    "S177",
    "two distributions have different libraries of one SONAME, or DLLs of one name",
    why="A process has one library of a SONAME, or one DLL of a name, for all that need it: whichever is loaded first "
    "serves the other's users.",
    remedy="Leave the library to one of them, and let the other require it; or name each apart, as auditwheel and "
    "delvewheel do.",
)


#: The package that a path belongs to, and how it spells that, by `_key`.
Owners = dict[str, tuple[Package, str]]


def check_owners(packages: Sequence[Package]) -> Iterator[Finding]:
    """Check all packages; two packages with one name are never installed together."""
    owners: Owners = {}
    for package in packages:
        for path in package.files:
            other, spelled = owners.setdefault(_key(package, path), (package, path))
            if other.name != package.name:
                name = "" if path == spelled else f" as {spelled}"
                evidence = f"also in {other.filename}{name}, {_compared(other.files[spelled], package.files[path])}"
                yield TWO_OWNERS.finding(package.filename, path, evidence)
    for package in packages:
        yield from _unpacked(package, owners)
    commands: dict[str, Package] = {}
    for package in packages:
        for command in package.scripts:
            other = commands.setdefault(command, package)
            if other.name != package.name:
                yield COMMAND.finding(package.filename, "", f"the command {command} is also in {other.filename}")


def _key(package: Package, path: str) -> str:
    """Return a path as the file system compares it."""
    return upper_of(path) if package.is_windows else path


def _compared(one: FileFacts, other: FileFacts) -> str:
    return "with the same content" if one.sha256 == other.sha256 else "with other content"


def check_dlls(packages: Sequence[Package]) -> Iterator[Finding]:
    """Check that DLLs of one name are equal, as far as any file of the set needs one of that name."""
    dlls = Dlls(packages)
    # Microsoft's runtimes serve whoever was built with an older one.
    imported = (name for image in dlls.images.values() for name in (*image.libraries, *image.delayed_libraries))
    needed = {name for name in imported if not is_redistributable(name)}
    for name, paths in dlls.named() if needed else ():
        first, *others = paths if name in needed and paths else [""]
        for path in others:
            one, other = dlls.owners[first], dlls.owners[path]
            different = dlls.hashes[first] != dlls.hashes[path]
            if one.name != other.name and different and dlls.images[first].machine == dlls.images[path].machine:
                yield TWO_LIBRARIES.finding(other.filename, path, f"{one.filename} has {first}, with other content")


def check_libraries(packages: Sequence[Package]) -> Iterator[Finding]:
    """Check that libraries of one SONAME are one build, as far as any file of the set needs one of that SONAME."""
    owned = owned_packages(packages)
    needed = {name for package in packages for linked in _all_linked(package) for name in linked.needed}
    known: dict[tuple[str, int], list[tuple[Package, str]]] = {}
    for package in packages:
        for path, linked in sorted(package.linked.items()):
            if linked.soname in needed and not linked.is_forwarder:
                others = known.setdefault((linked.soname or "", linked.machine), [])
                for other, place in others:
                    if _may_meet(package, other, owned) and _build(package, path) != _build(other, place):
                        yield TWO_LIBRARIES.finding(package.filename, path, f"{other.filename} has another, {place}")
                        break
                others.append((package, path))


def _all_linked(package: Package) -> Iterator[Linked]:
    yield from package.linked.values()
    yield from package.devel.linked.values() if package.devel else ()


def _may_meet(one: Package, other: Package, owned: Mapping[str, Owned]) -> bool:
    """Whether one process can use two packages: not if they are for different GPUs, or are versions of one."""
    targets = [owned[name].target if name in owned else name.partition("-gfx")[2] for name in (one.name, other.name)]
    return one.name != other.name and (not all(targets) or targets[0] == targets[1])


#: Sections that are other ones where a library has another RPATH, or device code for fewer GPUs.
_EDITED: Final = (".dynamic", ".dynstr", ".hip_fatbin", ".hipFatBinSegment")


def _build(package: Package, path: str) -> object:
    """Return what is the same of two libraries if they are one build, whatever was edited of them since."""
    elf = package.files[path].elf
    if elf is None:
        return package.files[path].sha256
    sections = [(one.name, one.type, one.size) for one in elf.section_headers if one.flags & c.SHF_ALLOC]
    kept = tuple(section for section in sections if section[0] not in _EDITED)
    return elf.build_id, elf.versions_defined, kept


def _unpacked(package: Package, owners: Owners) -> Iterator[Finding]:
    """Look for what the development tree would write over when it is unpacked."""
    devel = package.devel
    for path in sorted({*devel.files, *devel.links} if devel else ()):
        other, _ = owners.get(_key(package, path), (None, ""))
        if other is not None and other.name != package.name:
            evidence = f"the development tree has it, and it is in {other.filename}"
            yield TWO_OWNERS.finding(package.filename, path, evidence)
