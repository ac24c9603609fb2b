"""Writes parts of the BUILD file of the repository of an install prefix.

    text = libraries_text(plan_targets(prefix, packages))

Files are labels of the repository, in which the prefix is the directory `prefix`: `prefix/lib/librocblas.so.5`.
"""

import json
from collections.abc import Iterable, Sequence
from typing import Final

from tools.fetch.prefix.belongings import ALL_HEADERS
from tools.fetch.prefix.plan import Target

#: The directory of the prefix in the repository.
PREFIX: Final = "prefix"


def _quoted(text: str) -> str:
    """Return a string as Starlark reads it: as JSON does, but for characters beyond its escapes."""
    return json.dumps(text, ensure_ascii=False)


def _list(values: Iterable[str], indent: str) -> str:
    """Return a list as buildifier formats it: one value in its line, several one a line."""
    quoted = [_quoted(one) for one in values]
    if len(quoted) <= 1:
        return f"[{''.join(quoted)}]"
    return "[\n" + "".join(f"{indent}    {one},\n" for one in quoted) + f"{indent}]"


def _placed(paths: Iterable[str]) -> list[str]:
    return [f"{PREFIX}/{path}" if path else PREFIX for path in paths]


def _attributes(target: Target) -> Iterable[tuple[str, str]]:
    """Yield the attributes that are not empty, in buildifier's order, each with its value."""
    indent = "    "
    yield "name", _quoted(target.name)
    headers = [one for one in target.hdrs if one != ALL_HEADERS]
    if headers:
        yield "hdrs", f"glob({_list(_placed(headers), indent)})"
    elif target.hdrs:
        yield "hdrs", _list([ALL_HEADERS], indent)
    if target.data:
        yield "data", f"glob({_list(_placed(target.data), indent)})"
    if target.defines:
        yield "defines", _list(target.defines, indent)
    if target.includes:
        yield "includes", _list(_placed(target.includes), indent)
    if target.linkopts:
        yield "linkopts", _list(target.linkopts, indent)
    if target.needed:
        yield "needed", _list(_placed(target.needed), indent)
    if target.shared_library:
        yield "shared_library", _quoted(f"{PREFIX}/{target.shared_library}")
    if target.static_library:
        yield "static_library", _quoted(f"{PREFIX}/{target.static_library}")
    if target.deps:
        yield "deps", _list(sorted(f":{one}" for one in target.deps), indent)


def _call(rule: str, attributes: Iterable[tuple[str, str]]) -> str:
    return f"{rule}(\n" + "".join(f"    {name} = {value},\n" for name, value in attributes) + ")\n"


def quoted_list(values: Iterable[str]) -> str:
    """Return a list of strings as the value of an attribute."""
    return _list(values, "    ")


def placed_list(paths: Iterable[str], indent: str) -> str:
    """Return a list of paths in the prefix, as labels or patterns of the repository."""
    return _list(_placed(paths), indent)


def call(rule: str, **attributes: str | Sequence[str]) -> str:
    """Return the call of a rule. Attributes that are empty are left out."""
    values = {
        name: _quoted(value) if isinstance(value, str) else _list(value, "    ")
        for name, value in attributes.items()
        if value
    }
    return _call(rule, values.items())


def libraries_text(targets: Sequence[Target]) -> str:
    """Return the part of the BUILD file with the libraries, and with all headers."""
    headers = ("all_headers", f'glob(\n        ["{PREFIX}/include/**"],\n        allow_empty = True,\n    )')
    parts = [_call("filegroup", [("name", _quoted(headers[0])), ("srcs", headers[1])])]
    return "\n".join([*parts, *(_call("rocm_library", _attributes(target)) for target in targets)])
