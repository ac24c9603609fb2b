"""What is pasted of a page, and what counts as a failure."""

from pathlib import Path

import pytest

from tests.docs.pasted import main, script

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


def test_the_first_failure_is_the_end(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "page.md"
    path.write_text(f"```sh\nfalse\ntouch {tmp_path}/reached\n```\n")
    assert main([str(path)]) == 1
    assert not (tmp_path / "reached").exists()
    assert f"{path}: a command failed" in capsys.readouterr().err


def test_a_page_without_commands() -> None:
    with pytest.raises(ValueError, match="no block of sh"):
        script("# A page\n", "/scratch")
