"""What users can import of a wheel: the fields Import-Name and Import-Namespace of core metadata 2.5 (PEP 794).

    imports_of(["acme/__init__.py", "acme/blas.py", "_acme/__init__.py"]).names   # ("_acme; private", "acme")
    imports_of(["acme/blas/__init__.py"])            # names ("acme.blas",), namespaces ("acme",)

The shortest names are listed that cover all modules. A name with a part that begins with `_` is private. Only modules
in site-packages itself count. Where a path configuration file (`.pth`) leads to a package, a package that the
user installs comes first, so the distribution does not have the name for itself.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from keyword import iskeyword
from typing import Final

#: How the files of modules end: source, and extension modules by the tags of their ABI (PEP 3149), on Windows with or
#: without one. All else that ends in .so is a library.
MODULE: Final = re.compile(r"\.(?:py|(?:(?:cp|pp|graalpy)\d[\w-]*\.)?pyd|abi3\.so|(?:cpython|pypy|graalpy)[\w-]*\.so)$")
#: What makes a directory a package.
_INIT: Final = "__init__"


@dataclass(frozen=True)
class Imports:
    """The values of both fields, sorted; a distribution without any module has none."""

    #: Names that the distribution has for itself.
    names: tuple[str, ...] = ()
    #: Directories without `__init__.py` above them, of which other distributions may have parts.
    namespaces: tuple[str, ...] = ()


def imports_of(paths: Iterable[str]) -> Imports:
    """Return what can be imported of files, given by their paths in site-packages."""
    modules = {tuple(MODULE.sub("", path).split("/")) for path in paths if MODULE.search(path)}
    modules = {parts for parts in modules if all(part.isidentifier() and not iskeyword(part) for part in parts)}
    packages = {parts[:-1] for parts in modules if parts[-1] == _INIT}
    names: set[tuple[str, ...]] = set()
    namespaces: set[tuple[str, ...]] = set()
    for parts in modules - {(_INIT,)}:
        length = next((at for at in range(1, len(parts)) if parts[:at] in packages), len(parts))
        names.add(parts[:length])
        namespaces.update(parts[:at] for at in range(1, length))
    return Imports(_values(names), _values(namespaces))


def _values(names: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    values = ((".".join(parts), any(part.startswith("_") for part in parts)) for parts in names)
    return tuple(f"{name}; private" if is_private else name for name, is_private in sorted(values))
