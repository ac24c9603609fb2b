"""The documentation stays short enough to be read: its words are counted, and its lines have one width.

A new section that goes beyond the limit has to replace another.
"""

import re
from typing import Final

import pytest

from tests.lint.workspace import WORKSPACE, sources

#: Words of all pages together that people wrote, at most.
WORDS: Final = 21_800
#: Characters of a line; rows of tables cannot be split.
WIDTH: Final = 130
GENERATED: Final = ("docs/reference/rules.md", "hip/docs/reference.md")
#: Folders of pages, one per door.
FOLDERS: Final = ("docs/", "hip/docs/", "wheels/")

PAGES: Final = [
    path
    for path in sources(".md")
    if path in ("README.md", "hip/README.md") or (path.startswith(FOLDERS) and path not in GENERATED)
]


def words(text: str) -> int:
    """Count what has a letter or a digit, also in tables and code; not in tables that a program writes."""
    written = re.sub(r"<!-- rules:.*?<!-- end of rules -->", "", text, flags=re.DOTALL)
    return sum(any(character.isalnum() for character in word) for word in written.split())


def wide(text: str) -> list[int]:
    """Return the numbers of the lines that are too wide."""
    lines = enumerate(text.splitlines(), 1)
    return [number for number, line in lines if len(line) > WIDTH and not line.startswith("|")]


def test_the_pages_have_few_words() -> None:
    counts = {page: words((WORKSPACE / page).read_text(encoding="utf-8")) for page in PAGES}
    assert sum(counts.values()) <= WORDS, sorted(counts.items(), key=lambda item: -item[1])


@pytest.mark.parametrize("page", PAGES)
def test_lines_have_one_width(page: str) -> None:
    assert wide((WORKSPACE / page).read_text(encoding="utf-8")) == []


def test_what_counts() -> None:
    assert words("One `a.b` - | two |\n|---|\n<!-- rules: a -->\n| three |\n<!-- end of rules -->\n") == 3
    assert wide(f"{'a' * 130}\n{'b' * 131}\n| {'c' * 131} |\n") == [2]
