"""Lock files (PEP 751): what a closed stream gets from them, and what a stream offers, one for each GPU.

A stream's lock has the newest build for a GPU, and the newest version of every other project that goes with it, such as
a framework: whatever these require is in the lock, too. A project that requires what the stream lacks is left out.
"""

import hashlib
import posixpath
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import urllib3
from packaging.utils import canonicalize_name

from lib.common.command import CannotRunError
from lib.common.program import ToolError
from lib.index.selector import TargetPackage
from lib.wheel.machines import DEFAULT_PLATFORM, PYTHONS, Machine, fits, holds
from wheels.channel.model import Build, Channel, File
from wheels.channel.requirements import Shelf, parse
from wheels.verify.wheel_set.closure import accepts


def fetch_locked(lock: Path, folder: Path, where: Iterable[tuple[str, str]] = (DEFAULT_PLATFORM,)) -> Iterator[Path]:
    """Fetch the wheels of a lock file that can be installed somewhere, and sdists of what has none; yield the files.

    Raises CannotRunError for a file that is not a lock file or cannot be fetched, ToolError for another hash.
    """
    try:
        packages = tomllib.loads(lock.read_text(encoding="utf-8"))["packages"]
        machines = [Machine(python, *platform) for python in PYTHONS for platform in where]
        for package in packages:
            wheels = [one for one in package.get("wheels", ()) if any(fits(_name(one), "", it) for it in machines)]
            for one in wheels or [package["sdist"]]:
                yield _fetch(one["url"], one["hashes"]["sha256"], folder / _name(one))
    except (ValueError, KeyError, TypeError) as error:
        raise CannotRunError(
            f"{lock}: is not a lock file with URLs and SHA-256: {error!r}. Write it with uv export --format pylock.toml"
        ) from None


def _name(file: Mapping[str, str]) -> str:
    return file.get("name") or posixpath.basename(file["url"])


def _fetch(url: str, sha256: str, path: Path) -> Path:
    try:
        answer = urllib3.request("GET", url)
    except urllib3.exceptions.HTTPError as error:
        raise CannotRunError(f"{url}: cannot be fetched: {error}. Call this again") from None
    if answer.status != 200:
        raise CannotRunError(f"{url}: status {answer.status}; expected a distribution. Lock again")
    if hashlib.sha256(answer.data).hexdigest() != sha256:
        raise ToolError(f"{url}: has another SHA-256 than the lock file says. Find out why, and lock again")
    path.write_bytes(answer.data)
    return path


def lock_of(channel: Channel, stream: str, build: Build, target: TargetPackage) -> bytes:
    """Return the lock of a stream for a GPU."""
    listing = channel.listing(stream)
    shelf = Shelf(listing)
    machine = Machine(PYTHONS[-1], *DEFAULT_PLATFORM)
    fronts = [one for one in listing if one.name in build.files and one.is_wheel and target.extra in one.extras]
    chosen: dict[str, File] = {}
    for front in fronts[:1]:
        chosen = (
            _with(f"{front.project}[{target.extra}]=={front.version}", shelf, machine, {front.project: front}) or {}
        )
    others = shelf.projects - {channel.files[name].project for name in build.files}
    for project in sorted(others) if chosen else ():
        for file in sorted(shelf.serving(project), key=lambda one: one.parsed_version, reverse=True):
            found = _with(f"{project}=={file.version}", shelf, machine, chosen)
            if found is not None:
                chosen = found
                break
    return _toml(channel, listing, chosen).encode()


def _with(wanted: str, shelf: Shelf, machine: Machine, chosen: Mapping[str, File]) -> dict[str, File] | None:
    """Return what is chosen together with what a requirement brings, None if that does not go together."""
    found, waiting, seen = dict(chosen), [wanted], set[str]()
    while waiting:
        text = waiting.pop()
        requirement, project, _ = parse(text)
        if text in seen:
            continue
        seen.add(text)
        if project not in found:
            there = [one for one in shelf.serving(text) if fits(one.name, one.requires_python, machine)]
            if not there:
                return None
            found[project] = max(there, key=lambda one: (one.parsed_version, one.is_wheel))
        file = found[project]
        if not accepts(requirement, file.parsed_version):
            return None
        extras = ("", *map(canonicalize_name, requirement.extras))
        waiting += [one for one in file.requires if any(holds(parse(one)[2], extra, machine) for extra in extras)]
    return found


def _toml(channel: Channel, listing: Sequence[File], chosen: Mapping[str, File]) -> str:
    lines = ['lock-version = "1.0"', 'created-by = "rocm-wheels"']
    for project, file in sorted(chosen.items()):
        lines += ["", "[[packages]]", f'name = "{project}"', f'version = "{file.version}"']
        same = [one for one in listing if one.project == project and one.version == file.version]
        wheels = [one for one in same if one.is_wheel and one.name.count("-") < 6]
        for one in wheels or same:
            where = f'url = "{channel.url}{one.path}"' if channel.url else f'path = "../{one.path}"'
            lines += ["[[packages.wheels]]" if one.is_wheel else "[packages.sdist]", f'name = "{one.name}"']
            lines += [f'url = "{one.url}"' if one.url else where]
            lines += [f"size = {one.size}", f'hashes = {{sha256 = "{one.sha256}"}}']
    return "\n".join(lines) + "\n"
