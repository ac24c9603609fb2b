"""Small directories to publish, for tests. As in a real index, a page lists each file with its digest."""

import hashlib
from collections.abc import Mapping
from pathlib import Path

CORE = "rocm_sdk_core-7.0-py3-none-linux_x86_64.whl"
SDIST = "rocm-7.0.tar.gz"
STATIC = "static/rocm-7.0-py3-none-any.whl"
#: A wheel variant, and the list of all variants of its version.
VARIANT = "rocm-7.0-py3-none-any-gfx942.whl"
VARIANT_LIST = "rocm-7.0-variants.json"
FILES = {CORE: b"core", f"{CORE}.metadata": b"Name: rocm-sdk-core", SDIST: b"selector", STATIC: b"static selector"}


def page(files: Mapping[str, bytes]) -> bytes:
    """Write a page that names files and their digests."""
    lines = [f"{path} {hashlib.sha256(content).hexdigest()}\n" for path, content in sorted(files.items())]
    return "".join(lines).encode()


def with_pages(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return files together with the pages of an index that names them all."""
    return {**files, "simple/rocm/index.html": page(files), "simple/index.html": page(files), "index.html": page(files)}


def write(directory: Path, files: Mapping[str, bytes]) -> Path:
    """Write files into a directory, without anything else; return the directory."""
    for path, content in files.items():
        file = directory / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    return directory


def tree(directory: Path) -> dict[str, bytes]:
    """Return all files of a directory that people see: those without a dot in front."""
    found = (path for path in sorted(directory.rglob("*")) if path.is_file() and not path.name.startswith("."))
    return {path.relative_to(directory).as_posix(): path.read_bytes() for path in found}


def promises_kept(files: Mapping[str, bytes]) -> bool:
    """Whether each file that a page names is there, with the digest that the page gives."""
    for path, content in files.items():
        if path.endswith(".html"):
            for line in content.decode().splitlines():
                name, digest = line.split()
                if name not in files or hashlib.sha256(files[name]).hexdigest() != digest:
                    return False
    return True
