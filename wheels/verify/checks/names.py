"""W108 to W111, W115, W116: each member can be unpacked as it is, on every system that wheels are installed on."""

import stat
from collections import defaultdict
from collections.abc import Iterator
from typing import Final

from lib.plan.windows_names import LONGEST_PATH, is_device, reason_against, units_of
from wheels.verify.finding import Finding, Rule, Severity
from wheels.verify.model import Wheel
from wheels.verify.settings import Settings
from wheels.verify.windows import is_for_windows

SPECIAL = Rule(
    "W108",
    "a link or another special file",
    why="Wheels have no links: pip writes a file that holds the link's text (PEP 427).",
    remedy="Package the file that the link leads to, or replace it by a launcher or forwarder.",
)
OUTSIDE = Rule(
    "W109",
    "a path that leads out of site-packages, or is not valid",
    why="Absolute paths, `..`, backslashes, empty parts and control characters are refused or mean something else on "
    "another system.",
    remedy="Give the file a plain relative path with `/` between its parts.",
)
CLASH = Rule(
    "W110",
    "paths that are the same on some file systems",
    why="macOS and Windows ignore upper and lower case. A file and a directory cannot have the same name.",
    remedy="Rename one of the files.",
)
LONG = Rule(
    "W111",
    "a path that is too long",
    severity=Severity.WARNING,
    why="Windows allows 260 characters for the whole path, including site-packages, and drops longer ones silently.",
    remedy="Shorten directory names, or raise the setting max_path if the wheel is not for Windows.",
)
WHEEL_NAME = Rule(
    "W115",
    "the wheel's file name is not valid",
    why="Installers pick wheels by their names: name-version(-build)-python-abi-platform.whl (PEP 427, PEP 440). A "
    "wheel variant has a label behind the platform.",
    remedy="Name it as the build tool did.",
)
WINDOWS_NAME = Rule(
    "W116",
    "a name that Windows cannot have",
    why="NTFS refuses some characters, Windows leaves dots and spaces at the end out, and a name has 255 characters: "
    "installing fails, or makes another file than RECORD lists. Only wheels for Windows are looked at.",
    remedy="Rename the file.",
)
#: Linux's NAME_MAX, in bytes; macOS and Windows have 255 characters.
LONGEST_PART: Final = 255


def what_is_wrong(path: str) -> str:
    """Say what makes a path unfit for a wheel; empty if it is fine."""
    parts = path.removesuffix("/").split("/")
    if path.startswith("/") or (len(path) > 1 and path[1] == ":"):
        return "is absolute"
    if ".." in parts or "." in parts or "" in parts:
        return "has a part that is empty, `.` or `..`"
    if "\\" in path:
        return "has a backslash"
    if any(ord(char) < 32 or ord(char) == 127 or 0xD800 <= ord(char) < 0xE000 for char in path):
        return "has a control character, or is not UTF-8"
    if any(len(part.encode()) > LONGEST_PART for part in parts):
        return f"has a part of more than {LONGEST_PART} bytes, which no system can have"
    if devices := [part for part in parts if is_device(part)]:
        return f"has the part {devices[0]!r}, which is a device on Windows"
    return ""


def check(wheel: Wheel, settings: Settings) -> Iterator[Finding]:
    """Look at the names and attributes of the members, and at the wheel's own name."""
    name = wheel.filename
    is_windows = is_for_windows(wheel.tags)
    if wheel.name is None:
        yield WHEEL_NAME.finding(name, "", "expected name-version(-build)-python-abi-platform(-label).whl")
    for member in wheel.archive.members:
        if member.is_special:
            yield SPECIAL.finding(name, member.name, f"its mode is {stat.filemode(member.mode)}")
        if wrong := what_is_wrong(member.name):
            yield OUTSIDE.finding(name, member.name, f"the path {wrong}")
        elif is_windows and (wrong := _windows_name(member.name)):
            yield WINDOWS_NAME.finding(name, member.name, wrong)
        if wrong := _length(wheel.installed(member.name) or "", settings.max_path, is_windows=is_windows):
            yield LONG.finding(name, member.name, wrong)
    yield from _clashes(wheel)


def _windows_name(path: str) -> str:
    """Say which part of a path Windows cannot have, and why; empty if it may have all."""
    reasons = ((part, reason_against(part)) for part in path.removesuffix("/").split("/"))
    return next((f"{part!r} {reason}" for part, reason in reasons if reason), "")


def _length(path: str, max_path: int, *, is_windows: bool) -> str:
    """Say that a path is too long; empty if it is not. For Windows no setting raises what its own paths can have."""
    if is_windows and (units := units_of(path)) > LONGEST_PATH:
        return f"{units} characters; Windows has room for {LONGEST_PATH} below site-packages"
    return f"{len(path)} characters, max_path is {max_path}" if 0 < max_path < len(path) else ""


def _clashes(wheel: Wheel) -> Iterator[Finding]:
    """Report paths, of files and of the directories above them, that differ in case alone, or not at all."""
    spellings: defaultdict[str, set[str]] = defaultdict(set)
    folders: set[str] = set()
    for path in wheel.files:
        parts = path.split("/")
        for depth in range(1, len(parts)):
            folders.add("/".join(parts[:depth]))
    for path in (*wheel.files, *folders):
        spellings[path.casefold()].add(path)
    for paths in spellings.values():
        first, *others = sorted(paths)
        for other in others:
            yield CLASH.finding(wheel.filename, other, f"{first!r} is there as well")
    for path in sorted(folders & set(wheel.files)):
        yield CLASH.finding(wheel.filename, path, "is a file, and a directory of other files")
