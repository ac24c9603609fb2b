"""W117, S139: a wheel variant is what its label says, and all variants of a version agree (PEP 825, provisional)."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from packaging.utils import NormalizedName
from packaging.version import Version

from lib.variants.variant_format import VARIANT_JSON, index_name, variants_in
from wheels.verify.finding import Finding, Rule
from wheels.verify.model import DistributionSet, Wheel
from wheels.verify.settings import Settings

VARIANT = Rule(
    "W117",
    "a wheel's label and its variant.json do not agree",
    why="Installers that know wheel variants choose by both: the label is the last part of the file name, and "
    "variant.json in .dist-info says what it stands for (PEP 825, provisional).",
    remedy="Build the wheel again, or give it the name that it had.",
)
DISAGREE = Rule(
    "S139",
    "wheel variants of one version do not agree",
    why="A label must have the same properties in all wheels of a version, and in the list of variants that "
    "installers read (PEP 825, provisional).",
    remedy="Build all variants of the version together, and publish the list that was written with them.",
)
#: A bigger list is something else.
MAX_SIZE: Final = 1 << 20


def _read(content: bytes) -> Mapping[str, object] | str:
    """Return the properties of each label, or what is wrong."""
    try:
        return variants_in(content)
    except ValueError as error:
        return str(error)


def check(wheel: Wheel, settings: Settings) -> Iterator[Finding]:
    """Compare the label with variant.json."""
    del settings
    if wheel.dist_info is None or wheel.name is None:
        return  # W115 and W301 say so.
    path, content = f"{wheel.dist_info}/{VARIANT_JSON}", wheel.text(VARIANT_JSON)
    if content is None:
        if wheel.label:
            yield VARIANT.finding(wheel.filename, path, f"there is none; the label is {wheel.label}")
        return
    found = _read(content)
    if not wheel.label:
        yield VARIANT.finding(wheel.filename, path, "is there; the file name has no label")
    elif isinstance(found, str):
        yield VARIANT.finding(wheel.filename, path, found)
    elif list(found) != [wheel.label]:
        said = ", ".join(found) or "none"
        yield VARIANT.finding(wheel.filename, path, f"says the label {said}; the file name has {wheel.label}")


def check_set(distributions: DistributionSet, settings: Settings) -> Iterator[Finding]:
    """Compare the variants of each version with each other, and with the list beside them."""
    del settings
    versions: dict[tuple[Path, NormalizedName, Version], list[tuple[Wheel, object]]] = {}
    for wheel in distributions.wheels:
        content = wheel.text(VARIANT_JSON) if wheel.label else None
        found = _read(content) if content is not None else ""
        if wheel.name and wheel.version and not isinstance(found, str) and wheel.label in found:
            key = wheel.path.parent, wheel.name, wheel.version
            versions.setdefault(key, []).append((wheel, found[wheel.label]))
    for (folder, name, version), wheels in versions.items():
        yield from _compare(wheels)
        path = folder / index_name(name, version)
        if path.is_file():
            yield from _compare_list(path, wheels)


def _compare(wheels: list[tuple[Wheel, object]]) -> Iterator[Finding]:
    first: dict[str, tuple[Wheel, object]] = {}
    for wheel, properties in wheels:
        other, expected = first.setdefault(wheel.label, (wheel, properties))
        if properties != expected:
            evidence = f"{_said(wheel, properties)}; {other.filename} says {json.dumps(expected)}"
            yield DISAGREE.finding(wheel.filename, "", evidence)


def _compare_list(path: Path, wheels: list[tuple[Wheel, object]]) -> Iterator[Finding]:
    """Compare with the list. It may have further labels, of wheels that are not in the set."""
    listed = _read(path.read_bytes()) if path.stat().st_size <= MAX_SIZE else f"is larger than {MAX_SIZE} bytes"
    for wheel, properties in wheels:
        if isinstance(listed, str):
            yield DISAGREE.finding(wheel.filename, "", f"the list of variants, {path.name}, {listed}")
        elif wheel.label not in listed:
            yield DISAGREE.finding(wheel.filename, "", f"{path.name} does not list the label {wheel.label}")
        elif listed[wheel.label] != properties:
            evidence = f"{_said(wheel, properties)}; {path.name} says {json.dumps(listed[wheel.label])}"
            yield DISAGREE.finding(wheel.filename, "", evidence)


def _said(wheel: Wheel, properties: object) -> str:
    return f"its {VARIANT_JSON} says {json.dumps(properties)} of {wheel.label}"
