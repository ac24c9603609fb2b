"""Dataclasses as JSON and back, by the types of their fields."""

import types
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime
from functools import cache
from typing import Annotated, Any, Final, get_args, get_origin, get_type_hints

#: Seconds since 1970. Documents have it as ISO 8601 writes it, in UTC.
Time = Annotated[int, "time"]
_FORM: Final = "%Y-%m-%dT%H:%M:%SZ"


@cache
def _hints(kind: Any) -> dict[str, Any]:
    return get_type_hints(kind, include_extras=True)


def time_text(seconds: float) -> str:
    """Write a time as in ISO 8601, in UTC."""
    return datetime.fromtimestamp(int(seconds), UTC).strftime(_FORM)


def _of_optional(kind: Any) -> Any:
    """Return X for `X | None`."""
    return get_args(kind)[0] if isinstance(kind, types.UnionType) else kind


def to_document(kind: Any, value: Any) -> Any:
    """Return the JSON data of a value of a type. A class with `sparse` leaves out fields that say nothing."""
    kind = _of_optional(kind)
    if value is None or kind in (str, int, bool, Any):
        return value
    if kind == Time:
        return time_text(value)
    if is_dataclass(kind):
        shapes, sparse = _hints(kind), getattr(kind, "sparse", False)  # type: ignore[arg-type]
        given = ((one.name, getattr(value, one.name)) for one in fields(kind))
        return {name: to_document(shapes[name], found) for name, found in given if found or not sparse}
    if get_origin(kind) is tuple:
        return [to_document(get_args(kind)[0], one) for one in value]
    if get_origin(kind) is Mapping:
        return {key: to_document(get_args(kind)[1], value[key]) for key in sorted(value)}
    return str(value)


@cache
def _parsed(kind: Any, text: str) -> Any:
    return kind(text)


def from_document(kind: Any, document: Any) -> Any:
    """Return the value of a type that JSON data stands for. Raises ValueError, TypeError or AttributeError."""
    kind = _of_optional(kind)
    if document is None or kind in (str, int, bool, Any):
        return document
    if kind == Time:
        return int(datetime.strptime(document, _FORM).replace(tzinfo=UTC).timestamp())
    if is_dataclass(kind):
        shapes = _hints(kind)  # type: ignore[arg-type]
        names = [one.name for one in fields(kind) if one.name in document]
        return kind(**{name: from_document(shapes[name], document[name]) for name in names})  # type: ignore[operator]
    if get_origin(kind) is tuple:
        return tuple(from_document(get_args(kind)[0], one) for one in document)
    if get_origin(kind) is Mapping:
        return {key: from_document(get_args(kind)[1], one) for key, one in document.items()}
    return _parsed(kind, document)
