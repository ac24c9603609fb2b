"""The GPUs that thin wheels are for, and which files of a wheel are for some GPUs alone, in which form.

    parse_groups("gfx942,gfx110X-all")   # one wheel for gfx942, one for all of gfx1100 to gfx1103

Names, families and owners are as in AMD's table (`lib.gpus`).
"""

import enum
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase

from lib.common.command import CannotRunError
from lib.common.program import ToolError
from lib.device.kpack import SUFFIX
from lib.device.model import code_object_target
from lib.elf import constants as c
from lib.gpus.families import is_target, name_in_distribution, package_owner, parse_family
from lib.gpus.paths import is_code_file, is_known, named_targets, naming_part, suggestion
from lib.gpus.table import TARGETS
from lib.gpus.target_id import GENERIC_PROCESSORS, TargetId, can_load
from wheels.verify.device.facts import DEVICE, DeviceFacts
from wheels.verify.model import FileFacts, Wheel


@dataclass(frozen=True)
class Group:
    """The GPU targets that share a thin wheel."""

    label: str
    """What names of directories and distributions call it: `gfx942`, `gfx110x-all`."""
    targets: tuple[TargetId, ...]
    """Sorted, without features: a wheel has the code for every setting of them."""

    def loads(self, code: TargetId) -> bool:
        """Whether one of these GPUs can load such code."""
        return any(can_load(code, target) for target in self.targets)

    def unknown(self, codes: Iterable[TargetId]) -> tuple[TargetId, ...]:
        """Return the targets that no table has, nor any of these codes: probably typing errors."""
        processors = {code.processor for code in codes}
        return tuple(one for one in self.targets if not is_known(one.processor) and one.processor not in processors)

    def missing(self, codes: Iterable[TargetId]) -> tuple[TargetId, ...]:
        """Return the targets that can load none of these codes."""
        known = list(codes)
        return tuple(target for target in self.targets if not any(can_load(code, target) for code in known))


def parse_groups(text: str) -> tuple[Group, ...]:
    """Return a group for each target and family of a list split by commas, sorted by label.

    Raises ToolError for words that are neither, and for none.
    """
    words = [word.strip() for word in text.split(",") if word.strip()]
    if not words:
        raise CannotRunError("--targets: names no GPU; expected a list such as gfx942,gfx1100 or gfx110X-all")
    groups = {group.label: group for group in map(_group, words)}
    return tuple(groups[label] for label in sorted(groups))


def _group(word: str) -> Group:
    family = parse_family(word)
    if ":" in word:
        raise CannotRunError(
            f"--targets: {word} has features; expected {word.partition(':')[0]}, whose wheel has the code for all "
            "settings of them"
        )
    if family is None and not is_target(word):
        raise CannotRunError(
            f"--targets: {word!r} is not a GPU target or family; expected names such as gfx942 or gfx110X-all; "
            f"{suggestion(word)}"
        )
    names = {package_owner(word)} if family is None else {one.owner for one in TARGETS if family.has(one.name)}
    if not names:
        raise CannotRunError(
            f"--targets: no GPU target is known of the family {word}; name the targets; {suggestion(word)}"
        )
    return Group(name_in_distribution(word).lower(), tuple(sorted(map(TargetId, names))))


class Form(enum.Enum):
    """Form in which device code is stored."""

    EMBEDDED = "in a program or library"
    BUNDLE = "a bundle by itself"
    WHOLE = "a file by itself: a code object, or a file that is named for its targets"
    DATA = "a file by itself without code that is named for its targets, such as a database of MIOpen"


@dataclass(frozen=True)
class DeviceFile:
    """A file for some GPUs, and its targets: the targets of the code, else the targets in the file's name."""

    path: str
    form: Form
    codes: frozenset[TargetId]
    families: tuple[str, ...] = ()
    """The families that its name says: they have targets that no table has, and that `codes` lacks."""

    def is_for(self, group: Group) -> bool:
        """Whether a GPU of a group can load some code of the file."""
        if any(map(group.loads, self.codes)):
            return True
        named = filter(None, map(parse_family, self.families))
        return any(family.has(target.processor) for family in named for target in group.targets)

    @property
    def has_code(self) -> bool:
        """Whether the file contains device code."""
        return self.form is not Form.DATA

    @property
    def is_sliced(self) -> bool:
        """Whether a thin wheel can contain a part of the file."""
        return self.form in (Form.EMBEDDED, Form.BUNDLE)


def device_files(wheel: Wheel, whole: Collection[str] = ()) -> Mapping[str, DeviceFile]:
    """Return the files for some GPUs by path, sorted. Archives (`.kpack`) are none, nor what refers to them.

    Files whose paths match a pattern of `whole` (`*` matches `/` as well) are left out.
    Raises ToolError for code that cannot be read, and for a pattern that matches no file.
    """
    for pattern in whole:
        if not any(fnmatchcase(path, pattern) for path in wheel.files):
            raise CannotRunError(
                f"{wheel.path}: --whole={pattern} matches no file of the wheel; expected a path or pattern"
            )
    left = (facts for path, facts in sorted(wheel.files.items()) if not any(fnmatchcase(path, one) for one in whole))
    found = (_device_file(wheel, facts) for facts in left)
    return {one.path: one for one in found if one is not None}


def _device_file(wheel: Wheel, facts: FileFacts) -> DeviceFile | None:
    device = facts.collected.get(DEVICE)
    if facts.path.endswith(SUFFIX):
        return None
    if isinstance(device, DeviceFacts):
        if device.damage:
            reason = f"{facts.path}: its device code cannot be read: {device.damage}"
            raise ToolError(f"{wheel.path}: {reason}. Leave the file whole with --whole={facts.path}")
        codes = frozenset().union(*device.bundles)
        form = Form.EMBEDDED if device.is_program else Form.BUNDLE
        return DeviceFile(facts.path, form, codes) if codes else None
    is_code = facts.elf is not None and facts.elf.machine == c.EM_AMDGPU
    target = code_object_target(facts.elf.flags) if facts.elf is not None and is_code else None
    if target is not None:
        return DeviceFile(facts.path, Form.WHOLE, frozenset((target,)))
    part = facts.path if is_code else naming_part(facts.path)
    named = None if part is None else _named(facts.path, part, Form.WHOLE if is_code else _form(facts.path))
    return named if named and named.codes else None


def _form(path: str) -> Form:
    return Form.WHOLE if is_code_file(path) else Form.DATA


def _named(path: str, part: str, form: Form) -> DeviceFile | None:
    """Return the file with the targets that a part of its path names, also by their family.

    None if it names none, or has a word that is neither: nobody knows which GPUs need the file.
    """
    found: set[TargetId] = set()
    families = []
    for named in named_targets(part):
        family = parse_family(named.processor)
        if is_target(named.processor) or named.processor in GENERIC_PROCESSORS:
            found.add(named)
        elif family:
            families.append(named.processor)
            found |= {TargetId(one.name) for one in TARGETS if family.has(one.name)}
        else:
            return None
    return DeviceFile(path, form, frozenset(found), tuple(families)) if found else None
