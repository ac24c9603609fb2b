"""Searches the bytes of a file for secrets and build paths.

    search = Search(settings.build_paths)
    for chunk in chunks: search.feed(chunk)
    found = search.finish()

Everything begins with fixed text, which is found nearly at the speed of memory; only then an expression is tried.
"""

import functools
import re
from dataclasses import dataclass
from typing import Final

#: No match is longer, in bytes: so many are kept of what was fed before.
LONGEST: Final = 512
#: So many matches of a kind are kept per file.
MAX_FOUND: Final = 20
#: Stands behind a word, unlike all other anchors.
URL: Final = b"://"
#: Well-known forms of credentials: what they are, how they begin, the expression.
SECRETS: Final = (
    ("private key", b"-----BEGIN ", rb"-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY-----(?:\r?\n|\\n)[\w+/=:, -]{16}"),
    ("AWS access key", b"AKIA", rb"AKIA[0-9A-Z]{16}(?![0-9A-Za-z])"),
    ("GitHub token", b"ghp_", rb"ghp_(?=[A-Za-z]{0,35}[0-9])[0-9A-Za-z]{36}(?![0-9A-Za-z])"),
    ("GitHub token", b"ghs_", rb"ghs_(?=[A-Za-z]{0,35}[0-9])[0-9A-Za-z]{36}(?![0-9A-Za-z])"),
    ("GitHub token", b"github_pat_", rb"github_pat_[0-9A-Za-z]{22}_[0-9A-Za-z]{59}"),
    ("GitLab token", b"glpat-", rb"glpat-[\w-]{20}(?![\w-])"),
    ("PyPI token", b"pypi-AgE", rb"pypi-AgE[\w-]{60}"),
    ("Hugging Face token", b"hf_", rb"hf_[A-Za-z]{34}(?![0-9A-Za-z])"),
    ("Slack token", b"xoxb-", rb"xoxb-\d{10,13}-\d{10,13}-[0-9A-Za-z]{24}"),
    ("URL with password", URL, rb"://[\w.%+-]{1,64}:[^\s/@:\"'<>{}$%\0]{6,64}@[\w-]+(?:\.[\w-]+)+"),
)
_WORD: Final = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.$}")
_META: Final = frozenset(r"\.^$*+?{}[]|()")


@dataclass(frozen=True)
class Match:
    """Text that was found; `offset` says where its first byte is in the file."""

    kind: str
    offset: int
    text: str


@dataclass(frozen=True)
class Strings:
    """What a search found, each kind by offset."""

    secrets: tuple[Match, ...] = ()
    build_paths: tuple[Match, ...] = ()


@dataclass(frozen=True)
class _Secret:
    kind: str
    anchor: bytes
    expression: re.Pattern[bytes]


def fixed_prefix(expression: str) -> str:
    """Return the fixed text that every match of a regular expression begins with."""
    end = next((at for at, char in enumerate(expression) if char in _META), len(expression))
    return expression[: end - 1] if expression[end : end + 1] in tuple("*?{") else expression[:end]


@functools.cache
def _secrets() -> tuple[_Secret, ...]:
    return tuple(_Secret(kind, anchor, re.compile(text)) for kind, anchor, text in SECRETS)


@functools.cache
def _together(expressions: tuple[str, ...]) -> tuple[re.Pattern[bytes], ...]:
    """Make one expression of those that begin with one character: `re` searches for a single one the fastest."""
    groups: dict[str, list[str]] = {}
    for text in expressions:
        groups.setdefault(fixed_prefix(text)[0], []).append(text[1:])
    return tuple(re.compile(f"{first}(?:{'|'.join(rest)})".encode()) for first, rest in groups.items())


def _is_inside_word(window: bytes, at: int) -> bool:
    return at > 0 and window[at - 1] in _WORD


class Search:
    """Takes the bytes of one file in order; see the module."""

    def __init__(self, build_paths: tuple[str, ...]) -> None:
        self._secrets = _secrets()
        self._paths = _together(build_paths)
        self._tail = b""
        self._position = 0
        self._found: dict[tuple[str, int], str] = {}
        self._counts: dict[str, int] = {}

    def feed(self, data: bytes) -> None:
        """Take the next bytes."""
        window = self._tail + data
        start = self._position - len(self._tail)
        for secret in self._secrets:
            at = window.find(secret.anchor)
            while at >= 0:
                match = secret.expression.match(window, at)
                if match and (secret.anchor == URL or not _is_inside_word(window, at)):
                    self._keep(secret.kind, start, match)
                at = window.find(secret.anchor, at + 1)
        for expression in self._paths:
            for match in expression.finditer(window):
                if not _is_inside_word(window, match.start()):
                    self._keep("", start, match)
        self._position += len(data)
        self._tail = window[-LONGEST:]

    def skip(self, position: int) -> None:
        """Go on at another position: what was fed before is not continued there."""
        self._tail, self._position = b"", position

    def _keep(self, kind: str, start: int, match: re.Match[bytes]) -> None:
        """Remember a match; a match that the end of a chunk cut off is longer when it is seen again."""
        key = (kind, start + match.start())
        count = self._counts.get(kind, 0)
        if key in self._found or count < MAX_FOUND:
            self._counts[kind] = count + (key not in self._found)
            self._found[key] = match[0].decode("ascii", "backslashreplace")

    def finish(self) -> Strings:
        """Return what was found."""
        matches = [Match(kind, offset, text) for (kind, offset), text in sorted(self._found.items())]
        matches.sort(key=lambda match: match.offset)
        return Strings(
            tuple(match for match in matches if match.kind),
            tuple(match for match in matches if not match.kind),
        )
