"""Values of CMake: references to variables, lists, and what is true, where some of it cannot be known.

    expand("${_IMPORT_PREFIX}/include", variables)

What only a run of CMake would tell (the compiler, the output of a program) is `UNKNOWN`, one character in a value. Each
value made from it has it, too. So a condition, a path or a list element that depends on it can be told from others.
"""

import re
from collections.abc import Callable, Sequence
from typing import Final

from tools.fetch.prefix.cmake_syntax import CMakeError

UNKNOWN: Final = "\0"
#: Characters of a value. A file that doubles a variable again and again ends here.
MAX_VALUE: Final = 1 << 20
_ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r", "0": ""}
_OPENING: Final = re.compile(r"\$(ENV|CACHE|)\{")
_PLAIN: Final = re.compile(r"[^$\\}]+")
_TRUE: Final = frozenset({"1", "ON", "YES", "TRUE", "Y"})
_FALSE: Final = frozenset({"", "0", "OFF", "NO", "FALSE", "N", "IGNORE", "NOTFOUND"})

#: Returns the value of a variable, empty for one that is not set.
Lookup = Callable[[str], str]


def is_unknown(value: str) -> bool:
    """Whether a value, or a part of it, cannot be known."""
    return UNKNOWN in value


def expand(text: str, lookup: Lookup) -> str:
    """Replace references and escape sequences in an argument. The environment and the cache are empty.

    Raises CMakeError for a reference without end, and for a value that is too long.
    """
    frames: list[tuple[str, list[str]]] = [("", [])]
    at = size = 0
    while at < len(text):
        if plain := _PLAIN.match(text, at):
            frames[-1][1].append(plain[0])
            at = plain.end()
        elif opening := _OPENING.match(text, at):
            frames.append((opening[1], []))
            at = opening.end()
        elif text[at] == "}" and len(frames) > 1:
            space, parts = frames.pop()
            value = _referenced(space, "".join(parts), lookup)
            size += len(value)
            check_size(size)
            frames[-1][1].append(value)
            at += 1
        elif text[at] == "\\":
            frames[-1][1].append(_unescaped(text[at + 1 : at + 2]))
            at += 2
        else:
            frames[-1][1].append(text[at])
            at += 1
    if len(frames) > 1:
        raise CMakeError(f"{text!r}: a reference to a variable has no end; expected }}")
    value = "".join(frames[0][1])
    check_size(len(value))
    return value


def check_size(characters: int) -> None:
    """Raise CMakeError for a value that is too long."""
    if characters > MAX_VALUE:
        raise CMakeError(f"a value of {characters} characters or more; expected at most {MAX_VALUE}")


def _referenced(space: str, name: str, lookup: Lookup) -> str:
    if is_unknown(name):
        return UNKNOWN
    return "" if space else lookup(name)


def _unescaped(character: str) -> str:
    # An escaped semicolon separates nothing: it keeps its backslash until a list is split.
    return "\\;" if character == ";" else _ESCAPES.get(character, character)


def split_list(value: str, *, expressions: bool = False) -> list[str]:
    """Split a list at its semicolons, and leave empty elements out.

    With `expressions`, a generator expression stays whole, although it contains semicolons: so properties are split.
    """
    elements, current, depth, at = [], "", 0, 0
    while at < len(value):
        if value.startswith("\\;", at):
            current += ";"
            at += 2
            continue
        if expressions and value.startswith("$<", at):
            depth += 1
        elif depth and value[at] == ">":
            depth -= 1
        if value[at] == ";" and not depth:
            elements.append(current)
            current = ""
        else:
            current += value[at]
        at += 1
    return [element for element in [*elements, current] if element]


def join_list(elements: Sequence[str]) -> str:
    """Return elements as one value."""
    return ";".join(elements)


def constant_truth(value: str) -> bool | None:
    """Whether a constant is true or false (`if(<constant>)`); None if the value is no such constant."""
    upper = value.upper()
    if upper in _TRUE:
        return True
    if upper in _FALSE or upper.endswith("-NOTFOUND"):
        return False
    if re.fullmatch(r"[+-]?[0-9]+(?:\.[0-9]*)?", value):
        return float(value) != 0
    return None
