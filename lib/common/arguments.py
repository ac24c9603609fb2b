"""Reads what a rule tells a program, into the fields of the program's own dataclass.

An argument is `--name=value`, or `--name` and then the value; `--license-pattern` is for the field `license_pattern`.
The field's type says what a value may be:

- `str`, `int`, `Path` and `Literal` take one value. `X | None` is None without one.
- `list[X]` and `tuple[X, ...]` take any number, in their order.
- `dict[str, X]` takes `KEY=VALUE`, split at the first `=`.
- `bool` takes none: the argument alone says True.

Only rules write these arguments. So what does not fit is a bug of a rule. Only a key that is
given twice may be a user's.
"""

import os
import types
from collections.abc import Callable, Iterator, Sequence
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from lib.common.program import ToolError, report_errors

T = TypeVar("T")


def run_program(kind: type[T], argv: Sequence[str], work: Callable[[T], None]) -> int:
    """Do the work of a program with its arguments; return its exit code, as `report_errors` does.

    The argument `--label` names the Bazel target, also in errors of other arguments.
    """
    lines = list(_lines(argv))
    label = next((line.partition("=")[2] for line in lines if line.startswith("--label=")), kind.__module__)
    return report_errors(label, lambda: work(_read(kind, lines)))


def read_arguments(kind: type[T], argv: Sequence[str]) -> T:
    """Return what a command line says; `@FILE` in it is a params file, with one argument a line.

    Raises ToolError for an argument that fits no field, and for a field without its argument.
    """
    return _read(kind, list(_lines(argv)))


def _lines(argv: Sequence[str]) -> Iterator[str]:
    for argument in argv:
        if argument.startswith("@"):
            text = os.fsdecode(Path(argument[1:]).read_bytes())
            yield from text.removesuffix("\n").split("\n") if text else ()
        else:
            yield argument


def _read(kind: type[T], lines: Sequence[str]) -> T:
    given, shapes = _given(kind, lines), get_type_hints(kind)
    made = {}
    for field in fields(kind):  # type: ignore[arg-type]  # a dataclass, which no type says
        has_default = field.default is not MISSING or field.default_factory is not MISSING
        if field.name in given or not has_default:
            try:
                made[field.name] = _value(shapes[field.name], given.get(field.name, []))
            except ValueError as error:
                raise _bug(kind, f"{field.name}: {error}") from None
    return kind(**made)


def _given(kind: type[Any], lines: Sequence[str]) -> dict[str, list[str]]:
    """Return the values of each field that is given; `bool` has empty ones."""
    shapes, given = get_type_hints(kind), dict[str, list[str]]()
    rest = iter(lines)
    for line in rest:
        option, equals, value = line.partition("=")
        name = option.removeprefix("--").replace("-", "_")
        if not line.startswith("--") or name not in shapes:
            raise _bug(kind, f"{line}: is for no field; expected one of {', '.join(shapes)}")
        if shapes[name] is bool:
            if equals:
                raise _bug(kind, f"{name}: is {value!r}; expected no value of a flag")
        elif not equals:
            following = next(rest, None)
            if following is None:
                raise _bug(kind, f"{name}: expected a value after the last argument")
            value = following
        given.setdefault(name, []).append(value)
    return given


def _bug(kind: type[Any], what: str) -> ToolError:
    return ToolError(f"{kind.__module__}: {what}. This is a bug of the rule that runs the program: report it")


def _value(shape: Any, values: list[str]) -> Any:
    """Return the value of a field. Raises ValueError if its type takes no such values."""
    origin, of = get_origin(shape), get_args(shape)
    if origin in (list, tuple):
        return origin(_single(of[0], value) for value in values)
    if origin is dict:
        return _pairs(of[1], values)
    if len(values) > 1:
        raise ValueError(f"is given {len(values)} times; expected once")
    if shape is bool:
        return bool(values)
    if origin in (Union, types.UnionType):
        return _single(of[0], values[0]) if values else None
    if not values:
        raise ValueError("is not given; expected a value")
    return _single(shape, values[0])


def _single(shape: Any, value: str) -> Any:
    if get_origin(shape) is Literal:
        if value not in get_args(shape):
            raise ValueError(f"is {value!r}; expected one of {', '.join(get_args(shape))}")
        return value
    try:
        return shape(value)
    except ValueError:
        raise ValueError(f"is {value!r}; expected {shape.__name__}") from None


def _pairs(shape: Any, values: list[str]) -> dict[str, Any]:
    """Return `KEY=VALUE` as a dictionary. Raises ToolError for a key that is given twice."""
    found: dict[str, Any] = {}
    for key, _, value in (pair.partition("=") for pair in values):
        if key in found:
            raise ToolError(
                f"{key}: is given twice, as {found[key]} and as {value}; expected one file. "
                "Give one of them another path"
            )
        found[key] = _single(shape, value)
    return found
