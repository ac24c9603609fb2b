"""Decides the conditions of CMake's `if`, where they can be decided.

    evaluate(words, answers)  # True, False, or None: only a run of CMake would tell

A condition is undecided if it depends on an unknown value, or on something that this reader does not look at: `MATCHES`
and its regular expressions, policies, the times of files. `NOT` of it is undecided, too; `AND` and `OR` are
decided if one side is enough.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from tools.fetch.prefix.cmake_syntax import CMakeError
from tools.fetch.prefix.cmake_values import constant_truth, is_unknown, split_list

_UNARY: Final = frozenset(
    {"COMMAND", "DEFINED", "EXISTS", "IS_ABSOLUTE", "IS_DIRECTORY", "IS_EXECUTABLE", "IS_READABLE"}
    | {"IS_SYMLINK", "IS_WRITABLE", "POLICY", "TARGET", "TEST"}
)
_ORDERS: Final[dict[str, Callable[[int], bool]]] = {
    "LESS": lambda order: order < 0,
    "GREATER": lambda order: order > 0,
    "EQUAL": lambda order: order == 0,
    "LESS_EQUAL": lambda order: order <= 0,
    "GREATER_EQUAL": lambda order: order >= 0,
}
_BINARY: Final = frozenset(
    {"MATCHES", "IN_LIST", "IS_NEWER_THAN", "PATH_EQUAL", *_ORDERS}
    | {f"{kind}{order}" for kind in ("STR", "VERSION_") for order in _ORDERS}
)
MAX_DEPTH: Final = 100


@dataclass(frozen=True)
class Word:
    """A word of a condition, its references replaced. Only one without quotes can name an operator or a variable."""

    text: str
    quoted: bool


@dataclass(frozen=True)
class Answers:
    """What a condition may ask for, by name or path. `value` returns None for a variable that is not set."""

    value: Callable[[str], str | None]
    exists: Callable[[str], bool]
    is_directory: Callable[[str], bool]
    is_target: Callable[[str], bool]
    is_command: Callable[[str], bool | None]


class _Evaluation:
    """Reads the words of one condition from left to right."""

    def __init__(self, words: Sequence[Word], answers: Answers) -> None:
        self._words = words
        self._answers = answers
        self._at = 0
        self._depth = 0

    def run(self) -> bool | None:
        if not self._words:
            raise CMakeError("if() without a condition; expected one")
        result = self._any()
        if self._at < len(self._words):
            raise CMakeError(f"if(): {self._words[self._at].text!r}: expected AND, OR or the end of the condition")
        return result

    def _is(self, *operators: str) -> bool:
        word = self._words[self._at] if self._at < len(self._words) else None
        return word is not None and not word.quoted and word.text in operators

    def _next(self, after: str) -> Word:
        if self._at >= len(self._words):
            raise CMakeError(f"if(): nothing after {after}; expected a value")
        self._at += 1
        return self._words[self._at - 1]

    def _any(self) -> bool | None:
        result = self._all()
        while self._is("OR"):
            self._at += 1
            other = self._all()
            result = True if result or other else None if result is None or other is None else False
        return result

    def _all(self) -> bool | None:
        result = self._not()
        while self._is("AND"):
            self._at += 1
            other = self._not()
            result = False if result is False or other is False else None if result is None or other is None else True
        return result

    def _not(self) -> bool | None:
        negated = False
        while self._is("NOT"):
            self._at += 1
            negated = not negated
        result = self._test()
        return result if result is None or not negated else not result

    def _test(self) -> bool | None:
        word = self._next("if(")
        if word.text == "(" and not word.quoted:
            return self._group()
        if not word.quoted and word.text in _UNARY and self._at < len(self._words) and not self._is("AND", "OR", ")"):
            return self._unary(word.text, self._next(word.text).text)
        if self._is(*_BINARY):
            operator = self._next("").text
            return self._binary(word, operator, self._next(operator))
        return self._truth(word)

    def _group(self) -> bool | None:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise CMakeError(f"if(): parentheses within parentheses; expected at most {MAX_DEPTH} levels")
        result = self._any()
        if not self._is(")"):
            raise CMakeError("if(): a parenthesis has no end; expected )")
        self._at += 1
        self._depth -= 1
        return result

    def _unary(self, operator: str, operand: str) -> bool | None:
        if is_unknown(operand):
            return None
        if operator == "DEFINED":
            return self._is_defined(operand)
        if operator == "IS_ABSOLUTE":
            return operand.startswith("/")
        decided = {
            "EXISTS": self._answers.exists,
            "IS_DIRECTORY": self._answers.is_directory,
            # A file of a package is where it was installed: links are how this prefix was made.
            "IS_SYMLINK": lambda _: False,
            "TARGET": self._answers.is_target,
            "COMMAND": self._answers.is_command,
        }.get(operator)
        return decided(operand) if decided else None

    def _is_defined(self, name: str) -> bool | None:
        if name.startswith(("ENV{", "CACHE{")):
            return False
        value = self._answers.value(name)
        return None if value is not None and is_unknown(value) else value is not None

    def _binary(self, left: Word, operator: str, right: Word) -> bool | None:
        first = self._value(left)
        second = self._answers.value(right.text) or "" if operator == "IN_LIST" else self._value(right)
        if is_unknown(first) or is_unknown(second) or operator in ("MATCHES", "IS_NEWER_THAN"):
            return None
        if operator == "IN_LIST":
            return first in split_list(second)
        if operator == "PATH_EQUAL":
            return first == second
        if operator.startswith("STR"):
            return _ORDERS[operator.removeprefix("STR")]((first > second) - (first < second))
        if operator.startswith("VERSION_"):
            return _ORDERS[operator.removeprefix("VERSION_")](_compare(_version(first), _version(second)))
        try:
            return _ORDERS[operator](_compare([float(first)], [float(second)]))
        except ValueError:
            return False

    def _value(self, word: Word) -> str:
        """Return the value of an operand: that of the variable, if it names one."""
        value = None if word.quoted else self._answers.value(word.text)
        return word.text if value is None else value

    def _truth(self, word: Word) -> bool | None:
        if is_unknown(word.text):
            return None
        if (constant := constant_truth(word.text)) is not None:
            return constant
        value = None if word.quoted else self._answers.value(word.text)
        if value is not None and is_unknown(value):
            return None
        return value is not None and constant_truth(value) is not False


def _version(text: str) -> list[float]:
    numbers: list[float] = []
    for part in text.split("."):
        digits = part[: len(part) - len(part.lstrip("0123456789"))]
        numbers.append(float(digits[:300] or 0))
        if digits != part:
            break
    while numbers and not numbers[-1]:
        numbers.pop()
    return numbers


def _compare(left: list[float], right: list[float]) -> int:
    return (left > right) - (left < right)


def evaluate(words: Sequence[Word], answers: Answers) -> bool | None:
    """Decide a condition; None if it is undecided. Raises CMakeError if it is malformed."""
    return _Evaluation(words, answers).run()
