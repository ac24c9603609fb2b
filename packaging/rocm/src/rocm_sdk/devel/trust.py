"""Whether a development tree outside of site-packages is the user's own, or root's: programs are run out of it.

ROCM_SDK_DEVEL_ROOT may name a directory that others can write, such as one in /tmp. Whoever can change the tree, or
put another one in its place, runs programs as the user. So all that leads to the tree is looked at, up to `/`, as
sshd(8) looks at what its StrictModes are about.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from ..errors import DevelError
from ..system import IS_WINDOWS
from .layout import ROOT_VARIABLE, DevelLayout

_ALL_IDS = 2**32 - 1


def require_trust(layout: DevelLayout) -> None:
    """Raise DevelError if someone but root and the user can change the tree of `layout`, or has made it.

    What is not there yet, or out of reach, is not looked at: ask again once it is. On Windows nothing is: there, what
    others may write to has to be opened to them.
    """
    if not layout.is_elsewhere or IS_WINDOWS:
        return
    owners = {os.geteuid(), 0}
    for path in (layout.root, layout.home):
        with suppress(OSError):
            _require(layout, path, _fault(path, path.stat(), owners, shared=False))
    for path in _way(layout.root):
        with suppress(OSError):
            status = path.lstat()
            if status.st_uid not in owners:
                owners |= _outsiders()
            _require(layout, path, _fault(path, status, owners, shared=True))


def _require(layout: DevelLayout, path: Path, fault: str) -> None:
    if fault:
        raise DevelError(
            f"{path} {fault}; expected that only you or root can change what leads to the development tree "
            f"{layout.root}, since programs are run out of it. Set {ROOT_VARIABLE}, which names its parent directory "
            f"now, to a directory of your own; or have {path} changed: chown, chmod go-w"
        )


def _way(path: Path) -> Iterator[Path]:
    """Yield the path, each directory above it, and the same of all that links on the way lead to."""
    seen: set[Path] = set()
    todo = [path]
    while todo:
        one = todo.pop()
        if one in seen:
            continue
        seen.add(one)
        yield one
        todo.append(one.parent)
        with suppress(OSError):  # No link, not there, or out of reach.
            todo.append(one.parent / one.readlink())


def _fault(path: Path, status: os.stat_result, owners: set[int], *, shared: bool) -> str:
    """Say what is wrong with a file's owner and mode, empty if nothing is.

    `shared`: directories may be for all to write if they are sticky: what is in them is its owner's.
    """
    if status.st_uid not in owners:
        return f"belongs to {_user_name(status.st_uid)}"
    if stat.S_ISLNK(status.st_mode) or (shared and status.st_mode & stat.S_ISVTX):
        return ""
    if status.st_mode & stat.S_IWOTH:
        return f"can be written by everyone (mode {stat.S_IMODE(status.st_mode):04o})"
    if status.st_mode & stat.S_IWGRP and _has_acl(path):
        return "can be written by those whom its access control list names (getfacl, setfacl -b)"
    if status.st_mode & stat.S_IWGRP and not _is_private_group(status):
        return f"can be written by the group {_group_name(status.st_gid)} (mode {stat.S_IMODE(status.st_mode):04o})"
    return ""


def _has_acl(path: Path) -> bool:
    """Return whether a file has a POSIX access control list: then the group's bits are for all whom the list names."""
    try:
        return "system.posix_acl_access" in os.listxattr(path)
    except (AttributeError, OSError):  # Another system, or a file system without such lists.
        return False


def _outsiders() -> set[int]:
    """Return the user whom the kernel shows for all that a user namespace does not know, such as root outside of it.

    So `/` looks in a container without root. See user_namespaces(7); empty outside of such namespaces.
    """
    try:
        mapped = sum(int(line.split()[2]) for line in Path("/proc/self/uid_map").read_text("ascii").splitlines())
        unknown = int(Path("/proc/sys/kernel/overflowuid").read_text("ascii"))
    except OSError:
        return set()
    return set() if mapped == _ALL_IDS else {unknown}


def _is_private_group(status: os.stat_result) -> bool:
    """Return whether a file's group is root's, or its owner's private group, which has the owner's name."""
    import grp  # Only here, and below: rarely needed.
    import pwd

    if status.st_gid == 0:
        return True
    try:
        group, owner = grp.getgrgid(status.st_gid), pwd.getpwuid(status.st_uid)
    except KeyError:
        return False
    return group.gr_name == owner.pw_name and set(group.gr_mem) <= {owner.pw_name}


def _user_name(number: int) -> str:
    import pwd

    try:
        return f"{pwd.getpwuid(number).pw_name} (user {number})"
    except KeyError:
        return f"user {number}"


def _group_name(number: int) -> str:
    import grp

    try:
        return f"{grp.getgrgid(number).gr_name} ({number})"
    except KeyError:
        return str(number)
