"""Writes parts of the BUILD file of the repository of an install prefix.

    text = libraries_text(plan_targets(prefix, packages))

Files are labels of the repository, in which the prefix is the directory `prefix`: `prefix/lib/librocblas.so.5`.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from hip.tools.prefix.library_files import ALL_HEADERS
from hip.tools.prefix.plan import Target

#: The directory of the prefix in the repository.
PREFIX: Final = "prefix"
#: The build setting with the GPU targets to compile for.
TARGETS: Final = ":targets"


def _quoted(text: str) -> str:
    """Return a string as Starlark reads it: as JSON does, except characters beyond its escapes."""
    return json.dumps(text, ensure_ascii=False)


def _list(values: Iterable[str], indent: str) -> str:
    """Return a list as buildifier formats it: one value in its line, several one a line."""
    quoted = [_quoted(one) for one in values]
    if len(quoted) <= 1:
        return f"[{''.join(quoted)}]"
    return "[\n" + "".join(f"{indent}    {one},\n" for one in quoted) + f"{indent}]"


def _strings(values: Sequence[str]) -> str:
    """Return the value of an attribute that is a list; empty if the list is."""
    return _list(values, "    ") if values else ""


def _glob(patterns: Sequence[str]) -> str:
    return f"glob({_strings(patterns)})" if patterns else ""


def _dictionary(values: Mapping[str, Sequence[str]]) -> str:
    """Return the value of an attribute that is a dictionary of lists; empty if the dictionary is."""
    lines = [f"        {_quoted(key)}: {_list(one, '        ')},\n" for key, one in values.items()]
    return f"{{\n{''.join(lines)}    }}" if lines else ""


def _placed(paths: Iterable[str]) -> list[str]:
    return [f"{PREFIX}/{path}" if path else PREFIX for path in paths]


def _attributes(target: Target) -> Iterable[tuple[str, str]]:
    """Return the attributes that are not empty, in buildifier's order, each with its value."""
    headers = _placed(one for one in target.hdrs if one != ALL_HEADERS)
    values = {
        "name": _quoted(target.name),
        "hdrs": _glob(headers) or _strings(target.hdrs),
        "data": _glob(_placed(target.data)),
        "data_for": _dictionary(target.data_for),
        "defines": _strings(target.defines),
        "includes": _strings(_placed(target.includes)),
        "linked": _strings([f":{one}" for one in target.linked]),
        "linkopts": _strings(target.linkopts),
        "needed": _strings([f":{one}" for one in target.needed]),
        "shared_library": target.shared_library and _quoted(f":{target.shared_library}"),
        "static_library": target.static_library and _quoted(f"{PREFIX}/{target.static_library}"),
        "targets": _quoted(TARGETS) if target.data_for else "",
        "deps": _strings(sorted(f":{one}" for one in target.deps)),
    }
    return [(name, value) for name, value in values.items() if value]


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


def _shared_library(path: str, has_device_code: bool) -> Iterable[tuple[str, str]]:
    """Yield the attributes of a `rocm_shared_library`; users depend on the `rocm_library`."""
    yield "name", _quoted(path)
    yield "library", _quoted(f"{PREFIX}/{path}")
    if has_device_code:
        yield "targets", _quoted(TARGETS)
    yield "visibility", _list(["//visibility:private"], "    ")


def libraries_text(targets: Sequence[Target], shared_libraries: Mapping[str, bool]) -> str:
    """Return the part of the BUILD file with the libraries, with all headers, and with shared libraries.

    Of each shared library by its path, `shared_libraries` tells whether it has device code in itself.
    """
    headers = ("all_headers", f'glob(\n        ["{PREFIX}/include/**"],\n        allow_empty = True,\n    )')
    parts = [_call("filegroup", [("name", _quoted(headers[0])), ("srcs", headers[1])])]
    parts += [_call("rocm_library", _attributes(target)) for target in targets]
    parts += [_call("rocm_shared_library", _shared_library(*one)) for one in shared_libraries.items()]
    return "\n".join(parts)
