"""Checks that each artifact in a wheel comes under a licence, as far as the wheel tells.

An artifact has a licence if the wheel's bill of materials (PEP 770, CycloneDX) names one, or its licence texts; or if
the wheel as a whole has both an expression and a text (PEP 639). Without a bill of materials the wheel stands for its
artifacts.
"""

import json
from collections.abc import Iterator
from typing import Any, Final

from wheels.verify.finding import Finding, Rule, Severity
from wheels.verify.model import Wheel
from wheels.verify.settings import Settings
from wheels.verify.wheel_set.core_metadata import raw_metadata

UNLICENSED = Rule(
    "S161",
    Severity.WARNING,
    "an artifact without a licence",
    why="Nobody may use or pass on what comes without a licence, and most licences ask that their text goes along.",
    remedy="Give License-Expression and License-File, or the artifact's licence in the bill of materials.",
)
NO_TEXT = Rule(
    "S162",
    Severity.ERROR,
    "the bill of materials names a licence text that is not in the wheel",
    why="The licence's text has to go along with what it is for.",
    remedy="Package the text at this path, or correct the bill of materials.",
)
UNREADABLE = Rule(
    "S163",
    Severity.ERROR,
    "a bill of materials that cannot be read",
    why="Scanners find nothing of what the wheel is made from.",
    remedy="Write it as CycloneDX JSON (ECMA-424).",
)
RULES: Final = (UNLICENSED, NO_TEXT, UNREADABLE)

_SUFFIX: Final = ".cdx.json"
#: What the references of artifacts in our bills of materials begin with, and the property for a licence text.
_ARTIFACT: Final = "artifact:"
_LICENSE_FILE: Final = ":artifact:license-file"


def check_licences(wheel: Wheel, settings: Settings) -> Iterator[Finding]:
    """Check one wheel; one without a .dist-info directory is none."""
    del settings
    if wheel.dist_info is None:
        return
    lacks = _lacks(wheel)
    seen = False
    for path, facts in sorted(wheel.files.items()):
        if path.startswith(f"{wheel.dist_info}/sboms/") and path.endswith(_SUFFIX) and facts.content is not None:
            try:
                artifacts = list(_artifacts(json.loads(facts.content)))
            except (ValueError, TypeError, AttributeError, RecursionError) as error:
                yield UNREADABLE.finding(wheel.filename, path, f"expected CycloneDX JSON: {error}")
                continue
            seen = True
            for name, licensed, texts in artifacts:
                yield from _check_artifact(wheel, path, name, texts)
                if lacks and not licensed and not texts:
                    yield UNLICENSED.finding(
                        wheel.filename, path, f"{name} has no licence there, and the wheel {lacks}"
                    )
    if lacks and not seen:
        yield UNLICENSED.finding(wheel.filename, "", f"the wheel {lacks}")


def _lacks(wheel: Wheel) -> str:
    """Say what the wheel lacks of a licence for all of it; empty if nothing."""
    content = wheel.text("METADATA")
    if content is None:
        return ""  # W302 says so.
    raw = raw_metadata(content)
    classified = any(one.startswith("License ::") for one in raw.get("classifiers", ()))
    if not (raw.get("license_expression") or raw.get("license") or classified):
        return "has no License-Expression"
    if raw.get("license_files"):
        return ""  # Whether the text is there, W307 says.
    texts = [path for path in wheel.files if path.startswith(f"{wheel.dist_info}/") and _is_licence(path)]
    return "" if texts else "has no licence text (License-File)"


def _is_licence(path: str) -> bool:
    return path.rpartition("/")[2].upper().startswith(("LICENSE", "LICENCE", "COPYING", "NOTICE"))


def _artifacts(document: Any) -> Iterator[tuple[str, bool, list[str]]]:
    """Yield name, whether there is a licence, and licence texts (paths in the tree) of each artifact."""
    for component in document.get("components", ()):
        if str(component.get("bom-ref", "")).startswith(_ARTIFACT):
            properties = component.get("properties", ())
            texts = [str(one.get("value")) for one in properties if str(one.get("name")).endswith(_LICENSE_FILE)]
            yield str(component.get("name")), bool(component.get("licenses")), texts


def _check_artifact(wheel: Wheel, path: str, name: str, texts: list[str]) -> Iterator[Finding]:
    for text in texts:
        if not any(file == text or file.endswith(f"/{text}") for file in wheel.files) and not _has_devel(wheel):
            yield NO_TEXT.finding(wheel.filename, path, f"{name} has the licence text {text}")


def _has_devel(wheel: Wheel) -> bool:
    """Whether the tree of the wheel is in an archive, which has the texts."""
    return any(file.rpartition("/")[2].startswith("_devel.tar") for file in wheel.files)
