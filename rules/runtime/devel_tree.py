"""The development tree of an SDK: its install prefix, with headers and links.

    root()                                            # of the package whose `__init__.py` this file is
    DevelTree("site-packages/acme_devel").root()      # of the package in that directory

The wheel has the tree's files, or an archive of them. Links, which no wheel can have, stand in manifests, and are made
on first use: `.devel_links/devel.json` in the package, and `.devel_links/*.json` in the trees of packages that users
choose by GPU or CPU. A link to a file of another package becomes a hard link, a link inside the tree a symbolic one.

RECORD lists what is made here before it is made, so uninstalling removes it, whatever was interrupted. Files are
replaced, never written in place: installers share them between environments. What a user has in the place of a link is
renamed. Whether a link is right is asked of the files; `devel.state` says of what the links were made, and is written
last. Nothing is imported that Python has not loaded already, unless there is work to do: builds start compilers often.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path
    from typing import Any, BinaryIO, Callable

LINKS = ".devel_links"
MANIFEST = f"{LINKS}/devel.json"
STATE = f"{LINKS}/devel.state"
#: An empty file of the wheel. New files get their content under its name, so that RECORD lists them from the start.
JOURNAL = f"{LINKS}/devel.journal"
ARCHIVE = "_devel.tar"
_FORMAT = 1
_IS_WINDOWS = sys.platform == "win32"
#: Bytes of a file's name, on all file systems.
_NAME_MAX = 255


class DevelTreeError(RuntimeError):
    """The tree cannot be made; the text says why, and what to do."""


class ReadOnlyError(DevelTreeError):
    """Links have to be made where this user cannot write."""


def root() -> Path:
    """Return the root of this package's tree, with all links. Raises DevelTreeError."""
    from pathlib import Path

    package = os.path.dirname(os.path.abspath(__file__))
    name = os.path.basename(package)
    return Path(DevelTree(package, command=f'python -c "import {name}; {name}.root()"').root())


def glance(package: str, version: str = "", order: Sequence[str] | None = None) -> str:
    """Return the tree if no package came, went or changed since its links were made; otherwise an empty string.

    `DevelTree` explains `version` and `order`; what is not given is not compared. It takes a few calls of the system,
    and raises nothing.
    """
    try:
        with open(f"{package}/{STATE}", encoding="utf-8") as stream:
            facts = read_json(stream.readline())
        site = os.path.dirname(package)
        manifests = {path: os.stat(f"{site}/{path}").st_size for path in _list_manifests(package, facts["trees"])}
        if (
            facts["format"] == _FORMAT
            and (not version or version == facts["version"])
            and (len(facts["order"]) < 2 or facts["order"] == [tree for tree in order or () if tree in facts["order"]])
            and manifests == facts["manifests"]
            and all(_is_same(f"{site}/{path}", f"{site}/{source}") for path, source in facts["same"])
            and not any(os.path.exists(f"{site}/{source}") for source in facts["absent"])
        ):
            return os.path.join(site, facts["tree"])
    except (AttributeError, KeyError, OSError, TypeError, ValueError):
        pass
    return ""


def read_json(text: str) -> Any:
    """Return what JSON says; raises ValueError. Importing `json` takes long: this is the parser in it, alone."""
    try:
        from _json import make_scanner as make

        hooks = {"parse_float": float, "parse_int": int, "parse_constant": float, "memo": {}, "strict": True}
        make_scanner: Any = make
        scan = make_scanner(type("Hooks", (), {**hooks, "object_hook": None, "object_pairs_hook": None}))
    except (AttributeError, ImportError):  # Of another Python.
        import json

        return json.loads(text)
    text = text.strip()
    try:
        value, end = scan(text, 0)
    except StopIteration:
        raise ValueError("no JSON") from None
    if end != len(text):
        raise ValueError("more than one JSON document")
    return value


def _list_manifests(package: str, trees: Iterable[str]) -> list[str]:
    """Return the paths of all manifests below site-packages, the package's own first."""
    found = [f"{os.path.basename(package)}/{MANIFEST}"]
    for tree in trees:
        try:
            names = os.listdir(f"{os.path.dirname(package)}/{tree}/{LINKS}")
        except (FileNotFoundError, NotADirectoryError):
            continue
        found += [f"{tree}/{LINKS}/{name}" for name in sorted(names) if name.endswith(".json")]
    return found


def _is_same(path: str, source: str) -> bool:
    """Whether two paths lead to one file, or the first is a program's copy where there can be no hard link.

    On an overlay, one file can have two numbers until that is mounted again: on two file systems, or in a namespace of
    a user. Then all that changes with the file has to be the same, also the time of the last change to its links.
    """
    try:
        one, other = os.stat(path), os.stat(source)
    except OSError:
        return False
    if (one.st_ino, one.st_dev) == (other.st_ino, other.st_dev):
        return True
    facts = [(s.st_size, s.st_mtime_ns, s.st_ctime_ns, s.st_mode, s.st_nlink) for s in (one, other)]
    if one.st_nlink > 1 and facts[0] == facts[1]:
        return True
    return one.st_size == other.st_size and (_IS_WINDOWS or (is_program(source) and not os.path.islink(path)))


def is_program(path: str) -> bool:
    """Return whether a file is a program or a script; libraries may have the executable bit, too."""
    if ".so" in os.path.basename(path) or not os.path.isfile(path) or not os.stat(path).st_mode & 0o111:
        return False
    with open(path, "rb") as stream:
        return stream.read(4).startswith((b"#!", b"\x7fELF"))


class Link:
    """A link to be: its text, and where that leads, relative to site-packages; raises ValueError if it leads out."""

    def __init__(self, path: str, text: str, tree: str, symbolic: Iterable[str] = ()) -> None:
        import posixpath

        folder, _, name = path.rpartition("/")
        self.text = text
        self.source = posixpath.normpath(posixpath.join(folder, text))
        self.top = self.source.split("/")[0]
        self.is_outward = self.top != tree
        self.is_symbolic = not _IS_WINDOWS and (not self.is_outward or (name in symbolic and folder == f"{tree}/bin"))
        if text.startswith("/") or self.top == ".." or (_IS_WINDOWS and "\\" in text):
            raise ValueError(f"{path} -> {text} leads out of the installed packages")


class Manifest:
    """A manifest, checked. Raises KeyError, TypeError or ValueError if it is damaged."""

    def __init__(self, path: str, document: Any, tree: str, symbolic: Iterable[str] = ()) -> None:
        self.path, self.version = path, str(document["version"])
        self.tree = str(document.get("tree") or tree)
        self.links = {
            f"{self.tree}/{one['relpath']}": Link(f"{self.tree}/{one['relpath']}", one["target"], self.tree, symbolic)
            for one in document["links"]
        }
        #: What the archive holds, if the package has one.
        self.files = [f"{self.tree}/{path}" for path in document.get("files", ())]
        tops = {link.top for link in self.links.values()}.union(map(str, document.get("trees", ())))
        #: The trees of other packages.
        self.trees = sorted(tops - {self.tree})
        for one in (*self.links, *self.files):
            if {"", ".", ".."}.intersection(one.split("/")):
                raise ValueError(f"{one} is no plain path")

    @property
    def release(self) -> str:
        """The version without the post-release, which a package by GPU or CPU may have."""
        import re

        return re.sub(r"\.post\d+", "", self.version)


def wanted_links(
    manifests: Sequence[Manifest], packed: Iterable[str], is_there: Callable[[str], bool]
) -> tuple[dict[str, Link], list[str]]:
    """Return the links to be, by their paths, and files of other packages that are not there.

    The first of the `manifests` is the devel package's, `packed` are files of its wheel, and `is_there` says what is
    installed. A link to a file that is not there is not made, nor a link that leads nowhere.
    """
    taken = {*packed, *manifests[0].files}
    wanted: dict[str, Link] = {}
    missing: list[str] = []
    for manifest in manifests:
        for path, link in manifest.links.items():
            if link.is_outward and not is_there(link.source):
                missing.append(link.source)
            elif path not in taken:
                wanted.setdefault(path, link)
    files = [*wanted, *taken]
    folders = {"/".join(parts[:n]) for parts in (one.split("/") for one in files) for n in range(1, len(parts))}

    def leads(path: str) -> bool:
        end = end_of(path, wanted)
        last = wanted.get(end)
        return (last is not None and not last.is_symbolic) or end in taken or end in folders or is_there(end)

    return {path: link for path, link in wanted.items() if leads(path)}, missing


def facts_of(
    manifests: Sequence[Manifest], links: Mapping[str, Link], is_there: Callable[[str], bool]
) -> dict[str, Any]:
    """Return what `glance` compares, without sizes: one file of each tree that a manifest leads to stands for all."""
    same: dict[tuple[str, str], list[str]] = {}
    absent: dict[tuple[str, str], str] = {}
    for one in manifests:
        for path, link in one.links.items():
            if link.is_outward and not is_there(link.source):
                absent.setdefault((one.path, link.top), link.source)
            elif link.is_outward and path in links and links[path].source == link.source:
                # A library, if there is one: of a program there may be a copy.
                known = same.get((one.path, link.top), [])
                if not known or (".so" in path and ".so" not in known[0]):
                    same[one.path, link.top] = [path, link.source]
    return {
        "format": _FORMAT,
        "version": manifests[0].version,
        "tree": manifests[0].tree,
        "trees": manifests[0].trees,
        "order": list(dict.fromkeys(one.path.split("/")[0] for one in manifests[1:])),
        "same": list(same.values()),
        "absent": sorted(absent.values()),
    }


class DevelTree:
    """The tree of the package in the directory `package`.

    `tree` is its name beside that, unless the manifest says it. `version`, if given, is what the manifest's has to be.
    `order` has the trees of packages by GPU or CPU, the preferred first: of a path that several have, its file is
    taken. `symbolic` names links in `bin` that stay symbolic. `command` makes the links, for errors.
    """

    def __init__(
        self,
        package: str,
        *,
        command: str,
        tree: str = "",
        version: str = "",
        order: Sequence[str] | None = None,
        symbolic: Sequence[str] = (),
    ) -> None:
        self.package, self.site = package, os.path.dirname(package)
        self.tree, self.version, self.order, self.command = tree, version, order, command
        self._symbolic = symbolic
        self._own = f"{os.path.basename(package)}/{MANIFEST}"
        self._journal = f"{package}/{JOURNAL}"

    def root(self, *, verify: bool = False) -> str:
        """Return the tree, with all links; with `verify`, look at each. Raises DevelTreeError.

        Where this user cannot write, a tree that lacks nothing is used as it is, and a tree that was whole once
        with a warning.
        """
        found = "" if verify else glance(self.package, self.version, self.order)
        if found:
            return found
        from errno import EACCES, EDQUOT, ENOSPC, EPERM, EROFS

        own = self._read_own()
        try:
            with _Lock(self._at(self._own)):
                if verify or not glance(self.package, self.version, self.order):
                    self._update(own, verify=verify)
        except OSError as error:
            if error.errno not in (EACCES, EPERM, EROFS):
                what = (
                    f"there is not enough space for it: {error}. Free some" if error.errno in (ENOSPC, EDQUOT) else ""
                )
                raise DevelTreeError(
                    f"{self._at(own.tree)}: {what or f'it could not be made: {error}. Mend that'}, and run "
                    f"`{self.command}`"
                ) from error
            self._use_as_it_is(own, error)
        return os.path.join(self.site, own.tree)

    def faults(self) -> list[str]:
        """Return what is not as it has to be, of what is made here, each in a few words; nothing is changed.

        Raises DevelTreeError.
        """
        own = self._read_own()
        _, rows = self._find_record(self._own)
        lost = [f"{path} is missing" for path in self._missing(own.files)]
        wanted = self._wanted(own, rows)
        if glance(self.package):
            # With a file of the user, another link leads somewhere since. It is made with the next change.
            made = self._made()
            wanted = {path: link for path, link in wanted.items() if path in made}
        return [*lost, *self._wrong(wanted).values()]

    def user_files(self) -> list[str]:
        """Return what is in the tree and in no RECORD, relative to site-packages."""
        tree = self._read_own().tree
        known = {row[0] for _, rows in self._records() for row in rows}
        found = []
        for folder, folders, files in os.walk(self._at(tree)):
            links = [name for name in folders if os.path.islink(os.path.join(folder, name))]
            folders[:] = sorted(name for name in folders if name != "__pycache__")
            found += [os.path.relpath(os.path.join(folder, name), self.site) for name in [*files, *links]]
        return sorted({path.replace(os.sep, "/") for path in found} - known)

    # What there has to be

    def _at(self, path: str) -> str:
        return f"{self.site}/{path}"

    def _read_own(self) -> Manifest:
        own = self._load(self._own)
        self.tree = own.tree
        if self.version and own.version != self.version:
            raise DevelTreeError(
                f"{self._at(own.tree)} has the version {own.version}; expected {self.version}. Install the same "
                "version of both packages into one environment"
            )
        return own

    def _load(self, path: str) -> Manifest:
        try:
            with open(self._at(path), encoding="utf-8") as stream:
                return Manifest(path, read_json(stream.read()), self.tree, self._symbolic)
        except FileNotFoundError:
            why = "is missing"
        except OSError as error:
            raise DevelTreeError(f"{self._at(path)} cannot be read: {error}. Change that") from error
        except (AttributeError, KeyError, RecursionError, TypeError, ValueError) as error:
            why = f"is damaged ({type(error).__name__}: {error})"
        raise DevelTreeError(f"{self._at(path)} {why}. {self._reinstall(path)}")

    def _reinstall(self, path: str) -> str:
        record, _ = self._find_record(path)
        name, _, version = os.path.basename(os.path.dirname(record)).rpartition(".")[0].partition("-")
        what = f"{name.replace('_', '-')}=={version}" if record else "the package that it belongs to"
        return f"Reinstall it: pip install --force-reinstall --no-deps {what}"

    def _manifests(self, own: Manifest) -> list[Manifest]:
        """Return the manifests of one release: the package's own, and others, the preferred first."""
        order = list(self.order or ())
        trees = sorted(own.trees, key=lambda tree: order.index(tree) if tree in order else -1)
        found = [self._load(path) for path in _list_manifests(self.package, trees)[1:]]
        return [own, *(one for one in found if one.release == own.release)]

    def _wanted(self, own: Manifest, rows: Iterable[Sequence[str]]) -> dict[str, Link]:
        """Return the links to be, by their paths. Raises DevelTreeError if a package that is installed lacks a file."""
        ours = {*_listed(own, rows), *self._made()}

        def is_there(path: str) -> bool:
            """Whether something is there that is not made here."""
            place = self._at(path)
            if not path.startswith(f"{own.tree}/") or not os.path.isdir(place):
                return os.path.exists(place) and path not in ours
            below = (os.path.join(folder, name) for folder, _, names in os.walk(place) for name in names)
            return any(os.path.relpath(one, self.site).replace(os.sep, "/") not in ours for one in below)

        wanted, missing = wanted_links(self._manifests(own), _wheel_files(own.tree, rows), is_there)
        listed = {row[0] for _, rows in self._records() for row in rows} if missing else set()
        if lost := [path for path in missing if path in listed]:
            raise DevelTreeError(
                f"{self._at(lost[0])} is missing, which the development tree links to. {self._reinstall(lost[0])}"
            )
        return wanted

    def _is_there(self, path: str) -> bool:
        return os.path.exists(self._at(path))

    def _wrong(self, links: Mapping[str, Link], *, copies: bool = False) -> dict[str, str]:
        """Return the paths of links that are not as they have to be, and what is wrong.

        With `copies`, a file of the same size will do for any link.
        """
        wrong = {}
        for path, link in links.items():
            place, source = self._at(path), self._at(link.source)
            if not os.path.lexists(place):
                wrong[path] = f"{path} is missing"
            elif link.is_symbolic and os.path.islink(place) and os.readlink(place) == link.text:
                continue
            elif _is_same(place, source) and not (os.path.islink(place) and is_program(source)):
                if not (copies or os.path.samefile(place, source) or _has_bytes_of(place, source)):
                    wrong[path] = f"{path} has other bytes than {link.source}"
            elif not os.path.isfile(place) or not os.path.isfile(source) or _size(place) != _size(source):
                wrong[path] = f"{path} is not {link.source}"
            elif not copies:
                wrong[path] = f"{path} is a second copy of {link.source}, or another file"
        return wrong

    def _missing(self, paths: Iterable[str]) -> list[str]:
        return [path for path in paths if not os.path.isfile(self._at(path))]

    def _use_as_it_is(self, own: Manifest, error: OSError) -> None:
        """Raise ReadOnlyError if anything is missing that had to be written; if the tree was whole once, warn."""
        _, rows = self._find_record(self._own)
        lacking = [*self._missing(own.files), *self._wrong(self._wanted(own, rows), copies=True)]
        if not lacking:
            return
        text = (
            f"{self._at(lacking[0])} has to be made ({len(lacking)} in all), and this user cannot: {error}. Run "
            f"`{self.command}` as a user who can write there, for example in the layer of an image that installs"
        )
        if not self._made():
            raise ReadOnlyError(text)
        import warnings

        warnings.warn(text, RuntimeWarning, stacklevel=4)

    # RECORD and state

    def _records(self) -> Iterator[tuple[str, list[list[str]]]]:
        """Yield the path and the rows of each RECORD: path, hash, size. A RECORD that cannot be read is passed over."""
        import csv
        import glob

        for record in sorted(glob.glob(f"{glob.escape(self.site)}/*.dist-info/RECORD")):
            try:
                with open(record, encoding="utf-8", newline="") as lines:
                    yield record, [[*row, "", ""][:3] for row in csv.reader(lines) if row]
            except (OSError, ValueError, csv.Error):
                continue

    def _find_record(self, path: str) -> tuple[str, list[list[str]]]:
        """Return the RECORD that lists a file, and its rows; an empty string if there is none."""
        return next((one for one in self._records() if any(row[0] == path for row in one[1])), ("", []))

    def _write_record(self, record: str, rows: Iterable[Sequence[str]]) -> None:
        import csv
        import io

        text = io.StringIO(newline="")
        csv.writer(text).writerows(rows)
        self._replace(record, text.getvalue())

    def _replace(self, path: str, text: str) -> None:
        """Write a text file anew, as a whole. RECORD is on disk before it has its name."""
        model = path if os.path.exists(path) else self._at(self._own)

        def write(stream: BinaryIO) -> None:
            stream.write(text.encode())
            if path.endswith("RECORD"):
                stream.flush()
                os.fsync(stream.fileno())

        self._make_file(path, write, os.stat(model).st_mode)

    def _make_file(self, path: str, write: Callable[[BinaryIO], object], mode: int) -> None:
        """Write a file under the name of the journal, and rename it: so it is never there in part."""
        _unlink(self._journal)
        with open(self._journal, "xb") as stream:
            write(stream)
        os.chmod(self._journal, mode & 0o777)
        os.replace(self._journal, path)

    def _state(self, line: int = 0) -> dict[str, Any]:
        """Return a line of the state; nothing if it is missing or damaged."""
        try:
            with open(f"{self.package}/{STATE}", encoding="utf-8") as stream:
                return dict(read_json(stream.readlines()[line]).items())
        except (AttributeError, IndexError, OSError, RecursionError, TypeError, ValueError):
            return {}

    @property
    def was_finished(self) -> bool:
        """Whether all links were made once, by this program."""
        return bool(self._made())

    def _made(self) -> dict[str, Any]:
        """Return what finished calls made: path -> text of a symbolic link, or [inode, size] of a file."""
        return self._state(1)

    def _write_state(self, facts: Mapping[str, Any], made: Mapping[str, Any]) -> None:
        import json

        text = "".join(f"{json.dumps(one, separators=(',', ':'))}\n" for one in (facts, made))
        self._replace(f"{self.package}/{STATE}", text)

    # Making it

    def _update(self, own: Manifest, *, verify: bool) -> None:
        """Make what is missing, remove what is no longer to be there, and say so last."""
        record, rows = self._find_record(self._own)
        if verify and (lost := self._missing(_wheel_files(own.tree, rows))):
            more = f" and {len(lost) - 1} more are" if len(lost) > 1 else " is"
            raise DevelTreeError(f"{self._at(lost[0])}{more} missing. {self._reinstall(lost[0])}")
        links, made = self._wanted(own, rows), self._made()
        listed = _listed(own, rows)
        # What is in the place of another file of the archive was there before: a user's.
        known = {*made, *listed} if record and _has_hashes(own, rows) else {*own.files}
        files = [path for path in own.files if path not in known or not os.path.isfile(self._at(path))]
        wrong = self._wrong(links)
        stale = sorted({*listed, *made} - {*links, *own.files})
        state = f"{os.path.basename(self.package)}/{STATE}"
        others = [row for row in rows if row[0] not in listed and row[0] != state]
        final = [*others, *([path, "", ""] for path in sorted({*links, *own.files, state}))]
        if not record and (files or wrong):
            raise DevelTreeError(
                f"{self.package} is listed in no RECORD, so nothing could remove what has to be made for it. Install "
                "it with pip or uv, for example into a virtual environment"
            )
        if made and (files or wrong or stale):
            self._write_state({}, made)
        for path in stale:
            if self._is_ours(path, made, listed):
                os.unlink(self._at(path))
            if not os.path.lexists(self._at(path)):
                self._remove_empty(path, own.tree)
        kept = [one for path in (*files, *wrong) for one in self._make_room(path, links.get(path), made, listed)]
        if record and sorted(final) != sorted(rows):
            self._write_record(record, final)
        self._unpack(files)
        self._replace_strays(_wheel_files(own.tree, rows))
        self._make_links(wrong, links)
        if record:
            self._finish(own, links, is_changed=bool(files or wrong or stale))
        if kept:
            import warnings

            text = f"{len(kept)} files of yours in the development tree have another name now, for one {kept[0]}"
            warnings.warn(text, RuntimeWarning, stacklevel=4)

    def _finish(self, own: Manifest, links: Mapping[str, Link], *, is_changed: bool) -> None:
        """Write the state, and leave the journal as the wheel has it."""
        made = {path: self._mark(path) for path in (*links, *own.files)}
        facts = facts_of(self._manifests(own), links, self._is_there)
        every = _list_manifests(self.package, own.trees)
        facts["manifests"] = {path: os.path.getsize(self._at(path)) for path in every}
        if is_changed or facts != self._state() or made.keys() != self._made().keys():
            self._write_state(facts, made)
        _, rows = self._find_record(self._own)
        if any(row[0].endswith(f"/{JOURNAL}") for row in rows):
            with open(self._journal, "ab"):
                pass
        else:
            _unlink(self._journal)

    def _mark(self, path: str) -> Any:
        """Return what `_made` says of something; None if it is not there, or a directory."""
        place = self._at(path)
        if os.path.islink(place):
            return os.readlink(place)
        if not os.path.isfile(place):
            return None
        status = os.stat(place)
        return [status.st_ino, status.st_size]

    def _is_ours(self, path: str, made: Mapping[str, Any], listed: Iterable[str]) -> bool:
        """Whether something was made here: as a finished call left it, or by a call that was interrupted."""
        found = self._mark(path)
        return found is not None and (found == made[path] if path in made else path in listed)

    def _remove_empty(self, path: str, tree: str) -> None:
        """Remove the directories above a path of the tree that are empty."""
        while (path := os.path.dirname(path)) != tree:
            try:
                os.rmdir(self._at(path))
            except FileNotFoundError:
                continue
            except OSError:
                return

    def _make_room(self, path: str, link: Link | None, made: Mapping[str, Any], listed: Iterable[str]) -> list[str]:
        """Rename what a user has where something has to be made; return the new names."""
        parts, kept = path.split("/"), []
        for above in ("/".join(parts[:n]) for n in range(2, len(parts))):
            place = self._at(above)
            if os.path.islink(place) or os.path.isfile(place):
                kept.append(_keep(place))
        place = self._at(path)
        if os.path.isdir(place) and not os.path.islink(place):
            if any(files for _, _, files in os.walk(place)):
                kept.append(_keep(place))
            else:
                import shutil

                shutil.rmtree(place)
        elif (
            os.path.lexists(place)
            and not self._is_ours(path, made, listed)
            and not (link and _has_bytes_of(place, self._at(link.source)))
        ):
            kept.append(_keep(place))
        return kept

    def _make_directory(self, folder: str) -> None:
        """Make a directory, and those above it, with the mode of the first that is there, whatever the umask is."""
        if not os.path.isdir(folder):
            above = os.path.dirname(folder)
            self._make_directory(above)
            os.mkdir(folder)
            os.chmod(folder, os.stat(above).st_mode & 0o777)

    def _unpack(self, files: Sequence[str]) -> None:
        """Take files out of the archive. Raises DevelTreeError if it is broken."""
        if not files:
            return
        import functools
        import shutil
        import tarfile

        left = set(files)
        try:
            with tarfile.open(f"{self.package}/{ARCHIVE}", "r:") as tar:
                for member in tar:
                    content = tar.extractfile(member) if member.isreg() and member.name in left else None
                    if content is not None:
                        self._make_directory(os.path.dirname(self._at(member.name)))
                        copy = functools.partial(shutil.copyfileobj, content)
                        self._make_file(self._at(member.name), copy, member.mode & 0o755)
                        left.remove(member.name)
            if left:
                raise EOFError(f"it lacks {min(left)}")
        except (tarfile.TarError, EOFError, FileNotFoundError) as error:
            raise DevelTreeError(
                f"{self.package}: the archive of the development tree is missing or broken "
                f"({str(error).splitlines()[0] if str(error) else type(error).__name__}). "
                f"{self._reinstall(self._own)}"
            ) from error

    def _replace_strays(self, paths: Iterable[str]) -> None:
        """Copy programs that an installer made links to its cache: they look for files beside themselves.

        Those links are absolute.
        """
        import functools
        import shutil

        for place in map(self._at, paths):
            if os.path.islink(place) and os.path.isabs(os.readlink(place)) and is_program(place):
                with open(place, "rb") as content:
                    self._make_file(place, functools.partial(shutil.copyfileobj, content), os.stat(place).st_mode)

    def _make_links(self, paths: Iterable[str], links: Mapping[str, Link]) -> None:
        """Make links; where there can be no hard link, a symbolic one.

        Once the package is gone that such a link leads to, pip takes it for missing. So that package's RECORD lists it,
        too, before it is made.
        """
        refused = {path for path in paths if not self._make_link(path, links)}
        ends = {path: end_of(path, links) for path in links} if refused else {}
        for record, rows in self._records() if refused else ():
            packed = {row[0] for row in rows if row[1]}
            through = [path for path, end in ends.items() if end in refused and links[end].source in packed]
            if new := sorted({*through} - {row[0] for row in rows}):
                self._write_record(record, [*rows, *([path, "", ""] for path in new)])
        for path in refused:
            os.symlink(links[path].text, self._at(path))

    def _make_link(self, path: str, links: Mapping[str, Link]) -> bool:
        """Make one, or a copy of a program; return False where only a symbolic link can be.

        Programs look for what belongs to them beside the file that was started. Copies of all would take gigabytes.
        """
        link, end = links[path], links[path].source
        for _ in range(40):  # On Windows, a link may lead to a link, not made yet.
            end = links[end].source if end in links and not links[end].is_symbolic else end
        place, source = self._at(path), os.path.realpath(self._at(end))
        self._make_directory(os.path.dirname(place))
        _unlink(place)
        if link.is_symbolic:
            os.symlink(link.text, place)
            return True
        try:
            os.link(source, place)
        except OSError as error:
            if not _has_no_hard_link(error):
                raise
            if not (_IS_WINDOWS or is_program(source)):
                return False
            import functools
            import shutil

            with open(source, "rb") as content:
                self._make_file(place, functools.partial(shutil.copyfileobj, content), os.stat(source).st_mode)
        return True


def end_of(path: str, links: Mapping[str, Link]) -> str:
    """Return where a path leads once all links are made; the path of a link in a circle."""
    import posixpath

    for _ in range(40):
        parts = path.split("/")
        for n in range(2, len(parts) + 1):
            link = links.get("/".join(parts[:n]))
            if link and link.is_symbolic:
                path = posixpath.normpath("/".join([link.source, *parts[n:]]))
                break
        else:
            break
    return path


def _has_hashes(own: Manifest, rows: Iterable[Sequence[str]]) -> bool:
    """Whether RECORD has hashes of what came out of the wheel. Some installers write none."""
    return not any(row[0] == own.path and not row[1] for row in rows)


def _listed(own: Manifest, rows: Iterable[Sequence[str]]) -> set[str]:
    """Return what RECORD lists without a hash in the tree, but what Python made: it was made here."""
    if not _has_hashes(own, rows):
        return set()
    below = f"{own.tree}/"
    return {row[0] for row in rows if row[0].startswith(below) and not row[1] and not row[0].endswith(".pyc")}


def _wheel_files(tree: str, rows: Iterable[Sequence[str]]) -> list[str]:
    """Return the tree's files that came out of the wheel."""
    return [row[0] for row in rows if row[1] and row[0].startswith(f"{tree}/")]


def _has_bytes_of(path: str, other: str) -> bool:
    """Return whether a file has the bytes of another one."""
    from filecmp import cmp

    return os.path.isfile(path) and os.path.isfile(other) and cmp(path, other, shallow=False)


def _size(path: str) -> int:
    return os.stat(path).st_size


def _has_no_hard_link(error: OSError) -> bool:
    """Whether there can be no hard link, but another one: link(2) on Linux, CreateHardLink on Windows.

    Another device, no such feature, too many links, not permitted (protected_hardlinks).
    """
    from errno import EMLINK, ENOSYS, EOPNOTSUPP, EPERM, EXDEV

    codes = (EXDEV, EPERM, EOPNOTSUPP, EMLINK, ENOSYS)
    return error.errno in codes or getattr(error, "winerror", None) in (1, 17, 50, 1142)


def _unlink(path: str) -> None:
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass


def _keep(place: str) -> str:
    """Rename a file or directory to the first free name with `.kept` behind it, and return that."""
    folder, name = os.path.split(place)
    number = 1
    while True:
        suffix = f".kept{number if number > 1 else ''}"
        stem = os.fsencode(name)[: _NAME_MAX - len(suffix)].decode(errors="ignore")
        kept = os.path.join(folder, stem + suffix)
        if not os.path.lexists(kept):
            os.rename(place, kept)
            return kept
        number += 1


class _Lock:
    """Lets one process at a time work on a tree: a lock on its manifest, which ends with the process.

    The file is opened for writing because NFS locks nothing else. A reinstallation puts another file there.
    """

    def __init__(self, path: str) -> None:
        self.path = path

    def __enter__(self) -> None:
        while True:
            self.file = open(self.path, "rb+")
            self._wait()
            try:
                if os.path.samestat(os.fstat(self.file.fileno()), os.stat(self.path)):
                    return
            except FileNotFoundError:
                self.file.close()
                raise
            self.file.close()

    def __exit__(self, *_: object) -> None:
        self.file.close()

    def _wait(self) -> None:
        """Wait for the lock. Where there is none, processes do the same work twice."""
        if sys.platform == "win32":
            import msvcrt

            self.file.seek(1 << 30)  # There, nobody can read what is locked.
            while True:
                try:
                    msvcrt.locking(self.file.fileno(), msvcrt.LK_LOCK, 1)
                    return
                except OSError:  # It gives up after ten seconds.
                    continue
        try:
            import fcntl

            fcntl.flock(self.file, fcntl.LOCK_EX)
        except OSError:
            pass
