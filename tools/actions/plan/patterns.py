"""Glob patterns over paths, with `**` for any number of directories."""

import functools
import re


@functools.cache
def _compiled(pattern: str) -> re.Pattern[str]:
    expression = re.escape(pattern)
    expression = expression.replace(r"\*\*/", "(?:.*/)?").replace(r"/\*\*", "/.*").replace(r"\*\*", ".*")
    return re.compile(expression.replace(r"\*", "[^/]*").replace(r"\?", "[^/]"))


def matches(path: str, patterns: tuple[str, ...]) -> str | None:
    """Return the first pattern that the whole path matches."""
    return next((pattern for pattern in patterns if _compiled(pattern).fullmatch(path)), None)
