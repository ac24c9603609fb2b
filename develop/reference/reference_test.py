"""What the reference refuses, on small workspaces. What it says is in docs/reference, which tests/lint compares."""

from pathlib import Path

import pytest

from develop.reference import examples, update
from develop.reference.entries import entry, settings
from develop.reference.page import page
from develop.reference.starlark import StarlarkError, Workspace

PUBLIC = """\
load("//rules/private:thing.bzl", _thing = "thing")

thing = _thing
"""

PRIVATE = '''\
"""A thing."""

load("//rules/private/common:shared.bzl", "SHARED")

_KINDS = ["big", "small"]

thing = rule(
    doc = """Makes a thing.

    Of parts.""",
    implementation = _impl,
    attrs = SHARED | {
        "kind": attr.string(default = "big", values = _KINDS, doc = "How big; " + "or small."),
        "parts": attr.label_list(mandatory = True, doc = "What it is made of."),
        "_tool": attr.label(default = "//tools:thing"),
    },
    provides = [ThingInfo],
)
'''

SHARED = 'SHARED = {"name_of": attr.string(doc = "A | name.")}\n'


def workspace(root: Path, **files: str) -> Workspace:
    """Write files, whose names have `__` instead of `/`, and return their workspace."""
    for name, text in files.items():
        path = root / (name.replace("__", "/") + ".bzl")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return Workspace(root)


@pytest.fixture
def things(tmp_path: Path) -> Workspace:
    """Return a workspace with one public rule."""
    return workspace(
        tmp_path, rules__thing=PUBLIC, rules__private__thing=PRIVATE, rules__private__common__shared=SHARED
    )


def test_only_public_names_are_exported(things: Workspace) -> None:
    assert things.names("rules/private/thing.bzl") == ["thing"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('a = rule(implementation = _a, attrs = {"x": attr.int(doc = "X.")})', "a.bzl:1: a: no documentation"),
        ('a = rule(doc = "A.", attrs = {"x": attr.int()})', "a.bzl:1: x: no documentation"),
        ('a = rule(doc = "A.", attrs = {"x": other(doc = "X.")})', "a.bzl:1: x: not an attribute"),
        ("a = [1]", "a.bzl:1: a: no documentation; expected a comment above it"),
        ("def a(x):\n    pass", "a.bzl:1: a: no docstring"),
        ('def a(x):\n    """Does."""', r"a.bzl:1: a: `Args:` of the docstring names \[\]; expected \['x'\]"),
        ("b = 1", "a.bzl: a is not defined here"),
        ("a = = 1", "a.bzl:1: invalid syntax"),
    ],
)
def test_what_is_undocumented_or_unknown_is_an_error(tmp_path: Path, text: str, expected: str) -> None:
    with pytest.raises(StarlarkError, match=expected):
        entry(workspace(tmp_path, a=text), "a.bzl", "a")


def test_settings_have_comments(tmp_path: Path) -> None:
    (tmp_path / "BUILD.bazel").write_text('string_flag(name = "speed", build_setting_default = "fast")\n')
    with pytest.raises(StarlarkError, match=r"BUILD\.bazel:1: speed: no documentation"):
        settings(Workspace(tmp_path), "BUILD.bazel")


def test_a_rule_without_an_example_is_an_error(things: Workspace, capsys: pytest.CaptureFixture[str]) -> None:
    assert update.main([str(things.root)]) == 1
    assert "ERROR: thing: no example; expected one in EXAMPLES" in capsys.readouterr().err


def test_an_example_that_is_gone_is_an_error(things: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(examples.EXAMPLES, "thing", examples.Example("rules/thing.bzl", "one"))
    with pytest.raises(StarlarkError, match=r"rules/thing\.bzl: no thing"):
        page(things, "rules")
