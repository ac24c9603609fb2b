"""Writes the wheel of a release out of a candidate's: its versions change, and whatever else stays is copied.

METADATA gets the new version, and new pins in Requires-Dist. Members that the promoter names get the new versions as
text. RECORD is written anew. Every other member is copied as it is deflated; what a wheel only stores is deflated.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from lib.common.command import CannotRunError, FoundError
from lib.wheel.wheel_writer import WheelMember, text_member
from wheels.common.copying import MADE, can_be_copied, copied_member, file_mode, inflate, packed_member, write_new_wheel
from wheels.common.sound_wheel import SoundWheel, read_sound_wheel

#: For each project and version of a candidate, the version of the release.
Versions = Mapping[tuple[str, Version], Version]


def pinned_version(requirement: Requirement, versions: Versions) -> tuple[str, Version] | None:
    """Return the text of a candidate's version that a requirement pins, and the release's; None if it pins none."""
    for one in requirement.specifier:
        if one.operator in ("==", "===") and not one.version.endswith("*"):
            try:
                new = versions.get((canonicalize_name(requirement.name), Version(one.version)))
            except InvalidVersion:
                continue
            if new is not None:
                return one.version, new
    return None


def repinned(text: str, versions: Versions) -> str:
    """Return a requirement (PEP 508) that pins the release where it pinned the candidate."""
    try:
        found = pinned_version(Requirement(text), versions)
    except InvalidRequirement:
        return text
    if found is None:
        return text
    front, semicolon, marker = text.partition(";")
    old, new = found
    return re.sub(rf"(===?\s*){re.escape(old)}(?![\w.+])", rf"\g<1>{new}", front) + semicolon + marker


@dataclass(frozen=True)
class Rewriting:
    """Changes to the wheels of a candidate."""

    versions: Versions
    texts: Mapping[str, str]
    """Texts of versions, and what replaces each in members that are named."""
    members: Sequence[str]
    """Paths of members that the promoter names."""

    def write(self, source: Path, folder: Path) -> tuple[Path, frozenset[str]]:
        """Write the wheel of a release; return it, and which members were rewritten as their paths were before.

        Raises ToolError for a wheel that is damaged, and FoundError for a named member without the version.
        """
        wheel = read_sound_wheel(source)
        version = self.versions[canonicalize_name(wheel.name.distribution), wheel.name.version]
        base = f"{wheel.name.base.rpartition('-')[0]}-{version}"
        name = replace(wheel.name, version=version, base=base)
        pins = {text: repinned(text, self.versions) for text in wheel.metadata.values("Requires-Dist")}
        metadata = wheel.metadata.replaced("Version", str(version)).changed("Requires-Dist", pins)
        made = {f"{wheel.name.dist_info}/{one}" for one in MADE}
        kept = [path for path in wheel.wheel.files if path not in made]
        named = frozenset(path for path in kept if path in self.members)
        members = [
            self._member(wheel, path, name.path_from(path, wheel.name), folder / f"{number}.member", path in named)
            for number, path in enumerate(kept)
        ]
        target = folder / name.filename
        write_new_wheel(target, wheel, name, members, metadata, [])
        return target, named

    def _member(self, wheel: SoundWheel, source: str, path: str, scratch: Path, is_named: bool) -> WheelMember:
        if can_be_copied(wheel, source) and not is_named:
            return copied_member(wheel, source, path)
        inflate(wheel, source, scratch)
        if not is_named:
            return packed_member(wheel, source, path, scratch, "balanced")
        content = scratch.read_bytes()
        scratch.unlink()
        try:
            text = content.decode("utf-8")
        except UnicodeDecodeError:
            raise CannotRunError(f"--rewrite={source}: is no text in {wheel.path.name}; expected UTF-8") from None
        changed = replaced_versions(text, self.texts)
        if changed == text:
            known = ", ".join(self.texts)
            raise FoundError(f"--rewrite={source}: {wheel.path.name} has no {known} in it. Leave the option out")
        return text_member(path, changed.encode(), file_mode(wheel.members[source]))


def replaced_versions(text: str, texts: Mapping[str, str]) -> str:
    """Return a text with versions replaced by others: the longest first, and none that is part of a longer number."""
    words = "|".join(re.escape(one) for one in sorted(texts, key=len, reverse=True))
    return re.sub(rf"(?<![\d.])(?:{words})(?!\d|\.\d)", lambda match: texts[match[0]], text)
