"""Writes the BUILD file of the repository of an install prefix.

    text = build_text(plan_targets(prefix, packages), executables=plan_executables(prefix))

Files are labels of the repository, in which the prefix is the directory `prefix`: `prefix/lib/librocblas.so.5`.
"""

import json
from collections.abc import Iterable, Sequence
from typing import Final

from tools.fetch.prefix.belongings import ALL_HEADERS
from tools.fetch.prefix.plan import Target, plan_executables, plan_targets

__all__ = ["DEFAULT_LOAD", "Target", "build_text", "plan_executables", "plan_targets"]

DEFAULT_LOAD: Final = "@rules_rocm_python//rules/private/hip:rocm_library.bzl"
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


def build_text(
    targets: Sequence[Target],
    load: str = DEFAULT_LOAD,
    executables: Sequence[str] = (),
    notes: Sequence[str] = (),
) -> str:
    """Return the text of the BUILD file.

    `load` is the label of the file with `rocm_library`. `executables` are the programs in `bin/`, and become the list
    of this name. `notes` become comments: what was left out of packages, and why.
    """
    parts = [
        "# Written when this repository was fetched, from the CMake packages of the prefix.\n"
        + "".join(f"# Left out: {' '.join(note.split())}\n" for note in notes),
        f'load({_quoted(load)}, "rocm_library")\n',
        'package(default_visibility = ["//visibility:public"])\n',
        f"executables = {_list(executables, '')}\n",
        f'exports_files(["{PREFIX}/bin/" + name for name in executables])\n',
        _call("filegroup", [("name", '"all_headers"'), ("srcs", f'glob(["{PREFIX}/include/**"], allow_empty = True)')]),
        *(_call("rocm_library", _attributes(target)) for target in targets),
    ]
    return "\n".join(parts)
