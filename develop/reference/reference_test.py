"""The reader of Starlark and what the reference says, on small workspaces of their own."""

from pathlib import Path

import pytest

from develop.reference import examples, libraries, update
from develop.reference.entries import Parameter, docstring, entry, settings
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


def test_a_rule_behind_a_re_export(things: Workspace) -> None:
    found = entry(things, "rules/thing.bzl", "thing")
    assert (found.kind, found.doc, found.provides) == ("rule", "Makes a thing.\n\nOf parts.", ("ThingInfo",))
    assert found.parameters == (
        Parameter("parts", "What it is made of.", "list of label"),
        Parameter("kind", "How big; or small.", "string", '"big"', ("big", "small")),
        Parameter("name_of", "A | name.", "string", '""'),
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


def test_a_macro_has_the_attributes_of_the_rule_behind_it(tmp_path: Path) -> None:
    text = (
        '_a = rule(doc = "See a.", attrs = {"x": attr.int(doc = "X."), "y": attr.int(doc = "Y.")})\n'
        'def a(name, y = 3, **kwargs):\n    """Makes one.\n\n'
        '    Args:\n        name: its name.\n        y: what\n            why.\n        **kwargs: others.\n    """'
    )
    found = entry(workspace(tmp_path, a=text), "a.bzl", "a")
    assert found.kind == "macro"
    assert found.parameters == (
        Parameter("name", "its name."),
        Parameter("y", "what why.", default="3"),
        Parameter("**kwargs", "others."),
        Parameter("x", "X.", "int", "0"),
    )


def test_a_provider_has_fields(tmp_path: Path) -> None:
    text = 'DOC = "It."\nFIELDS = {"b": "B.", "a": "A."}\nItInfo = provider(doc = DOC, fields = FIELDS)'
    found = entry(workspace(tmp_path, a=text), "a.bzl", "ItInfo")
    assert (found.kind, found.parameters) == ("provider", (Parameter("a", "A."), Parameter("b", "B.")))


def test_an_extension_has_tags(tmp_path: Path) -> None:
    text = (
        '_t = tag_class(doc = "A tag.", attrs = {"f": attr.label(mandatory = True, doc = "F.")})\n'
        'e = module_extension(doc = "Finds.", implementation = _e, tag_classes = {"t": _t})'
    )
    found = entry(workspace(tmp_path, a=text), "a.bzl", "e")
    assert [(tag.name, tag.doc, tag.parameters) for tag in found.tags] == [
        ("e.t", "A tag.", (Parameter("f", "F.", "label"),))
    ]


def test_a_constant_has_its_comment_and_value(tmp_path: Path) -> None:
    found = entry(workspace(tmp_path, a='# Two\n# kinds.\nKINDS = ["a", "b"]'), "a.bzl", "KINDS")
    assert found.doc == 'Two kinds.\n\nIts value: `["a", "b"]`.'


def test_settings_have_comments(tmp_path: Path) -> None:
    flag = 'string_flag(name = "speed", build_setting_default = "fast", values = ["fast", "slow"])\n'
    (tmp_path / "BUILD.bazel").write_text(f"# How fast.\n{flag}")
    assert settings(Workspace(tmp_path), "BUILD.bazel") == (
        Parameter("speed", "How fast.", "string", "fast", ("fast", "slow")),
    )
    (tmp_path / "BUILD.bazel").write_text(flag)
    with pytest.raises(StarlarkError, match=r"BUILD\.bazel:1: speed: no documentation"):
        settings(Workspace(tmp_path), "BUILD.bazel")


def test_a_docstring_without_sections() -> None:
    assert docstring("Does it.") == ("Does it.", {}, "")
    assert docstring("Does it.\n\nReturns:\n    a\n    list.") == ("Does it.", {}, "a list.")


def test_a_page(things: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    (things.root / "BUILD.bazel").write_text('[\n    thing(\n        name = "one",\n        parts = [],\n    ),\n]\n')
    monkeypatch.setitem(examples.EXAMPLES, "thing", examples.Example("BUILD.bazel", "one"))
    text = page(things, "rules")
    assert '```starlark\nthing(\n    name = "one",\n    parts = [],\n)\n```' in text
    assert "| `parts` | list of label | **required** | What it is made of. |" in text
    assert '| `name_of` | string | `""` | A \\| name. |' in text
    assert "How big; or small. One of `big`, `small`." in text


def test_a_rule_without_an_example_is_an_error(things: Workspace, capsys: pytest.CaptureFixture[str]) -> None:
    assert update.main([str(things.root)]) == 1
    assert "ERROR: thing: no example; expected one in EXAMPLES" in capsys.readouterr().err


def test_an_example_that_is_gone_is_an_error(things: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(examples.EXAMPLES, "thing", examples.Example("rules/thing.bzl", "one"))
    with pytest.raises(StarlarkError, match=r"rules/thing\.bzl: no thing"):
        page(things, "rules")


def test_libraries_follow_loads(things: Workspace) -> None:
    assert libraries.expected(things) == {
        "//rules/private/common": [],
        "//rules/private": ["//rules/private/common"],
        "//rules": ["//rules/private"],
    }
    (things.root / "rules/BUILD.bazel").write_text('bzl_library(name = "rules", deps = ["//b", "//a"])\n')
    assert libraries.declared(things, ["//rules"]) == {"//rules": ["//a", "//b"]}
