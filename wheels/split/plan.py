"""What becomes of a fat wheel: which files each thin wheel has, and which device code of them. Pure functions.

plans = plan_local_versions(fat, groups)  # complete wheels, each with the code of one group, told apart by version
plans = plan_wheel_variants(fat, groups)  # the same, told apart by the label of PEP 825
plans = plan_host_device(fat, groups)     # one wheel without device code, and one with code alone for each group

A complete wheel for some GPUs keeps the distribution's name and gets a local version (PEP 440): `acme-1.0+gfx942`, of a
version that has one already `acme-2.0+rocm7.gfx942`. So every requirement on the name is met as before, two of them
cannot be installed over each other, and installers prefer it to the fat wheel: 1.0+gfx942 is newer than 1.0.
Or it is a wheel variant, whose name `variant_format` makes. Device wheels are called as AMD calls its own, such as
`amd-torch-device-gfx942`; the host wheel is `acme-1.0+host`.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import Final

from lib.common.command import CannotRunError, some
from lib.common.program import ToolError
from lib.gpus.paths import suggestion
from lib.gpus.target_id import TargetId
from lib.variants.variant_format import VARIANT_JSON, labelled, variant_json, variant_label
from lib.wheel.metadata_editor import REQUIREMENTS, CoreMetadata
from lib.wheel.wheel_name import WheelName, with_local
from wheels.common.copying import MADE
from wheels.common.sound_wheel import SoundWheel
from wheels.split.device_files import DeviceFile, Form, Group, device_files
from wheels.verify.device.stray_code import stray_code

#: How the names of AMD's distributions begin.
PREFIX = "amd-"
#: The local version of host wheels.
HOST = "host"


def device_distribution(name: WheelName, label: str) -> str:
    """Return the normalised name (PEP 503) of the distribution with the device code for a group alone."""
    normalised = re.sub(r"[-_.]+", "-", name.distribution).lower()
    return f"{PREFIX}{normalised.removeprefix(PREFIX)}-device-{label}"


def device_name(name: WheelName, label: str) -> WheelName:
    """Return the names of the wheel with the device code for a group alone; it has the fat wheel's version."""
    distribution = device_distribution(name, label).replace("-", "_")
    return WheelName(distribution, name.version, name.tags, f"{distribution}-{name.version}")


#: Files of the .dist-info directory that device wheels have as well: WHEEL, and licence texts, old and new (PEP 639).
DEVICE_TEXTS: Final = ("WHEEL", "licenses/*", "LICEN[CS]E*", "COPYING*", "NOTICE*", "AUTHORS*")


@dataclass(frozen=True)
class PlannedFile:
    """A file of a thin wheel: `source` is its path in the fat one."""

    path: str
    source: str
    slice: tuple[TargetId, ...] | None = None
    """The targets whose device code is kept; None if the file stays as it is."""
    absent: tuple[TargetId, ...] = ()
    """Of these, the targets that it has no code for."""


@dataclass(frozen=True)
class ThinWheel:
    """A wheel to be written."""

    label: str
    """The group's, or `host`."""
    folder: str
    """Where it goes below the output directory: wheels with local versions lie in one directory for each group."""
    name: WheelName
    files: tuple[PlannedFile, ...]
    metadata: CoreMetadata
    left_out: tuple[str, ...] = field(default=(), repr=False)
    """Files by themselves that are for other GPUs."""
    texts: tuple[tuple[str, bytes], ...] = field(default=(), repr=False)
    """New files, besides METADATA and the files of the fat wheel: path and content."""

    @property
    def place(self) -> str:
        """The path of the wheel below the output directory."""
        return f"{self.folder}/{self.name.filename}" if self.folder else self.name.filename


def plan_local_versions(fat: SoundWheel, groups: Sequence[Group], whole: Collection[str] = ()) -> list[ThinWheel]:
    """Plan a complete wheel for each group; files that match `whole` stay as they are.

    Raises ToolError for a group that the wheel has no code for.
    """
    devices = _devices(fat, groups, whole)
    plans = []
    for group in groups:
        name = with_local(fat.name, group.label)
        plan = _complete(fat, devices, group, name)
        metadata = plan.metadata.replaced("Version", str(name.version))
        plans.append(replace(plan, folder=group.label, metadata=metadata))
    return plans


def plan_wheel_variants(fat: SoundWheel, groups: Sequence[Group], whole: Collection[str] = ()) -> list[ThinWheel]:
    """Plan a complete wheel for each group, in the same version, whose label and `variant.json` say for which GPUs.

    Raises ToolError as `plan_local_versions` does.
    """
    devices = _devices(fat, groups, whole)
    plans = []
    for group in groups:
        label, owners = variant_label(group.label), [target.processor for target in group.targets]
        plan = _complete(fat, devices, group, replace(fat.name, tags=labelled(fat.name.tags, label)))
        path = f"{fat.name.dist_info}/{VARIANT_JSON}"
        files = tuple(file for file in plan.files if file.path != path)
        plans.append(replace(plan, files=files, texts=((path, variant_json(label, owners)),)))
    return plans


def _devices(fat: SoundWheel, groups: Sequence[Group], whole: Collection[str]) -> Mapping[str, DeviceFile]:
    """Return the files for some GPUs. Raises ToolError unless there is device code that each group can load."""
    devices = device_files(fat.wheel, whole)
    with_code = [device for device in devices.values() if device.has_code]
    codes: frozenset[TargetId] = frozenset().union(*(device.codes for device in with_code))
    if not codes:
        raise ToolError(
            f"{fat.path}: no device code for AMD GPUs that can be split: none in programs and libraries of Linux, none "
            f"in files by themselves{_stray(fat)}. Use the wheel as it is"
        )
    for group in groups:
        if unknown := group.unknown(codes):
            raise CannotRunError(
                f"--targets: {unknown[0]} is an unknown GPU: neither AMD's nor LLVM's table has it, and "
                f"{fat.path} has no code for it by name; {suggestion(str(unknown[0]))}"
            )
        if not any(device.is_for(group) for device in with_code):
            has = ", ".join(sorted(map(str, codes)))
            raise ToolError(
                f"{fat.path}: no code that {group.label} can load; it has code for {has}{_stray(fat)}. Leave "
                f"{group.label} out of --targets"
            )
    return devices


def _stray(fat: SoundWheel) -> str:
    """Say which device code is where it cannot be split; `""` if none is."""
    found = list(map(str, stray_code(fat.wheel)))
    return f"; it has code that stays whole: {some(found, separator='; ')}" if found else ""


def _host_files(fat: SoundWheel) -> Iterator[str]:
    """Yield the files that are copied: all except those that each thin wheel has its own version of."""
    own = {f"{fat.name.dist_info}/{name}" for name in MADE}
    yield from (path for path in fat.wheel.files if path not in own)


def _complete(fat: SoundWheel, devices: Mapping[str, DeviceFile], group: Group, name: WheelName) -> ThinWheel:
    files, left_out = [], []
    for source in _host_files(fat):
        device, path = devices.get(source), name.path_from(source, fat.name)
        if device is None or device.form is Form.UNKNOWN:
            files.append(PlannedFile(path, source))
        elif device.form is not Form.EMBEDDED and not device.is_for(group):
            left_out.append(source)
        else:
            files.append(_device_file(path, device, group))
    metadata = fat.metadata.described(f"{_origin(fat)} Its device code is for {group.label} alone.")
    return ThinWheel(group.label, "", name, tuple(files), metadata, tuple(left_out))


def _device_file(path: str, device: DeviceFile, group: Group) -> PlannedFile:
    if device.is_sliced:
        return PlannedFile(path, device.path, group.targets, group.missing(device.codes))
    return PlannedFile(path, device.path)


def _origin(fat: SoundWheel) -> str:
    return f"This wheel was made by rocm-wheels split from {fat.path.name} (SHA-256 {fat.sha256})."


def plan_host_device(fat: SoundWheel, groups: Sequence[Group], whole: Collection[str] = ()) -> list[ThinWheel]:
    """Plan a wheel without device code, and one for each group with its code alone.

    Files that match `whole` stay in the host wheel. Raises ToolError as `plan_local_versions` does, and for code that
    cannot be taken out: code in programs and libraries, and what several device wheels would have to own.
    """
    devices = _devices(fat, groups, whole)
    owners = {path: [group for group in groups if one.is_for(group)] for path, one in devices.items()}
    _check_separable(fat, devices, owners)
    host, names = with_local(fat.name, HOST), {group: device_name(fat.name, group.label) for group in groups}
    files = tuple(PlannedFile(host.path_from(path, fat.name), path) for path in _host_files(fat) if path not in devices)
    left_out = tuple(path for path in devices if not owners[path])
    plans = [ThinWheel(HOST, "", host, files, _host_metadata(fat, host, groups), left_out)]
    for group, name in names.items():
        own = [
            _device_file(name.path_from(path, fat.name), devices[path], group)
            for path in devices
            if owners[path] == [group]
        ]
        texts = [
            PlannedFile(name.path_from(path, fat.name), path) for path in _host_files(fat) if _is_device_text(fat, path)
        ]
        plans.append(ThinWheel(group.label, "", name, (*own, *texts), _device_metadata(fat, name, host, group)))
    return plans


def _is_device_text(fat: SoundWheel, path: str) -> bool:
    top, _, rest = path.partition("/")
    return top == fat.name.dist_info and any(fnmatchcase(rest, pattern) for pattern in DEVICE_TEXTS)


def _check_separable(fat: SoundWheel, devices: Mapping[str, DeviceFile], owners: Mapping[str, Sequence[Group]]) -> None:
    embedded = [path for path, one in devices.items() if one.form is Form.EMBEDDED]
    unknown = [path for path, one in devices.items() if one.form is Form.UNKNOWN]
    shared = [f"{path} ({', '.join(one.label for one in found)})" for path, found in owners.items() if len(found) > 1]
    for paths, reason in (
        (embedded, "device code is part of programs or libraries, and one file belongs to one wheel"),
        (unknown, "neither headers nor names of code objects say a known target, which tells the wheel they belong to"),
        (shared, "files are for several of these wheels, and uninstalling one would remove them from the others"),
    ):
        if paths:
            raise ToolError(
                f"{fat.path}: cannot be split into host and device: {reason}: {some(paths)}. Use --shape=local-versions"
            )


def _host_metadata(fat: SoundWheel, name: WheelName, groups: Sequence[Group]) -> CoreMetadata:
    """Return METADATA with an extra for each device wheel, and one for all, as AMD calls them."""
    pins = {group: f"{device_distribution(fat.name, group.label)}=={fat.name.version}" for group in groups}
    extras = {f"device-{group.label}": [pins[group]] for group in groups} | {"device-all": list(pins.values())}
    added = [("Provides-Extra", extra) for extra in extras]
    added += [("Requires-Dist", f'{pin}; extra == "{extra}"') for extra, found in extras.items() for pin in found]
    metadata = fat.metadata.with_extras().replaced("Version", str(name.version)).added(added)
    return metadata.described(f"{_origin(fat)} Its device code is in wheels of its own, one for each extra device-….")


def _device_metadata(fat: SoundWheel, name: WheelName, host: WheelName, group: Group) -> CoreMetadata:
    [own] = fat.metadata.values("Name")
    metadata = fat.metadata.without(REQUIREMENTS).replaced("Name", device_distribution(fat.name, group.label))
    metadata = metadata.replaced("Version", str(name.version)).added([("Requires-Dist", f"{own}=={host.version}")])
    return metadata.described(f"{_origin(fat)} It has the device code for {group.label}, and nothing else.")
