"""Files that a stream gets from elsewhere: from a lock file (PEP 751), or from the sources of an aggregate.

An aggregate lists what other streams list, of this channel or another one, without copying it.
"""

import posixpath
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path, PurePosixPath
from urllib.parse import quote, urljoin

from lib.common.command import CannotRunError, FoundError
from lib.common.digest import file_sha256
from lib.common.program import ToolError
from lib.wheel.machines import DEFAULT_PLATFORM, PYTHONS, Machine, fits
from wheels.channel.model import CHANNEL, File, from_json
from wheels.channel.place import Place
from wheels.channel.web import WebPlace, fetch_url


def fetch_locked(lock: Path, folder: Path) -> Iterator[Path]:
    """Fetch the wheels of a lock file that can be installed somewhere, and sdists of what has none; yield the files.

    Raises CannotRunError for a file that is not a lock file or cannot be fetched, ToolError for another hash or a file
    name that leads out of the folder.
    """
    machines = [Machine(python, *DEFAULT_PLATFORM) for python in PYTHONS]
    try:
        for package in tomllib.loads(lock.read_text(encoding="utf-8"))["packages"]:
            name_of = partial(_name, f"{lock}: {package['name']}")
            wheels = [one for one in package.get("wheels", ()) if any(fits(name_of(one), "", it) for it in machines)]
            for one in wheels or [package["sdist"]]:
                path = fetch_url(one["url"], folder / name_of(one))
                if file_sha256(path) != one["hashes"]["sha256"]:
                    raise ToolError(f"{one['url']}: has another SHA-256 than {lock} says. Find out why, and lock again")
                yield path
    except (ValueError, KeyError, TypeError) as error:
        write = "Write it with uv export --format pylock.toml"
        raise CannotRunError(f"{lock}: is not a lock file with URLs and SHA-256: {error!r}. {write}") from None


def _name(where: str, file: Mapping[str, str]) -> str:
    """Return the name of a file. Raises ToolError if it leads out of a folder."""
    name = file.get("name") or posixpath.basename(file["url"])
    if name in ("", "..") or PurePosixPath(name).name != name:
        raise ToolError(f"{where}: has a file {name!r}; expected a name without a directory. Lock again")
    return name


def _read(place: Place, where: str) -> bytes:
    source, path = (WebPlace(posixpath.dirname(where)), CHANNEL) if "://" in where else (place, where)
    if there := source.read(path):
        return there.content
    raise CannotRunError(f"{where}: no such file; expected a channel there. Correct the sources of the stream")


def _joined(base: str, path: str) -> str:
    """Return what a path is that starts at a directory, which is a URL or relative to the aggregate's directory."""
    return urljoin(f"{base}/", quote(path)) if "://" in base else posixpath.normpath(posixpath.join(base, path))


def listed_elsewhere(place: Place, stream: str, sources: Sequence[str]) -> list[tuple[File, str]]:
    """Return the files that the sources of a stream list, and the index of theirs that lists each.

    Raises FoundError for a project that two sources have.
    """
    found: list[tuple[File, str]] = []
    owners: dict[str, str] = {}
    for source in (one.rstrip("/") for one in sources):
        where = _joined(source, f"../{CHANNEL}")
        where = where if "://" in where else posixpath.normpath(f"{stream}/{where}")
        channel = from_json(_read(place, where), where)
        for name, directory in channel.stream(posixpath.basename(source)).files.items():
            file = channel.files[name]
            if owners.setdefault(file.project, source) != source:
                both = f"both {owners[file.project]} and {source} have {file.project}"
                raise FoundError(f"{stream}: {both}; expected one source of a name. Leave one out")
            is_own = where == CHANNEL and not file.url
            url = "" if is_own else file.url if "://" in file.url else _joined(source, file.url or f"../{file.path}")
            found.append((replace(file, url=url), directory))
    return found
