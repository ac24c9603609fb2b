"""What is pasted of a page, and what counts as a failure."""

from pathlib import Path

import pytest

from tests.docs import pasted
from tests.docs.pasted import main, script, section

PAGE = """\
# A page

```sh
echo one > /tmp/a
cd /tmp/
```

```starlark
not(pasted)
```

```sh
cat a    # prints one
```
"""


def test_the_blocks_of_sh_in_order_elsewhere() -> None:
    lines = script(PAGE, "/scratch").splitlines()
    assert lines[2:] == ["echo one > /scratch/a", "cd /scratch/", 'test "$(cat a)" = "one"']


@pytest.mark.parametrize(("page", "status"), [(PAGE, 0), (PAGE.replace("prints one", "prints two"), 1)])
def test_a_page(tmp_path: Path, page: str, status: int) -> None:
    path = tmp_path / "page.md"
    path.write_text(page)
    assert main([str(path)]) == status


def test_one_section() -> None:
    page = "# A page\n\n## The first\n\none\n\n## A second one\n\n```sh\n# two\n```\n\n### More\n\n## Third\n"
    assert section(page, "a-second-one") == "## A second one\n\n```sh\n# two\n```\n\n### More\n\n"
    assert section(page, "") == page
    with pytest.raises(ValueError, match="no section 'fourth'"):
        section(page, "fourth")


def test_artifacts_and_a_section(tmp_path: Path) -> None:
    (tmp_path / "given").mkdir()
    (tmp_path / "given" / "file").write_text("data\n")
    path = tmp_path / "page.md"
    path.write_text("## Bad\n\n```sh\nfalse\n```\n\n## Good\n\n```sh\ncat /tmp/artifacts/file  # prints data\n```\n")
    assert main([f"{path}#good", f"--artifacts={tmp_path / 'given'}"]) == 0


def test_bazel_is_bazelw(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It adds no options: a page must say everything that its readers need."""
    (tmp_path / "bazelw").write_text('#!/bin/sh\necho "$@"\n')
    (tmp_path / "bazelw").chmod(0o755)
    monkeypatch.setattr(pasted, "WORKSPACE", tmp_path)
    path = tmp_path / "page.md"
    path.write_text("```sh\ncd /tmp/\nbazel build //:a # prints build //:a\n```\n")
    assert main([str(path)]) == 0


def test_a_page_without_commands() -> None:
    with pytest.raises(ValueError, match="no block of sh"):
        script("# A page\n", "/scratch")
