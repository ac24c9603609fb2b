"""What the builder makes of pages before MkDocs reads them."""

from pathlib import Path

from docs.generator.site_builder import navigation, stage, without_sources

ROUTE = """\
# Documentation

## Using

- [One](using/one.md), and [two](rocm/two.md#a)
- [Not a page](../x.py)

## Rest
"""
PAGES = ("README.md", "CHANGELOG.md", "docs/README.md", "docs/using/one.md", "docs/rocm/two.md")


def test_the_route_is_the_navigation() -> None:
    assert navigation("docs/README.md", ROUTE, PAGES) == [
        "README.md",
        "docs/README.md",
        {"Using": ["docs/using/one.md", "docs/rocm/two.md"]},
        {"Rest": []},
        "CHANGELOG.md",
    ]


def test_links_to_sources_become_paths() -> None:
    text = "[one](../using/one.md#x), [a](#b), [`x.py`](../../x.py), [the code](../../lib/), ![p](../p.svg), [w](https://a/b)"
    assert without_sources("docs/rocm/two.md", text, PAGES) == (
        "[one](../using/one.md#x), [a](#b), `x.py`, the code (`lib`), ![p](../p.svg), [w](https://a/b)"
    )


def test_pages_keep_their_paths(tmp_path: Path) -> None:
    (tmp_path / "page").write_text("[a](../x.py)")
    (tmp_path / "picture").write_bytes(b"<svg/>")
    files = {"docs/a.md": str(tmp_path / "page"), "docs/p.svg": str(tmp_path / "picture")}
    stage(files, tmp_path / "staged")
    assert (tmp_path / "staged/docs/a.md").read_text() == "a (`x.py`)"
    assert (tmp_path / "staged/docs/p.svg").read_bytes() == b"<svg/>"
