"""The inside of `jail.py`: makes a bare root file system in namespaces of its own, and becomes a command there.

    unshare --user --map-root-user --mount --net --ipc --uts --pid --fork python3 enter.py JSON

JSON is an object with what `jail.py` knows: `root`, an empty directory to mount on; `visible`, absolute paths that are
shown where they are; `execroot`, the directory that becomes /execroot; `clock`, the library that becomes CLOCK;
`command` and `environment`. Exit code 125 and a
message say that there could be no such place. See mount(2), pivot_root(2), mount_namespaces(7) and capabilities(7).
"""

import ctypes
import json
import os
import sys
from pathlib import Path
from typing import Any

#: An exit code that no program here has: `env` and container engines use it where they themselves fail.
FAILED = 125
HOSTNAME = b"jail"
#: The library to preload, in the new root.
CLOCK = "/clock.so"

# <sys/mount.h>
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC = 1, 2, 4, 8
MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE = 1 << 5, 1 << 12, 1 << 14, 1 << 18
MNT_DETACH = 2
# <sys/prctl.h>
PR_CAPBSET_READ, PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS = 23, 24, 38

LIBC = ctypes.CDLL(None, use_errno=True)


def call(name: str, *arguments: str | bytes | int | None) -> None:
    """Call a function of the C library. Raises OSError if it fails."""
    converted = [os.fsencode(one) if isinstance(one, str) else one for one in arguments]
    if getattr(LIBC, name)(*converted):
        code = ctypes.get_errno()
        raise OSError(code, f"{name}{arguments}: {os.strerror(code)}")


def mount(source: str, target: str, kind: str | None, flags: int, data: str | None = None) -> None:
    """Mount a file system."""
    call("mount", source, target, kind, ctypes.c_ulong(flags).value, data)


def make_read_only(path: str) -> None:
    """Make what is mounted at a path read-only. Flags that came from outside must stay: they are locked."""
    locked = os.statvfs(path).f_flag & (MS_NOSUID | MS_NODEV | MS_NOEXEC)
    mount("none", path, None, MS_REMOUNT | MS_BIND | MS_RDONLY | locked)


def show(root: str, path: str) -> None:
    """Show a path of the machine in the new root, read-only; a link as the link that it is."""
    target = root + path
    Path(target).parent.mkdir(parents=True, exist_ok=True)
    if Path(path).is_symlink():
        Path(target).symlink_to(Path(path).readlink())
        return
    if Path(path).is_dir():
        Path(target).mkdir()
    else:
        Path(target).touch()
    mount(path, target, None, MS_BIND | MS_REC)
    make_read_only(target)


def build_root(root: str, visible: list[str], execroot: str, clock: str) -> None:
    """Mount all that the command gets to see."""
    mount("none", "/", None, MS_REC | MS_PRIVATE)
    mount("tmpfs", root, "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755")
    for path in visible:
        show(root, path)
    for folder in ("dev", "execroot", "home", "proc", "tmp"):
        Path(root, folder).mkdir()
    Path(root, "dev/null").touch()
    mount("/dev/null", f"{root}/dev/null", None, MS_BIND)
    mount("proc", f"{root}/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC)
    mount("tmpfs", f"{root}/tmp", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777")
    mount(execroot, f"{root}/execroot", None, MS_BIND)
    Path(root + CLOCK).touch()
    mount(clock, root + CLOCK, None, MS_BIND)
    make_read_only(root)


def enter_root(root: str) -> None:
    """Make a directory the root, and forget the old one."""
    os.chdir(root)
    call("pivot_root", ".", ".")  # the new root lies on the old one, so this is the old one's top
    call("umount2", ".", MNT_DETACH)
    os.chdir("/execroot")


def drop_capabilities() -> None:
    """Give up for good what root may do beyond others, such as writing to files that nobody may write."""
    call("prctl", PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    capability = 0
    while LIBC.prctl(PR_CAPBSET_READ, capability, 0, 0, 0) == 1:
        call("prctl", PR_CAPBSET_DROP, capability, 0, 0, 0)
        capability += 1


def main(argv: list[str]) -> None:
    """Make the place and become the command."""
    spec: dict[str, Any] = json.loads(argv[0])
    try:
        call("sethostname", HOSTNAME, len(HOSTNAME))
        build_root(spec["root"], spec["visible"], spec["execroot"], spec["clock"])
        enter_root(spec["root"])
        drop_capabilities()
    except OSError as error:
        print(f"jail: {error.strerror}", file=sys.stderr)
        raise SystemExit(FAILED) from error
    os.execve(spec["command"][0], spec["command"], spec["environment"])


if __name__ == "__main__":
    main(sys.argv[1:])
