"""Paths inside trees: relative, with `/`, as manifests, archives and wheels have them."""

import posixpath
from collections.abc import Iterator


def directories_above(path: str) -> Iterator[str]:
    """Yield the directories above a relative path, the nearest first: `lib/a` and `lib` for `lib/a/b.so`."""
    while path := posixpath.dirname(path):
        yield path
