"""Each line of the pages on what stops the build, and on what doctor finds, has a test: documented.toml names it.

The page on doctor has all names of findings, and their severities.
"""

import re
import tomllib
from pathlib import Path
from typing import Final

import pytest

from tests.lint.workspace import WORKSPACE

SHOWN_BY: Final[dict[str, dict[str, str]]] = tomllib.loads(
    Path(__file__).with_name("documented.toml").read_text(encoding="utf-8")
)
#: Where the tables of a page begin, if not all of them are meant.
HEADLINES: Final = {"docs/reference/packages.md": "\n## What stops the build, and what is noted\n"}
DOCTOR_PAGE: Final = "docs/using/doctor.md"
DOCTOR: Final = "packaging/rocm/src/rocm_sdk/doctor"


def rows(page: str) -> list[list[str]]:
    """Return the cells of all tables of a page, or of those below its headline."""
    text = (WORKSPACE / page).read_text(encoding="utf-8")
    if headline := HEADLINES.get(page):
        text = text.partition(headline)[2].partition("\n## ")[0]
    cells = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")]
    return [row for row in cells if row[0] != "what"]


@pytest.mark.parametrize("page", SHOWN_BY)
def test_every_line_has_a_test(page: str) -> None:
    assert [row[0] for row in rows(page)] == list(SHOWN_BY[page])


@pytest.mark.parametrize("page", SHOWN_BY)
def test_every_test_is_there(page: str) -> None:
    for line, test in SHOWN_BY[page].items():
        file, _, name = test.partition("::")
        text = (WORKSPACE / file).read_text(encoding="utf-8")
        words = f"def {name}(" if file.endswith(".py") else f'{name}"'
        assert words in text, f"{line}: {test}"


def test_the_page_has_all_names_of_findings() -> None:
    sources = [*sorted((WORKSPACE / DOCTOR).glob("*.py")), WORKSPACE / DOCTOR / "../device_code.py"]
    text = "".join(path.read_text(encoding="utf-8") for path in sources)
    named = set(re.findall(r'Finding\(\s*"(\w+)"', text))
    assert {row[1].strip("`") for row in rows(DOCTOR_PAGE)} == named


def test_the_page_has_all_severities() -> None:
    assert {row[2] for row in rows(DOCTOR_PAGE)} == {"problem", "warning", "note"}
