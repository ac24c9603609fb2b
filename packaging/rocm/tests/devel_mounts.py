"""Real small and read-only file systems for tests: a process with mounts of its own, which end with it.

    in_own_mounts(lambda: check(...))     # check calls mount_memory, make_read_only

Works for root, and where the kernel lets users have namespaces (user_namespaces(7)); elsewhere the test is skipped.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import traceback
from collections.abc import Callable
from pathlib import Path

import pytest

# <linux/sched.h>, <linux/mount.h>
CLONE_NEWNS = 0x00020000
CLONE_NEWUSER = 0x10000000
MS_RDONLY = 1
MS_REMOUNT = 32
MS_REC = 16384
MS_PRIVATE = 1 << 18

_SKIP = "skip: "


def in_own_mounts(check: Callable[[], None]) -> None:
    """Run `check` in a child with mounts of its own; what it raises fails the test here."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        message = _run(check)
        with open(writer, "w", encoding="utf-8") as pipe:
            pipe.write(message)
        os._exit(0)
    os.close(writer)
    with open(reader, encoding="utf-8") as pipe:
        message = pipe.read()
    status = os.waitpid(child, 0)[1]
    if message.startswith(_SKIP):
        pytest.skip(message[len(_SKIP) :])
    assert (message, status) == ("", 0), message


def mount_memory(directory: Path, *, size: int, inodes: int = 0) -> None:
    """Put a file system in memory of `size` bytes, and that many inodes if any, over a directory, with its contents."""
    copy = directory.with_name(directory.name + "-below")
    shutil.copytree(directory, copy, symlinks=True)
    _mount("tmpfs", directory, 0, f"size={size},nr_inodes={inodes}")
    shutil.copytree(copy, directory, symlinks=True, dirs_exist_ok=True)
    shutil.rmtree(copy)


def make_read_only(directory: Path, *, read_only: bool = True) -> None:
    """Make what `mount_memory` put there read-only, or writable again."""
    _mount("tmpfs", directory, MS_REMOUNT | (MS_RDONLY if read_only else 0), "")


def mount_overlay(directory: Path, layers: Path, *, memory: bool) -> None:
    """Put an overlay over a directory, whose contents are the lower layer; with `memory` the upper one is a tmpfs."""
    layers.mkdir()
    if memory:
        _mount("tmpfs", layers, 0, "size=16m")
    for name in ("upper", "work"):
        (layers / name).mkdir()
    _mount("overlay", directory, 0, f"lowerdir={directory},upperdir={layers}/upper,workdir={layers}/work,userxattr")


def _run(check: Callable[[], None]) -> str:
    try:
        _enter_namespace()
    except OSError as error:
        return f"{_SKIP}no mounts can be made here: {error}"
    try:
        check()
    except BaseException:
        return traceback.format_exc()
    return ""


def _enter_namespace() -> None:
    user, group = os.getuid(), os.getgid()
    try:
        _call("unshare", CLONE_NEWNS)
    except PermissionError:
        _call("unshare", CLONE_NEWNS | CLONE_NEWUSER)
        for name, text in (("setgroups", "deny"), ("uid_map", f"0 {user} 1"), ("gid_map", f"0 {group} 1")):
            Path(f"/proc/self/{name}").write_text(text)
    # What is mounted from here on is not seen outside.
    _call("mount", b"none", b"/", None, MS_REC | MS_PRIVATE, None)
    # A sandbox may allow namespaces, yet no mounts.
    _mount("tmpfs", Path("/mnt"), 0, "size=4k")


def _mount(kind: str, target: Path, flags: int, options: str) -> None:
    _call("mount", kind.encode(), os.fsencode(target), kind.encode(), flags, options.encode())


def _call(function: str, *arguments: object) -> None:
    """Call a function of the C library that returns 0 or sets errno."""
    library = ctypes.CDLL(None, use_errno=True)
    converted = [ctypes.c_ulong(argument) if isinstance(argument, int) else argument for argument in arguments]
    if getattr(library, function)(*converted):
        number = ctypes.get_errno()
        raise OSError(number, f"{function}: {os.strerror(number)}")
