"""Plans the changes to a wheel so that it requires an SDK: names, METADATA, and the edit of each file.

plan = plan_wheel(wheel, sdk, Wishes())
check_plan(plan)                                                                # wheels.require_sdk.proof
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import NormalizedName, canonicalize_name
from packaging.version import Version

from lib.common.command import CannotRunError
from lib.common.program import ToolError
from lib.elf.model import after_origin
from lib.gpus.paths import split_local_version, target_of_distribution
from lib.wheel.metadata_editor import CoreMetadata
from lib.wheel.wheel_name import WheelName, sortable_label, with_local
from wheels.common.sound_wheel import SoundWheel
from wheels.require_sdk.device import DeviceCode, InitPy, check_other_gpu, check_required, find_selector, plan_device
from wheels.require_sdk.needs import (
    Copy,
    FileNeeds,
    copies,
    directory_entries,
    file_needs,
    matches,
    mentioned,
    opened_by_name,
    orphans,
)
from wheels.require_sdk.own_gpus import Gpus
from wheels.require_sdk.sdk import Sdk, SdkFacts
from wheels.verify.model import DistributionSet
from wheels.verify.settings import Settings
from wheels.verify.wheel_set.gather import LINKED, gather
from wheels.verify.wheel_set.linking import system_names
from wheels.verify.wheel_set.model import Linked, Package


@dataclass(frozen=True)
class Wishes:
    """Choices of the caller."""

    specifier: str = ""
    """Of the requirements, such as `>=7.10,<7.11`; empty for the version of the SDK's wheels alone."""
    drop_bundled: bool = False
    leave: tuple[str, ...] = ()
    """Patterns of libraries that are not taken from the SDK."""
    externals: tuple[str, ...] = ()
    """Patterns of libraries that users' machines, or packages that nobody looks at, have."""
    local_version: str = ""
    init_py_package: str = ""
    init_py: InitPy | None = None


@dataclass(frozen=True)
class FileEdit:
    """The edit of one file; paths are relative to site-packages, `source` is that in the old wheel."""

    needs: FileNeeds
    source: str
    search_path: tuple[str, ...]
    dropped: tuple[str, ...]

    @property
    def path(self) -> str:
        """The path of the file."""
        return self.needs.path


@dataclass(frozen=True)
class RequiringWheel:
    """A wheel to be written."""

    wheel: SoundWheel
    package: Package
    """The old wheel, as it is installed."""
    sdk: SdkFacts
    name: WheelName
    metadata: CoreMetadata
    edits: tuple[FileEdit, ...]
    copies: tuple[Copy, ...]
    requirements: tuple[Requirement, ...]
    """Those that were added."""
    externals: tuple[str, ...]
    """The libraries that the wheel needs from elsewhere, as the caller allows."""
    may_be_external: Callable[[str], bool]
    """Tells the libraries that the caller allows to come from elsewhere."""
    elsewhere: tuple[str, ...] = ()
    """Programs outside of site-packages that need libraries of the SDK."""
    texts: Mapping[str, bytes] = field(default_factory=dict, repr=False)
    """New files, besides METADATA and the files of the old wheel."""
    opened: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Files that may open libraries of the SDK by name, and which."""
    device: tuple[str, ...] = ()
    """Notes on requirements of device code."""

    @property
    def left_out(self) -> tuple[Copy, ...]:
        """The copies that the new wheel does not have."""
        return tuple(copy for copy in self.copies if not copy.stays)


def plan_wheel(wheel: SoundWheel, sdk: Sdk, wishes: Wishes) -> RequiringWheel:
    """Plan the wheel. Raises ToolError if it needs nothing of the SDK, or what it needs cannot be had."""
    (package,), _ = gather(DistributionSet((wheel.wheel,)))
    sources = {place: path for path in wheel.wheel.files if (place := wheel.wheel.installed(path)) is not None}
    is_left, system = matches(wishes.leave), system_names(package, Settings())

    found = _find_copies(wheel, package, sdk, wishes)
    left_out = [copy for copy in found if not copy.stays]
    may_be_external = _may_be_external(wishes)
    all_needs = file_needs(package, sdk, left_out, lambda name: is_left(name) or system(name), system, may_be_external)
    needs = [one for one in all_needs if one.libraries]
    if not needs:
        raise ToolError(_nothing(wheel, found))
    externals = tuple(sorted({name for one in all_needs for name in one.others if may_be_external(name)}))
    edits = tuple(_edit(one, sources[one.path]) for one in needs)
    names = sorted({library.name for one in needs for library in one.libraries.values()})
    facts = sdk.read([*names, *(copy.other for copy in left_out)])
    distributions = {sdk.offered[name].distribution: sdk.offered[name].version for name in names}
    version = next(iter(distributions[name] for name in sorted(distributions)))
    texts = _init_py(wheel, names, version, wishes)
    device = _device_code(wheel, package, sdk, distributions, wishes)
    if wishes.init_py is not None and wishes.init_py_package:
        init = canonicalize_name(wishes.init_py.distribution)
        distributions |= {} if any(one.name == init for one in device.added) else {init: version}
    added = (*device.added, *_requirements(package, distributions, wishes.specifier))
    name = _named(wheel.name, wishes.local_version or sortable_label("sdk", version))
    metadata = wheel.metadata.with_extras().replaced("Version", str(name.version))
    metadata = metadata.changed("Requires-Dist", device.changed)
    metadata = metadata.added(("Requires-Dist", str(one)) for one in added)
    metadata = metadata.added(("Requires-External", one) for one in externals)
    origin = f"This wheel was made by rocm-wheels require-sdk from {wheel.path.name} (SHA-256 {wheel.sha256})."
    elsewhere = tuple(_elsewhere(package, sdk))
    return RequiringWheel(
        wheel,
        package,
        facts,
        name,
        metadata.described(origin),
        edits,
        found,
        added,
        externals,
        may_be_external,
        elsewhere,
        texts,
        opened_by_name(wheel, package, [one for one in sdk.offered if not is_left(one)]),
        device.lines,
    )


def _may_be_external(wishes: Wishes) -> Callable[[str], bool]:
    """Return what tells the libraries that the wheel may need from elsewhere, by name or path."""
    is_named = matches((*wishes.externals, *wishes.leave))
    return lambda name: is_named(name) or is_named(name.rpartition("/")[2])


def _named(name: WheelName, label: str) -> WheelName:
    """Return a wheel's names with one more part of the local version; a GPU that this ends in stays the last."""
    rest, gpu = split_local_version(name.version.local)
    plain = WheelName(name.distribution, Version(name.version.public), name.tags, name.base)
    return with_local(plain, ".".join(filter(None, (rest, label, gpu))))


def _device_code(
    wheel: SoundWheel, package: Package, sdk: Sdk, needed: Mapping[NormalizedName, Version], wishes: Wishes
) -> DeviceCode:
    """Plan the requirements on device code. Raises ToolError if METADATA requires another version of the selector."""
    selector = find_selector(sdk, needed, wishes.init_py)
    if selector is not None and (selector.package or selector.is_needed):
        check_required(package, selector.name, selector.version)
    found = plan_device(selector, wheel, sdk.gpus, wishes.specifier)
    lines = [_for_gpu(name, target, sdk.gpus) for name in sorted(needed) if (target := target_of_distribution(name))]
    if found == DeviceCode() and sdk.gpus.is_told and not (sdk.gpus.is_none or lines):
        raise ToolError(
            f"{wheel.path}: {sdk.gpus.reason}, but no needed library has its device code in a package of its own. "
            "Leave --device out, or name the packages with device code with --sdk"
        )
    return replace(found, lines=(*found.lines, *lines))


def _for_gpu(name: str, target: str, gpus: Gpus) -> str:
    """Say which GPUs a package of libraries binds the wheel to, and why it was taken."""
    if gpus.served:
        return f"{name} has it for {target}, because {gpus.reason}"
    return f"{name} has it for {target} alone: --sdk has no other package with these libraries"


def _find_copies(wheel: SoundWheel, package: Package, sdk: Sdk, wishes: Wishes) -> tuple[Copy, ...]:
    """Find the copies of the SDK's libraries, and what was grafted for those alone that are left out."""
    is_left, system = matches(wishes.leave), system_names(package, Settings())

    def stays(path: str, name: str) -> str:
        if not wishes.drop_bundled:
            return "--drop-bundled leaves it out"
        if is_left(name) or is_left(path.rpartition("/")[2]):
            return "--leave names it"
        if system(name):
            return "every system has this library"
        return mentioned(wheel, package, path)

    found = copies(package, sdk, stays)
    return (*found, *orphans(package, [copy for copy in found if not copy.stays], is_left))


def _elsewhere(package: Package, sdk: Sdk) -> Iterator[str]:
    """Yield what is installed beside site-packages, and so at no known distance from the SDK, and needs it."""
    for path, facts in sorted(package.elsewhere.items()):
        linked = facts.collected.get(LINKED)
        if isinstance(linked, Linked) and any(name in sdk.offered for name in linked.needed):
            yield path


def _nothing(wheel: SoundWheel, found: Collection[Copy]) -> str:
    if any(copy.library for copy in found):
        some = next(copy for copy in found if copy.library)
        return (
            f"{wheel.path}: needs nothing of the SDK, because it has its own copies, such as {some.path}, a copy of "
            f"{some.other}, which stays: {some.stays}"
        )
    return (
        f"{wheel.path}: none of its programs and libraries needs a library that the wheels of --sdk have. Name the "
        "wheels that have them, or use the wheel as it is"
    )


def _edit(needs: FileNeeds, source: str) -> FileEdit:
    """Plan the search path: entries that count from the file's own directory stay in front, the SDK's follow."""
    before = (*needs.linked.rpath, *needs.linked.runpath)
    kept = [entry for entry in before if after_origin(entry) is not None]
    dropped = dict.fromkeys(entry for entry in before if entry not in kept and before != ("",))
    path = tuple(dict.fromkeys((*kept, *directory_entries(needs.path, needs.directories))))
    return FileEdit(needs, source, path, tuple(dropped))


def _requirements(
    package: Package, distributions: Mapping[NormalizedName, Version], specifier: str
) -> list[Requirement]:
    """Return the requirements that METADATA lacks. Raises ToolError if METADATA or the specifier excludes the SDK."""
    added = []
    for name, version in sorted(distributions.items()):
        check_other_gpu(package, name)
        wanted = SpecifierSet(specifier or f"=={version}")
        if not wanted.contains(version, prereleases=True):
            raise CannotRunError(
                f"--specifier={specifier}: does not accept {name} {version}, which the wheel is proven with"
            )
        if all(one.marker is not None for one in check_required(package, name, version)):
            added.append(Requirement(f"{name}{wanted}"))
    return added


def _init_py(wheel: SoundWheel, names: Collection[str], version: Version, wishes: Wishes) -> dict[str, bytes]:
    """Return the module that loads the SDK's libraries, by path. Raises ToolError if there is no place for it."""
    if not wishes.init_py_package or wishes.init_py is None:
        return {}
    package, file_name = wishes.init_py_package, wishes.init_py.file_name
    if f"{package}/__init__.py" not in wheel.wheel.files:
        tops = sorted({path.split("/")[0] for path in wheel.wheel.files if path.count("/") == 1})
        there = ", ".join(top for top in tops if f"{top}/__init__.py" in wheel.wheel.files) or "none"
        raise CannotRunError(f"--init-py={package}: is not an import package of {wheel.path.name}; it has {there}")
    path = f"{package}/{file_name}"
    if path in wheel.wheel.files:
        raise CannotRunError(f"--init-py={package}: {wheel.path.name} has {path} already. Leave --init-py out")
    text = wishes.init_py.text(sorted(names), None if wishes.specifier else str(version))
    return {path: text.encode()}
