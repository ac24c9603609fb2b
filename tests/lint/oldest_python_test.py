"""No program uses what only later patch releases of a Python have: Debian 12 has 3.11.2, and users may have 3.9.0.

Linters know in which minor version a name came, and vermin finds none newer than 3.9 in what users run. But security
fixes bring names to old versions as well: those that the changelogs of 3.9 to 3.13 tell of are here.
"""

import ast
import re
from collections.abc import Iterator

from tests.lint.workspace import WORKSPACE, sources

#: Function -> its parameter: `filter` came in 3.9.17, 3.10.12 and 3.11.4, `strict` in 3.9.20, 3.10.15 and 3.11.10.
PARAMETERS = {"extract": "filter", "extractall": "filter", "getaddresses": "strict", "parseaddr": "strict"}
#: Attributes: of tarfile with the same releases, and of sys in 3.9.14, 3.10.7 and 3.11.0.
ATTRIBUTES = (
    *("data_filter", "tar_filter", "fully_trusted_filter", "FilterError", "extraction_filter"),
    *("set_int_max_str_digits", "get_int_max_str_digits"),
)


def newer(text: str) -> Iterator[str]:
    """Yield what a source uses of these; what it asks for by `hasattr` and `getattr` is a text, and not meant."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Attribute) and node.attr in ATTRIBUTES:
            yield node.attr
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            parameter = PARAMETERS.get(node.func.attr)
            if parameter and parameter in [keyword.arg for keyword in node.keywords]:
                yield f"{node.func.attr}({parameter}=)"


def test_what_is_found() -> None:
    text = "tar.extractall(path, filter='data')\ntar.extraction_filter = getattr(tarfile, 'data_filter', None)\n"
    assert sorted(newer(text)) == ["extractall(filter=)", "extraction_filter"]
    assert list(newer("tar.extractall(path)\nglob.filter(x, filter=1)\n")) == []


def test_no_program_needs_a_later_patch_release() -> None:
    tests = re.compile(r"^(develop|docs|examples|tests)/|/tests/|_test\.py$")
    paths = [path for path in sources(".py") if not tests.search(path)]
    assert len(paths) > 200
    found = {(path, name) for path in paths for name in newer((WORKSPACE / path).read_text(encoding="utf-8"))}
    assert found == set()
