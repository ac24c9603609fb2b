"""Which directories an ELF file of a package tells the loader to search."""

import posixpath
from collections.abc import Iterable

from lib.common.program import ToolError
from lib.elf.model import after_origin

ORIGIN = "$ORIGIN"


def check_searched(package: str, searched: Iterable[str], trees: Iterable[str]) -> None:
    """Raise ToolError for a directory that is not `tree/directory` in one of the trees that are installed together.

    The loader would search it for nothing, or outside site-packages; and to it, `$` and `:` mean something.
    """
    known = sorted(set(trees))
    for entry in searched:
        in_tree = any(entry == tree or entry.startswith(f"{tree}/") for tree in known)
        if not in_tree or ".." in entry.split("/") or {"$", ":"} & set(entry):
            raise ToolError(
                f"package {package}: rpath has {entry!r}; expected TREE/DIRECTORY without `..`, `$` and `:`, where "
                f"TREE is {' or '.join(known)}, the tree of this package or of one in `builds_on`. Correct it, or add "
                "the package whose tree is meant to `builds_on`"
            )


def origin_relative(tree: str, path: str, searched: str) -> str:
    """Return the RPATH entry that leads a file to a directory.

    `tree` and `path` say where the file is, `searched` (`tree/directory`) where the
    libraries are; both trees are siblings in one site-packages.
    """
    here = posixpath.join(tree, posixpath.dirname(path))
    relative = posixpath.relpath(searched, here)
    return ORIGIN if relative == "." else f"{ORIGIN}/{relative}"


def directory_of(tree: str, path: str, entry: str) -> str | None:
    """Return the directory that an entry means for the file at `tree/path`, as `tree/directory`.

    None if it does not move with the file.
    """
    rest = _behind_origin(entry)
    return None if rest is None else posixpath.normpath(posixpath.join(tree, posixpath.dirname(path), rest))


def _behind_origin(entry: str) -> str | None:
    """Return the path behind $ORIGIN in normal form, in which `..` stays; None for another entry."""
    rest = after_origin(entry)
    return None if rest is None else posixpath.normpath(rest.lstrip("/"))


def is_relocatable(entry: str) -> bool:
    """Whether an entry moves with the file: all others name a directory of the build machine, or the current one."""
    return after_origin(entry) is not None


def extended(existing: tuple[str, ...], wanted: list[str]) -> tuple[str, ...]:
    """Append the wanted entries to those that a file has and that move with it, without repeating any."""
    result: list[str] = []
    for entry in [entry for entry in existing if is_relocatable(entry)] + wanted:
        if _behind_origin(entry) not in map(_behind_origin, result):
            result.append(entry)
    return tuple(result)
