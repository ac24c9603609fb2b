"""Evaluates CMake's generator expressions as a C++ program of a Linux machine sees an installed package.

    evaluated("$<$<COMPILE_LANGUAGE:HIP>:-DX>;$<LINK_ONLY:dl>")  # ";dl"

So `COMPILE_LANGUAGE` and `LINK_LANGUAGE` are CXX: what is meant for HIP sources alone is left out. The configuration is
Release. An expression that tells of something else, such as the compiler, becomes UNKNOWN.
"""

import re
from collections.abc import Callable, Sequence
from typing import Final

from tools.fetch.prefix.cmake_syntax import CMakeError
from tools.fetch.prefix.cmake_values import UNKNOWN, constant_truth, is_unknown
from tools.fetch.prefix.prefix_files import ROOT

LANGUAGE: Final = "CXX"
MAX_DEPTH: Final = 50
_TEXT: Final = re.compile(r"[^$>:,]+")


def _flag(value: bool) -> str:
    return str(int(value))


def _is_one_of(wanted: str) -> Callable[[Sequence[str]], str]:
    """Return a test for a value in a list, without regard to case. Without a list it is a question for the value."""
    return lambda arguments: _flag(wanted.lower() in map(str.lower, arguments)) if arguments else wanted


def _of_language(arguments: Sequence[str]) -> str:
    """Evaluate COMPILE_LANG_AND_ID: the compiler is unknown, so that only another language decides it."""
    return UNKNOWN if arguments[:1] == [LANGUAGE] else "0"


def _joined(arguments: Sequence[str]) -> str:
    return ",".join(arguments)


_FUNCTIONS: Final[dict[str, Callable[[Sequence[str]], str]]] = {
    "0": lambda _: "",
    "1": _joined,
    "BOOL": lambda arguments: _flag(constant_truth(_joined(arguments)) is not False),
    "NOT": lambda arguments: {"0": "1", "1": "0"}.get(_joined(arguments), UNKNOWN),
    "AND": lambda arguments: _flag(all(one == "1" for one in arguments)),
    "OR": lambda arguments: _flag("1" in arguments),
    "IF": lambda arguments: (
        UNKNOWN if len(arguments) != 3 or is_unknown(arguments[0]) else arguments[1 if arguments[0] == "1" else 2]
    ),
    "STREQUAL": lambda arguments: _flag(len(arguments) == 2 and arguments[0] == arguments[1]),
    "CONFIG": _is_one_of("Release"),
    "PLATFORM_ID": _is_one_of("Linux"),
    "COMPILE_LANGUAGE": _is_one_of(LANGUAGE),
    "LINK_LANGUAGE": _is_one_of(LANGUAGE),
    "COMPILE_LANG_AND_ID": _of_language,
    "LINK_LANG_AND_ID": _of_language,
    "BUILD_INTERFACE": lambda _: "",
    "BUILD_LOCAL_INTERFACE": lambda _: "",
    "INSTALL_INTERFACE": _joined,
    "LINK_ONLY": _joined,
    "TARGET_NAME": _joined,
    "INSTALL_PREFIX": lambda _: ROOT,
    "COMMA": lambda _: ",",
    "SEMICOLON": lambda _: ";",
    "ANGLE-R": lambda _: ">",
}
#: What is known although one of the arguments is not.
_DECISIVE: Final = {"0": "", "BUILD_INTERFACE": "", "BUILD_LOCAL_INTERFACE": ""}


class _Evaluation:
    """Reads a text from left to right."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._depth = 0

    def until(self, stops: str) -> str:
        """Evaluate up to one of the characters `stops`, or to the end."""
        parts: list[str] = []
        while self._at < len(self._text) and self._text[self._at] not in stops:
            if self._text.startswith("$<", self._at):
                self._at += 2
                parts.append(self._expression())
            elif text := _TEXT.match(self._text, self._at):
                parts.append(text[0])
                self._at = text.end()
            else:
                parts.append(self._text[self._at])
                self._at += 1
        return "".join(parts)

    def _expression(self) -> str:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise CMakeError(f"more than {MAX_DEPTH} generator expressions within each other")
        name = self.until(":>")
        arguments: list[str] = []
        while self._at < len(self._text) and self._text[self._at] != ">":
            self._at += 1
            arguments.append(self.until(",>"))
        if self._at >= len(self._text):
            raise CMakeError(f"{self._text[:80]!r}: a generator expression has no end; expected >")
        self._at += 1
        self._depth -= 1
        return _result(name, arguments)


def _result(name: str, arguments: Sequence[str]) -> str:
    if any(map(is_unknown, (name, *arguments))):
        if (name, "0" in arguments) == ("AND", True) or (name, "1" in arguments) == ("OR", True):
            return _flag(name == "OR")
        return _DECISIVE.get(name, UNKNOWN)
    function = _FUNCTIONS.get(name)
    return function(arguments) if function else UNKNOWN


def evaluated(text: str) -> str:
    """Return a text with its generator expressions evaluated. Raises CMakeError if one has no end."""
    return _Evaluation(text).until("")
