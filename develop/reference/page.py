"""The reference as Markdown: a chapter per public file, in it an entry per name."""

from typing import Final

from develop.reference.entries import Parameter, ReferenceEntry, entry, settings
from develop.reference.examples import EXAMPLES, quoted
from develop.reference.starlark import StarlarkError, Workspace

HEAD = """\
<!-- Made by `bazel run //develop/reference:update` from {folder}/*.bzl. Do not edit. -->

# Reference

Every public rule, macro, provider and module extension. Load them from `@rules_rocm_python//{folder}:FILE.bzl`. The
`bzl_library` of all is `@rules_rocm_python//{folder}`.
Rules also take the attributes that [all rules have](https://bazel.build/reference/be/common-definitions).

"""
#: Folder of public files -> the page of its names.
PAGES: Final = {"rules": "docs/reference/rules.md", "hip": "hip/docs/reference.md"}
#: Folder of public files -> the flags of its rules.
SETTINGS = {"rules": "rules/settings/BUILD.bazel"}
#: What needs an example.
SHOWN = ("macro", "rule", "tag")


def page(workspace: Workspace, folder: str) -> str:
    """Return the page of a folder of public files.

    Raises StarlarkError for a name without documentation, or a rule without an example.
    """
    chapters = [(path, entries(workspace, path)) for path in public_files(workspace, folder)]
    contents = ["| file | what it has |", "|---|---|"]
    for path, found in chapters:
        links = ", ".join(f"[`{one.name}`](#{anchor(one.name)})" for one in found)
        contents.append(f"| `{path}` | {links} |")
    texts = [_entry(workspace, path, one) for path, found in chapters for one in found]
    return HEAD.format(folder=folder) + "\n".join(contents) + "\n\n" + "\n".join(texts) + _settings(workspace, folder)


def _settings(workspace: Workspace, folder: str) -> str:
    """Return the chapter on flags; empty if the folder has none."""
    build = SETTINGS.get(folder, "")
    if not build or not (workspace.root / build).exists():
        return ""
    flags = settings(workspace, build)
    rows = [
        f"| `--@rules_rocm_python//rules/settings:{flag.name}` | `{flag.default}` | {_meaning(flag)} |"
        for flag in flags
    ]
    return "\n".join(["\n## Settings\n", "| flag | default | meaning |", "| --- | --- | --- |", *rows, ""])


def public_files(workspace: Workspace, folder: str) -> list[str]:
    """Return the public files of a folder, sorted."""
    return sorted(path.relative_to(workspace.root).as_posix() for path in workspace.root.glob(f"{folder}/*.bzl"))


def entries(workspace: Workspace, path: str) -> list[ReferenceEntry]:
    """Return the entries of a public file, by name."""
    made = [entry(workspace, path, name) for name in workspace.names(path)]
    return sorted(made, key=lambda one: one.name.lower())


def anchor(name: str) -> str:
    """Return the anchor that GitHub makes of a headline with this name in it."""
    return name.lower().replace(".", "")


def _entry(workspace: Workspace, path: str, one: ReferenceEntry, level: str = "##") -> str:
    parts = [f"{level} {one.name}", f"*{one.kind.capitalize()}*" + _loaded_from(path, one), one.doc]
    if one.provides:
        parts.append("Provides " + ", ".join(f"`{provider}`" for provider in one.provides) + ".")
    if one.parameters:
        parts.append(_table(one))
    if one.returns:
        parts.append(f"Returns {one.returns}")
    if one.kind in SHOWN:
        parts.append(_example(workspace, one.name))
    texts = ["\n\n".join(parts) + "\n"]
    return "\n".join(texts + [_entry(workspace, path, tag, level + "#") for tag in one.tags])


def _loaded_from(path: str, one: ReferenceEntry) -> str:
    if one.kind == "tag":
        return ""
    folder, _, name = path.rpartition("/")
    return f" of `//{folder}:{name}`"


def _table(one: ReferenceEntry) -> str:
    headline = {"provider": "field", "macro": "parameter", "function": "parameter"}.get(one.kind, "attribute")
    typed = any(parameter.type for parameter in one.parameters)
    columns = [headline]
    if typed:
        columns.append("type")
    if one.kind != "provider":
        columns.append("default")
    columns.append("meaning")
    rows = [_row(one, parameter, typed) for parameter in one.parameters]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [columns, ["---"] * len(columns), *rows])


def _row(one: ReferenceEntry, parameter: Parameter, typed: bool) -> list[str]:
    cells = [f"`{parameter.name}`"]
    if typed:
        cells.append(parameter.type or "")
    if one.kind != "provider":
        optional = parameter.name.startswith("**")
        cells.append("" if optional else f"`{parameter.default}`" if parameter.default else "**required**")
    return [*cells, _meaning(parameter)]


def _meaning(parameter: Parameter) -> str:
    """Return the last cell of a row: the documentation, and the values that are allowed."""
    doc = " ".join(parameter.doc.split()).replace("|", "\\|")
    if parameter.values:
        doc += " One of " + ", ".join(f"`{value}`" for value in parameter.values) + "."
    return doc[:1].upper() + doc[1:] if doc[:1].isalpha() else doc


def _example(workspace: Workspace, name: str) -> str:
    if name not in EXAMPLES:
        raise StarlarkError(f"{name}: no example; expected one in EXAMPLES of develop/reference/examples.py")
    path = EXAMPLES[name].path
    return f"Example, from [`{path}`](../../{path}):\n\n```starlark\n{quoted(workspace, name)}\n```"
