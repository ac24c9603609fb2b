"""Reads `.bzl` files: what a name stands for, through `load` and re-export.

Starlark's syntax is a subset of Python's, so Python's parser reads it. Nothing is executed: only what is written as a
literal, joined with `+` or `|`, or named, is understood.
"""

import ast
import functools
import json
from dataclasses import dataclass, field
from pathlib import Path

#: A value that a name of a module can stand for.
Node = ast.expr | ast.FunctionDef


class StarlarkError(ValueError):
    """A file contains something that this reader or the reference does not support; the message names file and line."""


@dataclass(frozen=True)
class Declaration:
    """Declaration of a name: its node, and the file and name it was found under."""

    path: str
    name: str
    node: Node

    def error(self, text: str) -> StarlarkError:
        """Return an error that names the file and the line of the definition."""
        return StarlarkError(f"{self.path}:{self.node.lineno}: {self.name}: {text}")


@dataclass(frozen=True)
class Workspace:
    """The files of a workspace, by their paths relative to its root."""

    root: Path
    _trees: dict[str, ast.Module] = field(default_factory=dict, compare=False, repr=False)

    def text(self, path: str) -> str:
        """Return the text of a file."""
        return (self.root / path).read_text(encoding="utf-8")

    def tree(self, path: str) -> ast.Module:
        """Return the syntax tree of a file. Raises StarlarkError if it is not Starlark."""
        if path not in self._trees:
            try:
                self._trees[path] = ast.parse(self.text(path), path)
            except SyntaxError as error:
                raise StarlarkError(f"{path}:{error.lineno}: {error.msg}") from None
        return self._trees[path]

    def names(self, path: str) -> list[str]:
        """Return the names that a file exports, in its order: those it defines that do not begin with `_`."""
        found = []
        for statement in self.tree(path).body:
            if isinstance(statement, ast.Assign):
                found += [target.id for target in statement.targets if isinstance(target, ast.Name)]
            elif isinstance(statement, ast.FunctionDef):
                found.append(statement.name)
        return [name for name in found if not name.startswith("_")]

    def resolve(self, path: str, name: str) -> Declaration:
        """Return what a name stands for in a file. Raises StarlarkError if the workspace does not define it."""
        for statement in self.tree(path).body:
            match statement:
                case ast.FunctionDef(name=found) if found == name:
                    return Declaration(path, name, statement)
                case ast.Assign(targets=[ast.Name(id=found)], value=ast.Name(id=other)) if found == name:
                    return self.resolve(path, other)
                case ast.Assign(targets=[ast.Name(id=found)], value=value) if found == name:
                    return Declaration(path, name, value)
                case ast.Expr(value=ast.Call(func=ast.Name(id="load")) as call):
                    original = _loaded(call).get(name)
                    if original is not None:
                        return self.resolve(file_of(label_of(call), path), original)
                case _:
                    pass
        raise StarlarkError(f"{path}: {name} is not defined here, nor loaded from this workspace")

    def loads(self, path: str) -> list[str]:
        """Return the labels that a file loads, absolute, in its order."""
        calls = (statement.value for statement in self.tree(path).body if isinstance(statement, ast.Expr))
        return [
            absolute(label_of(call), path)
            for call in calls
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "load"
        ]

    def string(self, path: str, node: ast.expr) -> str:
        """Return the text of a string, of several joined with `+`, or of a name that stands for one."""
        match node:
            case ast.Constant(value=str(text)):
                return text
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                return self.string(path, left) + self.string(path, right)
            case ast.Name(id=name):
                found = self.resolve(path, name)
                if isinstance(found.node, ast.expr):
                    return self.string(found.path, found.node)
            case _:
                pass
        raise StarlarkError(f"{path}:{node.lineno}: expected a string, got {ast.unparse(node)}")

    def items(self, path: str, node: ast.expr) -> list[tuple[str, Declaration]]:
        """Return keys and values of a dict, of several joined with `|`, or of a name that stands for one."""
        match node:
            case ast.Dict(keys=keys, values=values):
                return [
                    (self.string(path, key), Declaration(path, self.string(path, key), value))
                    for key, value in zip(keys, values, strict=True)
                    if key is not None
                ]
            case ast.BinOp(left=left, op=ast.BitOr(), right=right):
                return self.items(path, left) + self.items(path, right)
            case ast.Name(id=name):
                found = self.resolve(path, name)
                if isinstance(found.node, ast.expr):
                    return self.items(found.path, found.node)
            case _:
                pass
        raise StarlarkError(f"{path}:{node.lineno}: expected a dict, got {ast.unparse(node)}")


def _loaded(call: ast.Call) -> dict[str, str]:
    """Return what a `load` of this workspace brings: local name -> the name in the file."""
    if label_of(call).startswith("@"):
        return {}
    names = {one.value: one.value for one in call.args[1:] if isinstance(one, ast.Constant)}
    names |= {one.arg: one.value.value for one in call.keywords if one.arg and isinstance(one.value, ast.Constant)}
    return {str(local): str(original) for local, original in names.items()}


def label_of(call: ast.Call) -> str:
    """Return the label that a `load` names."""
    first = call.args[0]
    return str(first.value) if isinstance(first, ast.Constant) else ""


def absolute(label: str, path: str) -> str:
    """Return the label as other packages write it; `path` is the file that has it."""
    return label if label.startswith(("//", "@")) else f"//{Path(path).parent.as_posix()}:{label.removeprefix(':')}"


def file_of(label: str, path: str) -> str:
    """Return the path of the file that a label of this workspace means; `path` is the file that has the label."""
    package, _, name = absolute(label, path).removeprefix("//").partition(":")
    return f"{package}/{name}" if package else name


def keywords(call: ast.Call) -> dict[str, ast.expr]:
    """Return the named arguments of a call."""
    return {one.arg: one.value for one in call.keywords if one.arg}


def function_of(node: Node) -> str:
    """Return the name of the function that a call calls (`rule`, `attr.label`); empty for anything else."""
    return ast.unparse(node.func) if isinstance(node, ast.Call) else ""


@functools.singledispatch
def literal(node: ast.AST) -> str:
    """Return an expression as buildifier would write it: strings in double quotes."""
    return ast.unparse(node)


@literal.register
def _(node: ast.Constant) -> str:
    return json.dumps(node.value, ensure_ascii=False) if isinstance(node.value, str) else ast.unparse(node)


@literal.register
def _(node: ast.List) -> str:
    return "[" + ", ".join(literal(one) for one in node.elts) + "]"
