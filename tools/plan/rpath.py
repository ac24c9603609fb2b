"""Which directories an ELF file of a package tells the loader to search."""

import posixpath

ORIGIN = "$ORIGIN"


def origin_relative(tree: str, path: str, searched: str) -> str:
    """Return the RPATH entry by which a file finds a directory.

    `tree` and `path` say where the file is, `searched` (`tree/directory`) where the
    libraries are; both trees are siblings in one site-packages.
    """
    here = posixpath.join(tree, posixpath.dirname(path))
    relative = posixpath.relpath(searched, here)
    return ORIGIN if relative == "." else f"{ORIGIN}/{relative}"


def _normal(entry: str) -> str:
    """Return one spelling for all entries that mean the same; `..` behind $ORIGIN stays."""
    first, _, rest = entry.replace("${ORIGIN}", ORIGIN).partition("/")
    rest = posixpath.normpath(rest.lstrip("/"))
    return first if rest == "." else f"{first}/{rest}"


def is_relocatable(entry: str) -> bool:
    """Whether an entry moves with the file: all others name a directory of the build machine, or the current one."""
    return _normal(entry).split("/")[0] == ORIGIN


def extended(existing: tuple[str, ...], wanted: list[str]) -> tuple[str, ...]:
    """Append the wanted entries to those that a file has and that move with it, without repeating any."""
    result: list[str] = []
    for entry in [entry for entry in existing if is_relocatable(entry)] + wanted:
        if _normal(entry) not in [_normal(known) for known in result]:
            result.append(entry)
    return tuple(result)
