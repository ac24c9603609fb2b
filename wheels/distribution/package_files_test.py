"""Imports name the packages of the distribution, and every module of it can be imported without the repository."""

import ast
from pathlib import Path

import pytest

from wheels.distribution.package_files import PACKAGES, main, rewritten


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("from lib.elf.reader import read_elf", "from rocm_wheels.lib.elf.reader import read_elf"),
        ("from lib.elf import constants as c", "from rocm_wheels.lib.elf import constants as c"),
        ("from wheels.verify import engine", "from rocm_wheels.verify import engine"),
        ("    from wheels.channel.bucket import A", "    from rocm_wheels.channel.bucket import A"),
        ("from rocm_sdk.init_py import text", "from rocm_wheels.rocm_sdk.init_py import text"),
        ("from library import a\nfrom wheelsmith.x import b", "from library import a\nfrom wheelsmith.x import b"),
        ("from .elf import read_dynamic", "from .elf import read_dynamic"),
    ],
)
def test_imports(source: str, expected: str) -> None:
    assert rewritten(source) == expected


def test_lines_stay_where_they_are() -> None:
    source = '"""Text."""\n\nfrom lib.a import (\n    b,\n)\n\nx = "from lib"\n'
    assert rewritten(source).count("\n") == source.count("\n")
    assert rewritten(source).endswith('x = "from lib"\n')


def test_only_import_statements_of_this_form_are_used() -> None:
    """`import lib.x` would need another name where it is used; the repository has no such import."""
    root = Path(__file__).resolve().parents[2]
    for folder in ("lib", "wheels"):
        for path in (root / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                names = [one.name.split(".")[0] for one in node.names] if isinstance(node, ast.Import) else []
                assert not set(names) & set(PACKAGES), path


def test_other_files_are_copied(tmp_path: Path) -> None:
    (tmp_path / "a.so").write_bytes(b"\xff from lib.x")
    assert main(["--label=//:x", f"--file={tmp_path}/a.so={tmp_path}/b.so"]) == 0
    assert (tmp_path / "b.so").read_bytes() == b"\xff from lib.x"
