"""Plans thin wheels: which files of the fat wheel each one gets, and which device code. Pure functions.

plans = plan_local_versions(fat, groups)  # complete wheels, each with the code of one group, told apart by version
plans = plan_wheel_variants(fat, groups)  # the same, told apart by the label of PEP 825

A complete wheel for some GPUs keeps the distribution's name and gets a local version (PEP 440): `acme-1.0+gfx942`, of a
version that has one already `acme-2.0+rocm7.gfx942`. So every requirement on the name is met as before, two of them
cannot be installed over each other, and installers prefer it to the fat wheel: 1.0+gfx942 is newer than 1.0.
Or it is a wheel variant, whose name `variant_format` makes.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from lib.common.command import CannotRunError
from lib.common.program import ToolError
from lib.gpus.paths import suggestion
from lib.gpus.target_id import TargetId
from lib.wheel.metadata_editor import CoreMetadata
from lib.wheel.variant_format import VARIANT_JSON, labelled, variant_json, variant_label
from lib.wheel.wheel_name import WheelName, with_local
from wheels.common.copying import MADE
from wheels.common.sound_wheel import SoundWheel
from wheels.split.device_files import DeviceFile, Form, Group, device_files


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
    """The group's."""
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
            "in files by themselves. Use the wheel as it is"
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
                f"{fat.path}: no code that {group.label} can load; it has code for {has}. Leave "
                f"{group.label} out of --targets"
            )
    return devices


def _host_files(fat: SoundWheel) -> Iterator[str]:
    """Yield the files that are copied: all except those that each thin wheel has its own version of."""
    own = {f"{fat.name.dist_info}/{name}" for name in MADE}
    yield from (path for path in fat.wheel.files if path not in own)


def _complete(fat: SoundWheel, devices: Mapping[str, DeviceFile], group: Group, name: WheelName) -> ThinWheel:
    files, left_out = [], []
    for source in _host_files(fat):
        device, path = devices.get(source), name.path_from(source, fat.name)
        if device is None:
            files.append(PlannedFile(path, source))
        elif device.form is not Form.EMBEDDED and not device.is_for(group):
            left_out.append(source)
        else:
            files.append(_device_file(path, device, group))
    origin = f"This wheel was made by rocm-wheels split from {fat.path.name} (SHA-256 {fat.sha256})."
    metadata = fat.metadata.described(f"{origin} Its device code is for {group.label} alone.")
    return ThinWheel(group.label, "", name, tuple(files), metadata, tuple(left_out))


def _device_file(path: str, device: DeviceFile, group: Group) -> PlannedFile:
    if device.is_sliced:
        return PlannedFile(path, device.path, group.targets, group.missing(device.codes))
    return PlannedFile(path, device.path)
