"""Tests of the names that a wheel gives to import."""

import pytest

from lib.wheel.import_names import Imports, imports_of


@pytest.mark.parametrize(
    ("paths", "imports"),
    [
        ((), Imports()),
        (("acme/__init__.py", "acme/blas/__init__.py", "acme/blas/x.py"), Imports(("acme",))),
        (("_acme/__init__.py", "acme.py"), Imports(("_acme; private", "acme"))),
        (("acme/blas/__init__.py", "acme/fft.py"), Imports(("acme.blas", "acme.fft"), ("acme",))),
        (("a/b/c/d.py",), Imports(("a.b.c.d",), ("a", "a.b", "a.b.c"))),
        (("fast.cpython-312-x86_64-linux-gnu.so", "_core.abi3.so", "w.pyd"), Imports(("_core; private", "fast", "w"))),
        (("lib/libacme.so.1", "lib/libacme.so", "acme/data.json", "acme.pth"), Imports()),
        (("__init__.py", "my-sdk/__init__.py", "a/class/__init__.py", "a/1.py"), Imports()),
        (("a/_b/__init__.py",), Imports(("a._b; private",), ("a",))),
    ],
)
def test_the_shortest_names_that_cover_all(paths: tuple[str, ...], imports: Imports) -> None:
    assert imports_of(paths) == imports
    assert imports_of(reversed(paths)) == imports
