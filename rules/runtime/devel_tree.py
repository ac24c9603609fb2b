"""The development tree of an SDK: its install prefix with headers and links, unpacked on first use.

The wheel contains the tree as an archive, because wheels cannot contain links.
"""

import tarfile
import tempfile
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def root() -> Path:
    """Return the root of the tree, which lies beside the packages; unpack it if it is not there.

    The tree appears whole or not at all, even if several processes ask at a time. Raises OSError if site-packages
    cannot be written, or the package has no archive.
    """
    archive = next(_PACKAGE.glob("_devel.tar*"), None)
    if archive is None:
        raise FileNotFoundError(
            f"{_PACKAGE} has no _devel.tar: a plain devel package has its tree as ordinary files, beside this package"
        )
    with tarfile.open(archive) as members:
        first = members.next()
        assert first is not None, f"{archive} is empty"
        tree = _PACKAGE.parent / first.name.partition("/")[0]
        if not tree.is_dir():
            with tempfile.TemporaryDirectory(dir=tree.parent, prefix=f"{tree.name}.") as unfinished:
                members.extractall(unfinished, filter="data")
                # Links lead to the packages' trees beside this one: they are right once it is in its place.
                _move(Path(unfinished, tree.name), tree)
    return tree


def _move(unpacked: Path, tree: Path) -> None:
    """Put the tree in its place, unless another process was faster."""
    try:
        unpacked.rename(tree)
    except OSError:
        if not tree.is_dir():
            raise
