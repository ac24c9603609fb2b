"""Merges artifacts into one install prefix, for the repository rule of `@rocm`.

    python3 -m tools.fetch.prefix.merge --output DIR MANIFEST...

Each MANIFEST is one that `tools.fetch.catalog` wrote, in the repository that has the artifact's files. The output
directory is laid out as the SDK is when it is installed, with links to these files. So nothing is copied, and Bazel
notices when a file changes. Links of the artifacts stay, if they lead to something in the prefix. One that leads to a
directory around itself goes: whoever lists the prefix would never come to an end.

It needs the standard library alone, because it runs before anything is fetched.
"""

import argparse
import filecmp
import json
import os
import posixpath
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from tools.fetch.catalog.names import CatalogError


class Prefix:
    """An install prefix to be: the files and links of all artifacts, by path."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self.files: dict[str, Path] = {}
        self.links: dict[str, str] = {}
        self._owners: dict[str, str] = {}

    def add(self, manifest: Path) -> None:
        """Add what a manifest lists. Raises CatalogError if another artifact has the same path with other content."""
        try:
            document = json.loads(manifest.read_text(encoding="utf-8"))
            artifact, entries = document["artifact"], document["entries"]
        except (OSError, UnicodeDecodeError, ValueError, KeyError, TypeError) as error:
            raise CatalogError(f"{manifest}: expected the manifest of an artifact ({error})") from None
        repository = manifest.parent.parent
        for entry in entries:
            path = entry["path"]
            if entry["kind"] == "file":
                # `../{repository}/{path in it}`
                self._add_file(path, repository / entry["file"].split("/", 2)[2], artifact)
            elif entry["kind"] == "link":
                self._add_link(path, entry["target"], artifact)

    def add_tree(self, root: Path) -> None:
        """Add a directory in which an SDK is installed. Links out of it count as the files that they lead to."""
        for directory, names, files in os.walk(root):
            for place in sorted(Path(directory, name) for name in (*names, *files)):
                path = place.relative_to(root).as_posix()
                target = os.readlink(place) if place.is_symlink() else ""  # noqa: PTH115 - Path would change the text
                if target and not target.startswith("/") and not _followed(path, target).startswith("../"):
                    self._add_link(path, target, str(root))
                elif place.is_file():
                    self._add_file(path, place, str(root))

    def _add_file(self, path: str, file: Path, artifact: str) -> None:
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
        return CatalogError(
            f"{path}: the artifacts {self._owners[path]} and {artifact} have it with different content; "
            "expected one of them to have it. Replace one of the artifacts"
        )

    def write(self, output: Path) -> None:
        """Write the prefix, with links to the files. Raises CatalogError if a file lies below what is a file or link."""
        for path in (*self.files, *self.links):
            if above := next(
                (parent for parent in _parents(path) if parent in self.files or parent in self.links), None
            ):
                raise self._conflict(above, self._owners[path])
        for path, file in sorted(self.files.items()):
            place = output / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.symlink_to(file.absolute())
        for path, target in sorted(self.links.items()):
            if self._is_useful(path):
                (output / path).parent.mkdir(parents=True, exist_ok=True)
                (output / path).symlink_to(target)

    def _is_useful(self, path: str) -> bool:
        """Return whether a link leads, maybe through others, to a file or directory that is not around it."""
        directories = {parent for file in self.files for parent in _parents(file)}
        seen = {path}
        while (place := _followed(path, self.links[path])) in self.links:
            if place in seen:
                return False
            seen.add(place)
            path = place
        if place in self.files:
            return True
        return place in directories and not any(f"{one}/".startswith(f"{place}/") for one in seen)


def _followed(path: str, target: str) -> str:
    """Return where a link leads to, relative to the prefix."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(path), target))


def _parents(path: str) -> list[str]:
    """Return the directories around a relative path, from the outermost."""
    parts = path.split("/")
    return ["/".join(parts[:count]) for count in range(1, len(parts))]


def merge(manifests: Sequence[Path], output: Path, tree: Path | None = None) -> None:
    """Merge artifacts, or a directory in which an SDK is installed, into a prefix; see the top of this file.

    Raises CatalogError for artifacts that do not fit.
    """
    prefix = Prefix()
    for manifest in manifests:
        prefix.add(manifest)
    if tree:
        prefix.add_tree(tree)
    if not prefix.files:
        raise CatalogError(f"{os.fspath(output)}: there are no files for it; expected artifacts of a ROCm build")
    prefix.write(output)


def report(work: Callable[[], None]) -> int:
    """Do the work; return 1, with one line on standard error, when the input cannot be used."""
    try:
        work()
    except CatalogError as error:
        print(error, file=sys.stderr)
        return 1
    except OSError as error:
        print(f"{error.filename}: {error.strerror}; check its permissions", file=sys.stderr)
        return 1
    return 0


def main(argv: list[str]) -> int:
    """Run the merge; return 1, with one line on standard error, when the input cannot be used."""
    parser = argparse.ArgumentParser(description="Merges artifacts into one install prefix.")
    parser.add_argument("--output", type=Path, required=True, help="directory of the prefix; it must not exist")
    parser.add_argument("manifests", type=Path, nargs="+", metavar="MANIFEST", help="an artifact's manifest")
    args = parser.parse_args(argv)
    return report(lambda: merge(args.manifests, args.output))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
