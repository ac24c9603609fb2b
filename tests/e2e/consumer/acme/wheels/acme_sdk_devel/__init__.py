"""The development tree of the Acme SDK: its install prefix with headers and links, unpacked on first use."""

import tarfile
import tempfile
from pathlib import Path

_TREE = "_acme_sdk_devel"


def root() -> Path:
    """Return the root of the tree, made if it is not there: whole or not at all."""
    here = Path(__file__).resolve().parent
    tree = here.parent / _TREE
    if not tree.is_dir():
        with tempfile.TemporaryDirectory(dir=here.parent, prefix=_TREE + ".") as unfinished:
            with tarfile.open(here / "_devel.tar") as archive:
                archive.extractall(unfinished, filter="data")
            # Links lead to the packages' trees beside this one: they are right once it is in its place.
            Path(unfinished, _TREE).rename(tree)
    return tree
