"""What people read is plain English: the rules of CONTRIBUTING.md ("Writing") that a program can check.

Linters for prose exist, but not as a wheel that works without a network: Vale's downloads a program, proselint needs
compiled code for one interpreter. Tables and code are not prose, and are not checked for the length of sentences.
`messages_test.py` checks the phrases of messages.
"""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.lint.workspace import WORKSPACE, sources

#: Words of a sentence, at most. CONTRIBUTING asks for 30; some enumerate.
LONGEST: Final = 45

#: Phrases that native speakers stumble over -> what to write.
PHRASES: Final = {
    r"\bwithout a look at\b": "without reading",
    r"\bhas? a look at\b": "reads, looks at",
    r"\bthe like of\b": "such as",
    r"\band the like\b": "and similar ones, or name them",
    r"\bis no matter of\b": "does not matter for, or does not depend on",
    r"\bin silence\b": "without a message",
    r"\bpage for people\b": "landing page",
    r"\bis let be\b": "is allowed",
    r"\bof one's own\b": "your own",
    r"\bof ours\b": "our",
    r"\ban error it is\b": "an error",
    r"\bwants? (?:its|a|an|the|to be)\b": "needs",
    r"\bare meant by\b": "mean, or match",
    r"\bwhat \w+ wants\b": "needs",
    r"\bto that end\b": "so",
    r"\bwill do,? too\b": "also works",
    r"\bin place of\b": "instead of",
    r"\ba defect\b": "a bug",
    r"\bbut for\b": "except",
    r"\bis to be (?:named|had|said)\b": "say who does it",
    r"\bmay not be meant\b": "may be a mistake",
    r"\bas it comes\b": "unmodified",
    r"\bof others\b": "third-party, or name them",
    r"\b(?:it|that|which) is none\b": "is not a … (name it again)",
    r"\ball but\b": "all except",
    r"\bin turn\b": "one after the other, or leave it out",
    r"\ba \w+ more\b": "one more …",
    r"\b(?:that|those) of\b": "name the thing again",
    r"\bone that\b": "a … that: name the thing again",
    r"\bby which\b": "with which, or how",
}
#: What defines the phrases.
HERE: Final = "tests/lint/prose_test.py"
CODE: Final = [path for path in sources(".py", ".bzl", ".bazel") if path != HERE]

PAGES: Final = sorted(
    path.relative_to(WORKSPACE).as_posix()
    for pattern in ("*.md", "docs/**/*.md", "examples/*/*.md")
    for path in WORKSPACE.glob(pattern)
)


def prose(text: str) -> str:
    """Return the text of a page without code, tables, headlines and pictures; list items are paragraphs."""
    text = re.sub(r"<!-- rules:.*?<!-- end of rules -->", "", text, flags=re.DOTALL)
    text = re.sub(r"^ *```.*?^ *```$", "", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"^(?: {4}|\||#|!\[|<!--).*$", "\n", text, flags=re.MULTILINE)
    text = re.sub(r"^ *(?:[-*]|\d+\.) ", "\n\n", text, flags=re.MULTILINE)
    return re.sub(r"\]\([^)]*\)", "]", re.sub(r"`[^`]*`", "`", text))


def sentences(text: str) -> list[str]:
    """Split prose into sentences, by paragraphs first."""
    paragraphs = (" ".join(paragraph.split()) for paragraph in re.split(r"\n\s*\n", prose(text)))
    return [sentence for one in paragraphs for sentence in re.split(r"(?<=[.:!?;])\s+", one) if sentence]


@pytest.mark.parametrize("page", PAGES)
def test_no_sentence_is_too_long(page: str) -> None:
    found = sentences((WORKSPACE / page).read_text(encoding="utf-8"))
    assert [one for one in found if len(one.split()) > LONGEST] == [], f"more than {LONGEST} words: split them"


@pytest.mark.parametrize("page", PAGES)
def test_no_phrase_that_readers_stumble_over(page: str) -> None:
    text = " ".join(prose((WORKSPACE / page).read_text(encoding="utf-8")).split())
    matches = {phrase: re.search(phrase, text, re.IGNORECASE) for phrase in PHRASES}
    found = [f"{match[0]!r}: write {PHRASES[phrase]!r}" for phrase, match in matches.items() if match]
    assert found == [], page


def remarks(text: str) -> Iterator[str]:
    """Yield the docstrings and comments of a program, in Python or Starlark; comments of consecutive lines are one."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.value.value
    blocks: dict[int, str] = {}  # line that a block ends in -> its text
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            line, comment = token.start[0], token.string.lstrip("#: ")
            blocks[line] = f"{blocks.pop(line - 1)} {comment}" if line - 1 in blocks else comment
    yield from blocks.values()


@pytest.mark.parametrize("path", CODE)
def test_no_phrase_in_comments_and_docstrings(path: str) -> None:
    found = [
        f"{match[0]!r}: write {instead!r}"
        for text in remarks((WORKSPACE / path).read_text(encoding="utf-8"))
        for phrase, instead in PHRASES.items()
        if (match := re.search(phrase, " ".join(text.split()), re.IGNORECASE))
    ]
    assert found == [], path


def test_what_is_a_remark() -> None:
    text = '"""A."""\nx = "b"  # in\n# turn\n\n#: Of others.\ndef f():\n    """C\n    d."""\n'
    assert list(remarks(text)) == ["A.", "C\n    d.", "in turn", "Of others."]


def test_what_is_prose() -> None:
    text = "# A\n\nOne `a.b` is\nit. Two.\n\n| a | b |\n\n- three\n- [four](x.md)\n\n```sh\ncode\n```\n    more\n"
    assert sentences(text) == ["One ` is it.", "Two.", "three", "[four]"]


def test_links_lead_somewhere() -> None:
    broken = []
    for page in PAGES:
        text = (WORKSPACE / page).read_text(encoding="utf-8")
        for target in re.findall(r"\]\(([^)#:]*)(?:#[^)]*)?\)", text):
            if target and not Path(WORKSPACE, page).parent.joinpath(target).exists():
                broken.append(f"{page}: {target}")
    assert broken == []


def test_anchors_are_headlines() -> None:
    broken = []
    for page in PAGES:
        text = (WORKSPACE / page).read_text(encoding="utf-8")
        for target, anchor in re.findall(r"\]\(([^)#:]*)#([^)]*)\)", text):
            other = Path(WORKSPACE, page).parent.joinpath(target) if target else WORKSPACE / page
            if other.suffix == ".md" and anchor not in _anchors(other.read_text(encoding="utf-8")):
                broken.append(f"{page}: {target}#{anchor}")
    assert broken == []


def test_files_and_modules_that_pages_name_are_there() -> None:
    missing = []
    for page in PAGES:
        text = (WORKSPACE / page).read_text(encoding="utf-8")
        named = re.findall(
            r"`((?:develop|docs|examples|hip|packaging|rules|tests|tools)/[\w./-]+|lib/\w+/\w+\.py|wheels/\w+/\w+\.py)`",
            text,
        )
        named += [
            f"{module.replace('.', '/')}.py" for module in re.findall(r"python3 (?:-B )?-m (tests[\w.]+\w)", text)
        ]
        missing += [f"{page}: {name}" for name in named if not (WORKSPACE / name).exists()]
    assert missing == []


def _anchors(text: str) -> set[str]:
    """Return the anchors that GitHub makes of a page's headlines."""
    headlines = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", headline.lower()).replace(" ", "-") for headline in headlines}
