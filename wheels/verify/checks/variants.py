"""W117: a wheel variant is what its label says (PEP 825, provisional)."""

from collections.abc import Iterator

from lib.wheel.variant_format import VARIANT_JSON, variants_in
from wheels.verify.finding import Finding, Rule
from wheels.verify.model import Wheel
from wheels.verify.settings import Settings

VARIANT = Rule(
    "W117",
    "a wheel's label and its variant.json do not agree",
    why="Installers that know wheel variants choose by both: the label is the last part of the file name, and "
    "variant.json in .dist-info says what it stands for (PEP 825, provisional).",
    remedy="Build the wheel again, or give it the name that it had.",
)


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
    if not wheel.label:
        yield VARIANT.finding(wheel.filename, path, "is there; the file name has no label")
        return
    try:
        labels = list(variants_in(content))
    except ValueError as error:
        yield VARIANT.finding(wheel.filename, path, str(error))
        return
    if labels != [wheel.label]:
        said = ", ".join(labels) or "none"
        yield VARIANT.finding(wheel.filename, path, f"says the label {said}; the file name has {wheel.label}")
