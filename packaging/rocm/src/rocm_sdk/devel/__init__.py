"""The development tree: a whole ROCm prefix (`bin`, `include`, `lib`, `lib/cmake`) made inside site-packages.

Wheels cannot hold links and should not hold a file twice, so the devel package ships an archive of the files that only
it has, with links for the rest. The tree is made from it on first need, and its links follow the packages that come
and go. `devel_root` is the entry; the modules below it:

- `glance`   tells console scripts where the tree is, if nothing has changed, and loads nothing,
- `layout`   where things lie, and the errors when they do not,
- `state`    what was made, and from which packages: absent until all is done,
- `expand`   making and changing the tree, under a lock,
- `archive`  unpacks `_devel.tar[.xz]`, `xz` says how large that gets, `space` whether there is room,
- `trust`    refuses a tree that others could have made or changed,
- `links`    makes the tree's links equal to what the installed packages ask for,
- `user_files` keeps what users put into it,
- `replace`  replaces a file as a whole, RECORD for one,
- `failures` says what to do about errors,
- `inspect`  looks for faults.

The tree is made in site-packages, or below the directory that ROCM_SDK_DEVEL_ROOT names. A devel package that was built
with the layout `plain` has it as ordinary files instead; then there is nothing to make.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["devel_root"]


def devel_root(*, verify: bool = False, quiet: bool = False) -> Path:
    """Return the root of the development tree, made or brought up to date first if need be.

    When nothing has changed since the last call that takes about a millisecond and no lock. A tree outside of
    site-packages must be the user's own, or root's. With `verify` every file
    is looked for, and the tree made again if one is missing. A progress bar is shown on a terminal, unless `quiet`.
    Raises DevelError, with the remedy in its text.
    """
    # Only here: console scripts import this package for `glance` alone.
    from .layout import find_layout
    from .state import is_at_a_glance, is_current
    from .trust import require_trust

    layout = find_layout()
    if layout.is_plain:
        layout.check()
        return layout.root
    require_trust(layout)
    if verify or not is_current(layout):
        from .expand import update

        update(layout, verify, quiet)
    elif not is_at_a_glance(layout):
        from .expand import renew_basis

        renew_basis(layout)
    return layout.root
