"""What the artifacts say about the build that made them: its layout, and its targets in order of preference."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

from tools.fetch.catalog.errors import CatalogError
from tools.fetch.catalog.scan import Artifact, read_text

#: The name of the artifacts that tell about the build. Of archives, only those are looked into.
BASE = "base"
#: Paths below a base directory.
THEROCK_MANIFEST = "share/therock/therock_manifest.json"
DIST_INFO = "share/therock/dist_info.json"

T = TypeVar("T")


def value_of(text: str, where: Path | str, key: str, default: T) -> T:
    """Read a key of a JSON object; the default if it is not there.

    Raises CatalogError if it is no such object, or the value is not of the default's type.
    """
    try:
        value = json.loads(text).get(key, default)
    except (ValueError, AttributeError) as error:
        raise CatalogError(f"{where}: expected a JSON object ({error}); fetch the artifact anew") from None
    if not isinstance(value, type(default)):
        raise CatalogError(f"{where}: {key} is {value!r}; expected a value like {default!r}")
    return value


def split_of(text: str, where: Path | str) -> bool:
    """Read `flags.KPACK_SPLIT_ARTIFACTS` of therock_manifest.json's text; absent means false."""
    flags: dict[str, object] = {}
    return bool(value_of(text, where, "flags", flags).get("KPACK_SPLIT_ARTIFACTS", False))


def dist_targets_of(text: str, where: Path | str) -> list[str]:
    """Read `dist_amdgpu_targets` of dist_info.json's text, in the order written."""
    return [target for target in value_of(text, where, "dist_amdgpu_targets", "").split(";") if target]


def about_files(artifacts: Sequence[Artifact]) -> list[Path]:
    """List the files that tell about the build."""
    return [
        artifact.folder / entry["base"] / entry["path"]
        for artifact in artifacts
        for entry in artifact.entries
        if entry["path"] in (THEROCK_MANIFEST, DIST_INFO) and entry["kind"] == "file"
    ]


def is_split(artifacts: Sequence[Artifact]) -> bool:
    """Read the layout, of the first artifact that tells; false if none does."""
    found = [path for path in about_files(artifacts) if str(path).endswith(THEROCK_MANIFEST)]
    return split_of(read_text(found[0]), found[0]) if found else False


def dist_targets(artifacts: Sequence[Artifact]) -> list[str]:
    """Read the targets, of the first artifact that tells; none if none does."""
    found = [path for path in about_files(artifacts) if str(path).endswith(DIST_INFO)]
    return dist_targets_of(read_text(found[0]), found[0]) if found else []
