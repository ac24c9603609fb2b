"""Tests of what clang says that it read, and of what is declared."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hip.tools.compile import Declared, place_of, read_includers, read_rule
from lib.common.program import ToolError

#: As clang 22 of ROCm 7.2.4 wrote it.
WRITTEN = """\
dependencies: s.hip a\\ b/x$$y\\#z.h a\\ b/../inc/inner.h inc/ü.h \\
  inc/has.h \\
  /usr/lib/gcc/x86_64-linux-gnu/16/../../../../include/c++/16/cstddef
"""


def escaped(name: str) -> str:
    """Escape a name as clang does (DependencyFile.cpp, PrintFilename)."""
    text = ""
    for at, character in enumerate(name):
        if character == " ":
            before = name[:at]
            text += "\\" * (1 + len(before) - len(before.rstrip("\\")))
        text += {"#": "\\#", "$": "$$"}.get(character, character)
    return text


def test_what_clang_writes() -> None:
    assert read_rule(WRITTEN) == [
        "s.hip",
        "a b/x$y#z.h",
        "a b/../inc/inner.h",
        "inc/ü.h",
        "inc/has.h",
        "/usr/lib/gcc/x86_64-linux-gnu/16/../../../../include/c++/16/cstddef",
    ]


def test_a_rule_ends_with_its_line() -> None:
    assert read_rule("dependencies: a.hip b.h\n\nb.h:\n") == ["a.hip", "b.h"]
    assert read_rule("dependencies: \\\n  a.hip") == ["a.hip"]
    assert read_rule("dependencies:\n") == []


@given(st.lists(st.text(st.sampled_from("ab \\#$/.\t\rü\udcff"), min_size=1), min_size=1))
def test_every_name_is_read_as_it_was(names: list[str]) -> None:
    # A name that ends with a backslash cannot be told from what escapes the blank behind it.
    names = [name for name in names if not name.endswith("\\")]
    for between in (" ", " \\\n  "):
        assert read_rule("dependencies: " + between.join(map(escaped, names)) + "\n") == names


@given(st.text(st.sampled_from("ab \\#$\n:")))
def test_any_text_is_read(text: str) -> None:
    assert "" not in read_rule("dependencies:" + text)


@pytest.mark.parametrize("text", ["", "\n", "a.o: a.hip\n", "x dependencies: a.hip\n", "\0" * 60])
def test_what_is_no_list_of_dependencies(text: str) -> None:
    with pytest.raises(ToolError, match="expected a list of dependencies of clang") as error:
        read_rule(text)
    assert len(str(error.value)) < 300


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("./a.h", "a.h"),
        ("inc/../a.h", "a.h"),
        ("inc//b.h", "inc/b.h"),
        ("{root}/inc/b.h", "inc/b.h"),
        ("/usr/include/x.h", "/usr/include/x.h"),
        ("//usr/include/x.h", "/usr/include/x.h"),
        ("{root}_other/b.h", "{root}_other/b.h"),
        ("../outside.h", "{outside}"),
    ],
)
def test_the_place_of_a_file(path: str, place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tmp_path / "root"
    (root / "inc").mkdir(parents=True)
    (root / "a.h").touch()
    names = {"root": str(root), "outside": str(tmp_path / "outside.h")}
    monkeypatch.chdir(root)
    assert place_of(path.format(**names), str(root)) == place.format(**names)


def test_the_execution_root_of_a_worker_may_be_the_root() -> None:
    assert place_of("/usr/lib/../include/x.h", "/") == "/usr/include/x.h"
    assert place_of("./usr/x.h", "/") == "usr/x.h"


def test_a_link_to_a_directory_leads_elsewhere_than_the_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "real/deep").mkdir(parents=True)
    (tmp_path / "link").symlink_to("real/deep")
    (tmp_path / "real/x.h").write_text("read", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert place_of("link/../x.h", str(tmp_path)) == "real/x.h"
    (tmp_path / "x.h").write_text("not read", encoding="utf-8")
    assert place_of("link/../x.h", str(tmp_path)) == "real/x.h"
    (tmp_path / "x.h").unlink()
    (tmp_path / "x.h").symlink_to("real/x.h")
    assert place_of("link/../x.h", str(tmp_path)) == "x.h"


def test_who_includes_a_file() -> None:
    shown = """\
. /p/inc/a.h
.. ./b.h
... c.h
.. /usr/include/d.h
a.hip:3:1: warning: extra tokens at end of #include directive
. c.h
.. d.h
"""
    assert read_includers(shown, "/p") == {"b.h": "inc/a.h", "c.h": "b.h", "/usr/include/d.h": "inc/a.h", "d.h": "c.h"}


def test_what_is_declared() -> None:
    declared = Declared(["a.h", "inc/b.h", "made.dir/"], ["/usr/include", "external/zig/lib"])
    fine = ["a.h", "inc/b.h", "made.dir/deep/c.h", "/usr/include/d.h", "external/zig/lib/e.h"]
    assert declared.undeclared(fine) == []
    others = ["/usr/include2/d.h", "b.h", "inc/b.hpp", "made.dirs/c.h", "/a.h"]
    assert declared.undeclared([*fine, *others]) == sorted(others)


def test_what_is_unused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a.hip", "used.h", "unused.h", "equal.h", " blank.h", "listed\x0bbreak.h"):
        Path(name).write_text(name, encoding="utf-8")
    # Of two names for one file, clang lists the first: the others are read as well.
    Path("link.h").symlink_to("used.h")
    os.link("used.h", "hard.h")
    Path("tree").mkdir()
    listed = tmp_path / "list"
    headers = ["used.h", "link.h", "unused.h", "hard.h", "equal.h", " blank.h", "tree/", "listed\x0bbreak.h", "gone.h"]
    listed.write_text("".join(f"{one}\n" for one in headers), encoding="utf-8")
    declared = Declared.read(listed, ["/usr//include/"])
    assert declared == Declared(headers, ["/usr/include"])
    assert declared.unused("a.hip", ["used.h", "a.hip"]) == ["unused.h", "equal.h", "listed\x0bbreak.h", "gone.h"]
    assert declared.unused("a.hip", ["tree/c.h"]) == [one for one in headers if one not in (" blank.h", "tree/")]


@pytest.mark.parametrize(
    ("content", "nothing"),
    [
        ('asm(".incbin \\"data.inc\\"");', True),
        ('asm(".include \\"data.inc\\"");', True),
        ("#include <a.h>", False),
        ("a.included", False),
    ],
)
@pytest.mark.parametrize("name", ["a.hip", "used.h"])
def test_what_inline_assembly_reads_is_not_listed(
    name: str, content: str, nothing: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for one in ("a.hip", "used.h", "data.inc"):
        Path(one).write_text(content if one == name else "", encoding="utf-8")
    unused = Declared(["used.h", "data.inc"], []).unused("a.hip", ["a.hip", "used.h"])
    assert unused == ([] if nothing else ["data.inc"])
