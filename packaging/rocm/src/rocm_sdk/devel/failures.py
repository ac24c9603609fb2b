"""What can go wrong while the development tree is made, in words that say what to do."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager

from ..errors import DevelError, DevelReadOnlyError
from .archive import READ_ERRORS
from .layout import ROOT_VARIABLE, DevelLayout

_READ_ONLY = frozenset((errno.EACCES, errno.EPERM, errno.EROFS))
_FULL = frozenset((errno.ENOSPC, errno.EDQUOT))


@contextmanager
def explained_errors(layout: DevelLayout) -> Iterator[None]:
    """Turn what the system says into a DevelError that says what a user can do."""
    try:
        yield
    except READ_ERRORS as error:
        raise DevelError(
            f"{layout.glue}: the archive of the development tree is broken ({error}). Reinstall it: pip install "
            f"--force-reinstall --no-deps {layout.devel.names.distribution}=={layout.devel.version}"
        ) from error
    except OSError as error:
        if error.errno in _FULL:
            raise DevelError(full_message(layout, str(error))) from error
        if error.errno in _READ_ONLY:
            raise DevelReadOnlyError(_read_only_message(layout, error)) from error
        raise DevelError(f"{layout.root} could not be made: {error}") from error


def full_message(layout: DevelLayout, what: str) -> str:
    """Return what to say when a file system is full; `what` says by how much."""
    return (
        f"not enough space for the development tree {layout.root}: {what}. Free some and run `rocm-sdk init`, or set "
        f"{ROOT_VARIABLE} to a directory with more."
    )


def _read_only_message(layout: DevelLayout, error: OSError) -> str:
    return f"{layout.root} cannot be written ({error}). {read_only_remedy(layout)}"


def read_only_remedy(layout: DevelLayout) -> str:
    """Return what to do if the tree is to be made or changed where this user cannot write."""
    if layout.is_elsewhere:
        return f"Set {ROOT_VARIABLE}, which names its parent directory now, to a directory that you can write to."
    return (
        f"Run `rocm-sdk init` once as a user who can write to {layout.site}, for example when the image is built; or "
        f"set {ROOT_VARIABLE} to a directory that you can write to, and the tree is made there."
    )
