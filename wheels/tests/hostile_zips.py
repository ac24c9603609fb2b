"""Reads `hostile_zips.tsv`: how installers and the package index treat each kind of hostile archive."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from develop.testing.wheel_sample import Sample

#: The wheel that is damaged, and the member.
SAMPLE: Final = Sample(
    {"acme/__init__.py": b"x = 1\n" * 20, "acme/data.txt": b"some text" * 30}, name="acme", tag="py3-none-any"
)
VICTIM: Final = "acme/__init__.py"
#: Each installs the wheel, refuses it, or installs other files than zipfile reads (differs).
INSTALLERS: Final = ("pip", "uv", "uv-http")
#: Accepts or refuses the wheel.
INDEX: Final = "index"
COLUMNS: Final = (*INSTALLERS, INDEX)
_TABLE: Final = Path(__file__).with_name("hostile_zips.tsv")


def read_answers() -> dict[str, dict[str, str]]:
    """Return for each kind what each judge says."""
    lines = (line.split("\t") for line in _TABLE.read_text(encoding="utf-8").splitlines()[1:])
    return {kind: dict(zip(COLUMNS, answers, strict=True)) for kind, *answers in lines}


def write_answers(found: Mapping[str, Mapping[str, str]]) -> None:
    """Write the table."""
    lines = [("kind", *COLUMNS), *((kind, *(answers[one] for one in COLUMNS)) for kind, answers in found.items())]
    _TABLE.write_text("".join("\t".join(line) + "\n" for line in lines), encoding="utf-8")
