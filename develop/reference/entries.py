"""Collects the reference's text on a public name: its kind, documentation, and attributes or parameters.

All of it comes from the `.bzl` files: from `doc =` of rules, attributes, providers, extensions and tags, and from the
docstrings of functions. What has no documentation is an error.
"""

import ast
import inspect
import re
from dataclasses import dataclass
from typing import Final

from develop.reference.starlark import Declaration, Workspace, function_of, keywords, literal

#: Types of attributes (https://bazel.build/rules/lib/toplevel/attr), and their defaults if none is given.
TYPES: Final = {
    "attr.bool": ("bool", "False"),
    "attr.int": ("int", "0"),
    "attr.int_list": ("list of int", "[]"),
    "attr.label": ("label", "None"),
    "attr.label_keyed_string_dict": ("dict of label to string", "{}"),
    "attr.label_list": ("list of label", "[]"),
    "attr.string": ("string", '""'),
    "attr.string_dict": ("dict of string to string", "{}"),
    "attr.string_list": ("list of string", "[]"),
    "attr.string_list_dict": ("dict of string to list of string", "{}"),
}


@dataclass(frozen=True)
class Parameter:
    """An attribute, a parameter of a function, or a field of a provider."""

    name: str
    doc: str
    #: Type of an attribute; None for parameters and fields.
    type: str | None = None
    #: As Starlark writes it; None where a value must be given, or cannot be.
    default: str | None = None
    #: What an attribute may be, if that is limited.
    values: tuple[str, ...] = ()


@dataclass(frozen=True)
class ReferenceEntry:
    """A public name. `kind` is `rule`, `macro`, `function`, `provider`, `module extension`, `tag` or `constant`."""

    kind: str
    name: str
    doc: str
    parameters: tuple[Parameter, ...] = ()
    returns: str = ""
    provides: tuple[str, ...] = ()
    tags: tuple["ReferenceEntry", ...] = ()


def entry(workspace: Workspace, path: str, name: str) -> ReferenceEntry:
    """Return the documentation of a name that a file exports. Raises StarlarkError if its documentation is missing."""
    found = workspace.resolve(path, name)
    if isinstance(found.node, ast.FunctionDef):
        return _function(workspace, found, name)
    kinds = {"rule": _rule, "provider": _provider, "module_extension": _extension}
    return kinds.get(function_of(found.node), _constant)(workspace, found, name)


def _doc(workspace: Workspace, found: Declaration) -> str:
    assert isinstance(found.node, ast.Call)
    doc = keywords(found.node).get("doc")
    text = inspect.cleandoc(workspace.string(found.path, doc)) if doc else ""
    if not text:
        raise found.error("no documentation; expected `doc = …`")
    return text


def _rule(workspace: Workspace, found: Declaration, name: str) -> ReferenceEntry:
    assert isinstance(found.node, ast.Call)
    arguments = keywords(found.node)
    provides = arguments.get("provides")
    return ReferenceEntry(
        kind="rule",
        name=name,
        doc=_doc(workspace, found),
        parameters=attributes(workspace, found.path, arguments["attrs"]) if "attrs" in arguments else (),
        provides=tuple(literal(one) for one in provides.elts) if isinstance(provides, ast.List) else (),
    )


def attributes(workspace: Workspace, path: str, node: ast.expr) -> tuple[Parameter, ...]:
    """Return the public attributes of a dict of them: those that must be given first, each group by name."""
    found = [_attribute(workspace, one) for name, one in workspace.items(path, node) if not name.startswith("_")]
    return tuple(sorted(found, key=lambda one: (one.default is not None, one.name)))


def _attribute(workspace: Workspace, found: Declaration) -> Parameter:
    if function_of(found.node) not in TYPES:
        raise found.error(f"not an attribute that the reference knows; expected one of {', '.join(TYPES)}")
    assert isinstance(found.node, ast.Call)
    kind, default = TYPES[function_of(found.node)]
    arguments = keywords(found.node)
    if "default" in arguments:
        default = literal(arguments["default"])
    mandatory = "mandatory" in arguments and literal(arguments["mandatory"]) == "True"
    return Parameter(
        name=found.name,
        doc=_doc(workspace, found),
        type=kind,
        default=None if mandatory else default,
        values=_values(workspace, found, arguments.get("values")),
    )


def _values(workspace: Workspace, found: Declaration, node: ast.expr | None) -> tuple[str, ...]:
    path = found.path
    if isinstance(node, ast.Name):
        resolved = workspace.resolve(path, node.id)
        path, node = resolved.path, resolved.node if isinstance(resolved.node, ast.expr) else None
    if node is None:
        return ()
    if not isinstance(node, ast.List):
        raise found.error("`values` is not a list")
    return tuple(workspace.string(path, one) for one in node.elts)


def _provider(workspace: Workspace, found: Declaration, name: str) -> ReferenceEntry:
    assert isinstance(found.node, ast.Call)
    arguments = keywords(found.node)
    fields = workspace.items(found.path, arguments["fields"])
    texts = {key: workspace.string(one.path, one.node) for key, one in fields if isinstance(one.node, ast.expr)}
    parameters = tuple(Parameter(key, text) for key, text in sorted(texts.items()))
    return ReferenceEntry("provider", name, _doc(workspace, found), parameters)


def _extension(workspace: Workspace, found: Declaration, name: str) -> ReferenceEntry:
    assert isinstance(found.node, ast.Call)
    classes = keywords(found.node).get("tag_classes")
    tags = []
    for key, one in workspace.items(found.path, classes) if classes else []:
        tag = workspace.resolve(one.path, one.node.id) if isinstance(one.node, ast.Name) else one
        assert isinstance(tag.node, ast.Call)
        parameters = attributes(workspace, tag.path, keywords(tag.node)["attrs"])
        tags.append(ReferenceEntry("tag", f"{name}.{key}", _doc(workspace, tag), parameters))
    return ReferenceEntry("module extension", name, _doc(workspace, found), tags=tuple(tags))


def _constant(workspace: Workspace, found: Declaration, name: str) -> ReferenceEntry:
    """Return a constant's entry: the comment above it, which syntax trees lack, is its documentation."""
    assert isinstance(found.node, ast.expr)
    comment = _comment_above(workspace, found)
    if not comment:
        raise found.error("no documentation; expected a comment above it")
    parameters: tuple[Parameter, ...] = ()
    if isinstance(found.node, ast.Dict):
        parameters = attributes(workspace, found.path, found.node)
    value = "" if parameters else f"\n\nIts value: `{literal(found.node)}`."
    return ReferenceEntry("constant", name, comment + value, parameters)


def settings(workspace: Workspace, path: str) -> tuple[Parameter, ...]:
    """Return the flags that a BUILD file declares, by name: the comment above each is its documentation."""
    found = []
    for statement in workspace.tree(path).body:
        call = statement.value if isinstance(statement, ast.Expr) else None
        if isinstance(call, ast.Call) and function_of(call) in ("bool_flag", "string_flag"):
            arguments = keywords(call)
            name = workspace.string(path, arguments["name"])
            definition = Declaration(path, name, call)
            doc = _comment_above(workspace, definition)
            if not doc:
                raise definition.error("no documentation; expected a comment above it")
            values = _values(workspace, definition, arguments.get("values"))
            default = literal(arguments["build_setting_default"]).strip('"')
            found.append(Parameter(name, doc, function_of(call).removesuffix("_flag"), default, values))
    return tuple(sorted(found, key=lambda one: one.name))


def _comment_above(workspace: Workspace, found: Declaration) -> str:
    """Return the comment above a definition, which syntax trees lack; empty if there is none."""
    lines = workspace.text(found.path).splitlines()
    line = found.node.lineno - 1
    comment: list[str] = []
    while line and lines[line - 1].startswith("#"):
        line -= 1
        comment.insert(0, lines[line].removeprefix("#").strip())
    return " ".join(comment)


def _function(workspace: Workspace, found: Declaration, name: str) -> ReferenceEntry:
    node = found.node
    assert isinstance(node, ast.FunctionDef)
    text, documented, returns = docstring(ast.get_docstring(node) or "")
    if not text:
        raise found.error("no docstring")
    arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    names = [one.arg for one in arguments] + ([f"**{node.args.kwarg.arg}"] if node.args.kwarg else [])
    if sorted(documented) != sorted(names):
        raise found.error(f"`Args:` of the docstring names {sorted(documented)}; expected {sorted(names)}")
    defaults: list[ast.expr | None] = [None] * (len(node.args.args) - len(node.args.defaults))
    defaults += [*node.args.defaults, *node.args.kw_defaults]
    by_name = dict(zip(names, [literal(one) if one else None for one in defaults], strict=False))
    parameters = tuple(Parameter(one, documented[one], default=by_name.get(one)) for one in names)
    kind = "macro" if names[:1] == ["name"] else "function"
    return ReferenceEntry(kind, name, text, parameters + _passed_on(workspace, found, names), returns)


def _passed_on(workspace: Workspace, found: Declaration, names: list[str]) -> tuple[Parameter, ...]:
    """Return the attributes of the rule behind a macro, `_name`, that the macro takes as `**kwargs`."""
    assert isinstance(found.node, ast.FunctionDef)
    if not found.node.args.kwarg:
        return ()
    for statement in workspace.tree(found.path).body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=behind)], value=ast.Call(func=ast.Name(id="rule"))):
                if behind == "_" + found.name:
                    rule = _rule(workspace, Declaration(found.path, behind, statement.value), found.name)
                    return tuple(one for one in rule.parameters if one.name not in names)
            case _:
                pass
    return ()


def docstring(text: str) -> tuple[str, dict[str, str], str]:
    """Split a docstring in Google's form: what it says, each of `Args:`, and `Returns:`."""
    body, _, returns = text.partition("\nReturns:\n")
    body, _, arguments = body.partition("\nArgs:\n")
    documented: dict[str, str] = {}
    name = ""
    for line in inspect.cleandoc(arguments).splitlines():
        match = re.match(r"(\*{0,2}\w+): (.*)", line)
        if match:
            name = match[1]
            documented[name] = match[2]
        elif line.strip():
            documented[name] += " " + line.strip()
    return body.strip(), documented, " ".join(inspect.cleandoc(returns).split())
