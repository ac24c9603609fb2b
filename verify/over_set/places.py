"""The directory tree that installed packages make, with the symbolic links of a development tree in it.

    places = Places(files, links)
    places.resolve("_rocm_sdk_devel/lib/libhip.so")  # the file behind the link

Pure functions over paths relative to site-packages; a path that leads out of it is nowhere.
"""

import posixpath
from collections.abc import Collection, Mapping
from typing import Final

#: The kernel follows no more links in one path (path_resolution(7)).
MAX_LINKS: Final = 40


class Places:
    """Files, and links with their texts; directories are those that the paths of both imply, and `directories`."""

    def __init__(self, files: Collection[str], links: Mapping[str, str], directories: Collection[str] = ()) -> None:
        self._files = frozenset(files)
        self._links = links
        self._directories = {""}
        for path in (*files, *links):
            self._add_parents(posixpath.dirname(path))
        for path in directories:
            self._add_parents(path)

    def _add_parents(self, path: str) -> None:
        while path not in self._directories:
            self._directories.add(path)
            path = posixpath.dirname(path)

    def resolve(self, path: str) -> str | None:
        """Return the path without links; None if there is nothing, or it leads out of site-packages."""
        return self._resolve(path, MAX_LINKS)

    def find_file(self, path: str) -> str | None:
        """Return the path without links of the file that a path leads to; None if it leads to none."""
        found = self.resolve(path)
        return found if found in self._files else None

    def _resolve(self, path: str, budget: int) -> str | None:
        if not self._links:
            plain = inside(path)
            return plain if plain is not None and (plain in self._files or plain in self._directories) else None
        here: list[str] = []
        rest = [part for part in reversed(path.split("/")) if part not in ("", ".")]
        while rest:
            part = rest.pop()
            if part == "..":
                if not here:
                    return None
                here.pop()
                continue
            here.append(part)
            now = "/".join(here)
            text = self._links.get(now)
            if text is not None:
                budget -= 1
                if budget < 0 or text.startswith("/"):
                    return None
                here.pop()
                rest += [part for part in reversed(text.split("/")) if part not in ("", ".")]
            elif now not in self._directories and not (now in self._files and not rest):
                return None
        return "/".join(here)


def inside(path: str) -> str | None:
    """Return the path in normal form, taken as text; None if it is absolute or leads out of site-packages."""
    normal = posixpath.normpath(path)
    if normal.startswith(("/", "../")) or normal == "..":
        return None
    return "" if normal == "." else normal
