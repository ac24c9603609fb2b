"""Aggregate streams: they list what other streams list, of this channel or another one, without copying it."""

import posixpath
from collections.abc import Sequence
from dataclasses import replace
from urllib.parse import quote, urljoin

import urllib3

from lib.common.command import CannotRunError, FoundError
from wheels.channel.model import CHANNEL, File, from_json
from wheels.channel.place import Place


def _read(place: Place, where: str) -> bytes:
    if "://" not in where:
        there = place.read(where)
        if there is None:
            raise CannotRunError(f"{where}: no such file; expected a channel there. Correct the sources of the stream")
        return there.content
    try:
        answer = urllib3.request("GET", where)
    except urllib3.exceptions.HTTPError as error:
        raise CannotRunError(f"{where}: cannot be read: {error}. Call this again") from None
    if answer.status != 200:
        raise CannotRunError(f"{where}: status {answer.status}; expected a channel. Correct the sources of the stream")
    return bytes(answer.data)


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
                raise FoundError(
                    f"{stream}: both {owners[file.project]} and {source} have {file.project}; expected one source of a "
                    "name. Leave one out"
                )
            is_own = where == CHANNEL and not file.url
            url = "" if is_own else file.url if "://" in file.url else _joined(source, file.url or f"../{file.path}")
            found.append((replace(file, url=url), directory))
    return found
