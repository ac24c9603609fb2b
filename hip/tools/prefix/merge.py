"""Merges artifacts into one install prefix, for the repository rule of `@rocm`.

    merge(manifests, output)

`tools.fetch.catalog` wrote each manifest, in the repository that has the artifact's files. The output
directory is laid out as the SDK is when it is installed, with links to these files. So nothing is copied, and Bazel
notices when a file changes. Links of the artifacts stay if they lead to something in the prefix. A link back to
a directory around itself, maybe through others, goes: whoever lists the prefix would never come to an end. Files with
the names of Bazel's own go, too: they would make packages of directories of the prefix.

It needs the standard library alone, because it runs before anything is fetched.
"""

import filecmp
import json
import os
import posixpath
from collections.abc import Sequence, Set
from pathlib import Path
from typing import Final

from lib.common.program import directories_above
from tools.fetch.catalog.names import CatalogError
from tools.fetch.debian.table import SYSDEPS, rule_of

#: A directory with one of these is a package of Bazel. The package above does not have its files.
BUILD_FILES: Final = ("BUILD", "BUILD.bazel")

#: Ends of the names of files that a package has because it is one of Python's.
_PYTHON: Final = (".py", ".pyc")
#: Where dpkg lists the files of each package: `hipcc.list`, `libamdhip64-dev:amd64.list`.
LISTS: Final = "var/lib/dpkg/info"


def files_of_packages(tree: Path) -> frozenset[str] | None:
    """Return the absolute paths that ROCm's packages have in a root directory such as `/usr`.

    Return None if no such package is installed there: then a directory has nothing but an SDK.
    """
    root = tree.parent
    lists = [file for file in sorted((root / LISTS).glob("*.list")) if _is_of_rocm(file)] if tree.name == "usr" else []
    lines = (line for file in lists for line in file.read_text(encoding="utf-8").splitlines())
    return frozenset(f"{root / line.lstrip('/')}" for line in lines) if lists else None


def _is_of_rocm(file: Path) -> bool:
    """Return whether a package is of ROCm or its LLVM. System libraries are in their places anyway."""
    rule = rule_of(file.name.removesuffix(".list").partition(":")[0])
    return rule is not None and rule.base != SYSDEPS


class Prefix:
    """An install prefix to be: the files and links of all artifacts, by path."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self.files: dict[str, Path] = {}
        self.links: dict[str, str] = {}
        self._owners: dict[str, str] = {}

    def add(self, manifest: Path) -> None:
        """Add what a manifest lists. Raises CatalogError if another artifact has the same path with other content."""
        repository = manifest.parent.parent
        try:
            document = json.loads(manifest.read_text(encoding="utf-8"))
            artifact, entries = document["artifact"], document["entries"]
            # The file of an entry is `../{repository}/{path in it}`.
            files = [
                (f"{one['path']}", repository / one["file"].split("/", 2)[2])
                for one in entries
                if one["kind"] == "file"
            ]
            links = [(f"{one['path']}", f"{one['target']}") for one in entries if one["kind"] == "link"]
        except (AttributeError, IndexError, KeyError, OSError, TypeError, ValueError) as error:
            raise CatalogError(
                f"{manifest}: expected the manifest of an artifact ({error!r}). Fetch its repository again"
            ) from None
        for path, file in files:  # Base directories of one artifact may have equal files, too.
            self._add_file(path, file, artifact)
        for path, target in links:
            self._add_link(path, target, artifact)

    def add_tree(
        self, root: Path, path: str = "", around: frozenset[str] = frozenset(), only: Set[str] | None = None
    ) -> None:
        """Add a directory in which an SDK is installed, as `path` of the prefix.

        Links out of it count as the files and directories that they lead to, unless they lead back to where they are:
        into a directory around one of `around` (real paths). If `only` is given, just these absolute paths
        are added. Raises CatalogError for a directory that cannot be read.
        """
        around |= {os.path.realpath(root)}
        for directory, names, files in os.walk(root, onerror=_refuse):
            for place in sorted(Path(directory, name) for name in (*names, *files)):
                if only is not None and str(place) not in only:
                    continue
                inside = place.relative_to(root).as_posix()
                target = os.readlink(place) if place.is_symlink() else ""  # noqa: PTH115 - Path would change the text
                if target and not _leaves(inside, target):
                    self._add_link(posixpath.join(path, inside), target, str(root))
                elif place.is_file():
                    self._add_file(posixpath.join(path, inside), place, str(root))
                elif target and place.is_dir() and not _is_around(os.path.realpath(place), around):
                    self.add_tree(place, posixpath.join(path, inside), around)

    def add_missing(self, root: Path) -> None:
        """Add what the prefix lacks of another directory: of a package beside the development tree, its device code.

        The tree was made of these packages, so all else in them is there, or is Python's.
        """
        beside = Prefix()
        beside.add_tree(root)
        for path, file in beside.files.items():
            if path not in self.files and path not in self.links and not path.endswith(_PYTHON):
                self._add_file(path, file, str(root))

    def _add_file(self, path: str, file: Path, artifact: str) -> None:
        if posixpath.basename(path) in BUILD_FILES:
            return
        known = self.files.get(path)
        if path in self.links or (known and not filecmp.cmp(known, file, shallow=False)):
            raise self._conflict(path, artifact)
        self.files.setdefault(path, file)
        self._owners.setdefault(path, artifact)

    def _add_link(self, path: str, target: str, artifact: str) -> None:
        if path in self.files or self.links.get(path, target) != target:
            raise self._conflict(path, artifact)
        self.links[path] = target
        self._owners.setdefault(path, artifact)

    def _conflict(self, path: str, artifact: str) -> CatalogError:
        if self._owners[path] == artifact:
            return CatalogError(f"{path}: the artifact {artifact} has it twice, with different content. Build it again")
        return CatalogError(
            f"{path}: the artifacts {self._owners[path]} and {artifact} have it with different content; "
            "expected one of them to have it. Replace one of the artifacts"
        )

    def write(self, output: Path) -> None:
        """Write the prefix, with links to the files. Raises CatalogError if a path lies below a file or link."""
        for path in (*self.files, *self.links):
            if above := next((one for one in directories_above(path) if one in self.files or one in self.links), None):
                raise CatalogError(
                    f"{path} of the artifact {self._owners[path]} lies below {above} of {self._owners[above]}, which "
                    "is not a directory; expected a directory there. Replace one of the artifacts"
                )
        for path, file in sorted(self.files.items()):
            place = output / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.symlink_to(file.absolute())
        for path in sorted(self.useful_links()):
            (output / path).parent.mkdir(parents=True, exist_ok=True)
            (output / path).symlink_to(self.links[path])

    def useful_links(self) -> dict[str, str]:
        """Return where the links lead to that stay: to a file, or a directory whose listing comes to an end with it."""
        directories = {parent for file in self.files for parent in directories_above(file)} | {""}
        useful: dict[str, str] = {}
        found = True
        while found:  # A link may lead through others, which come first then.
            found = False
            for path, target in sorted(self.links.items()):
                if path in useful:
                    continue
                place = self._followed(posixpath.dirname(path), target, useful)
                leads_back = place in directories and _reaches(place, posixpath.dirname(path), directories, useful)
                if place is not None and (place in self.files or place in directories) and not leads_back:
                    useful[path] = place
                    found = True
        return useful

    def _followed(self, directory: str, target: str, useful: dict[str, str]) -> str | None:
        """Return the path that a link's text leads to, None if it leaves the prefix or leads through other links."""
        if target.startswith("/"):
            return None
        parts = directory.split("/") if directory else []
        for part in target.split("/"):
            place = "/".join(parts)
            if place in self.files or (part == ".." and not parts):
                return None
            if part == "..":
                parts.pop()
            elif part not in ("", "."):
                place = "/".join([*parts, part])
                if place in self.links and place not in useful:
                    return None
                place = useful.get(place, place)
                parts = place.split("/") if place else []
        return "/".join(parts)


def _is_around(directory: str, inner: Set[str]) -> bool:
    """Return whether a directory is one of those, or around it."""
    return any(_is_in(one, directory) for one in inner)


def _refuse(error: OSError) -> None:
    raise CatalogError(f"{error.filename}: {error.strerror}; expected a directory that Bazel may read (chmod a+rx)")


def _leaves(path: str, target: str) -> bool:
    """Return whether a link's text leads out of the prefix, if no directory on its way is a link."""
    place = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
    return target.startswith("/") or place.split("/")[0] == ".."


def _reaches(start: str, end: str, directories: Set[str], useful: dict[str, str]) -> bool:
    """Return whether someone who lists a directory with all below it, through links, comes to another one."""
    waiting, seen = [start], set()
    while waiting:
        place = waiting.pop()
        if _is_in(end, place):
            return True
        seen.add(place)
        waiting += [to for path, to in useful.items() if _is_in(path, place) and to in directories and to not in seen]
    return False


def _is_in(path: str, directory: str) -> bool:
    return not directory or f"{path}/".startswith(f"{directory}/")


def merge(manifests: Sequence[Path], output: Path, tree: Path | None = None, beside: Sequence[Path] = ()) -> None:
    """Merge artifacts, or a directory in which an SDK is installed, into a prefix; see the top of this file.

    What the prefix lacks then comes from the directories `beside` the tree.

    Raises CatalogError for artifacts that do not fit.
    """
    prefix = Prefix()
    for manifest in manifests:
        prefix.add(manifest)
    if tree:
        prefix.add_tree(tree, only=files_of_packages(tree))
    for directory in beside:
        prefix.add_missing(directory)
    if not prefix.files:
        raise CatalogError(f"{os.fspath(output)}: there are no files for it; expected artifacts of a ROCm build")
    prefix.write(output)
