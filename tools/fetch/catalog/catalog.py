"""Scans a directory of ROCm artifacts for repository rules.

Bazel's inputs are files: links, modes and empty directories are lost on the way to an
action, and some names cannot be labels. So this program, run when a repository is
fetched, walks each artifact once, leaves one link per regular file under a name that a
label can hold, and records the truth in a manifest that travels beside the files:

    python3 -m tools.fetch.catalog.catalog --artifacts DIR --repository CANONICAL_NAME --output DIR

writes into the output directory `BUILD.bazel`, `artifacts.bzl`, `manifests/*.json`,
`files/…`, and for the rule to watch, `files_read.txt`, `trees.txt` and `directories.txt`. Archives in
the directory are targets of repositories of their own (see `tools.fetch.catalog.one_archive`),
which `--archived FILE=REPOSITORY` names. For a lock file, `--archived ARTIFACT=REPOSITORY` alone names what is listed.
It needs the standard library alone, because it runs before anything is fetched.

    python3 -m tools.fetch.catalog.catalog --artifacts DIR --list-archives

writes nothing and prints a JSON object for the module extension, which declares a repository for each archive: file
name -> a text that changes when the file does (size and times, so that nothing is read). The time of the last change of
its status (st_ctime) is one of them: whoever replaces a file can keep the other. What is wrong with the directory is
left for the scan to say.
"""

import json
import os
import stat
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from lib.common.arguments import read_arguments
from lib.common.program import ToolError
from tools.fetch.catalog.names import ARCHIVES, ArtifactName, CatalogError, archive_suffix, check_name, parse_name
from tools.fetch.catalog.repository import Elsewhere, write_repository
from tools.fetch.catalog.scan import scan


@dataclass(frozen=True)
class Arguments:
    """Arguments from the rule."""

    artifacts: Path | None  #: Directory of artifact folders and archives; without it, `archived` has all artifacts.
    list_archives: bool  #: Whether to print the archives, each with a stamp, instead.
    archived: list[str]  #: FILE=REPOSITORY: the repositories of archives; ARTIFACT=REPOSITORY without a directory.
    repository: str = ""  #: Canonical name of the repository.
    output: Path = Path()  #: Directory of the repository.
    named_by: str = "--artifacts"  #: What names the directory of artifacts, for errors.


def find_artifacts(directory: Path, named_by: str) -> dict[ArtifactName, Path]:
    """Return the artifact folders and archives of a directory, sorted by name. `named_by` is what names the directory.

    Raises CatalogError for a folder or archive that is no artifact, and for two that are the same artifact.
    """
    try:
        listing = sorted(path for path in directory.iterdir() if not path.name.startswith("."))
    except OSError as error:
        raise CatalogError(
            f"{named_by}={directory}: cannot be read ({error.strerror}); expected the absolute path of a directory of "
            f"artifact folders or archives. Change {named_by}"
        ) from None
    found: dict[ArtifactName, Path] = {}
    for path in listing:
        suffix = archive_suffix(path.name)
        if not path.exists():
            raise CatalogError(
                f"{path}: is a link to {path.readlink()}, which is not there; put it there, or remove the link"
            )
        if not suffix and not path.is_dir():
            continue
        if suffix and not path.is_file():
            raise CatalogError(f"{path}: is no regular file; expected an archive, by its name. Rename it, or remove it")
        check_name(path.name, directory)
        name = parse_name(path.name.removesuffix(suffix), path, "an archive" if suffix else "a folder")
        if name in found:
            raise CatalogError(f"{path}: {found[name].name} is the same artifact; remove one of them")
        found[name] = path
    if not found:
        raise CatalogError(
            f"{named_by}={directory}: no artifacts: neither folders ({{name}}_{{component}}_{{target}}) "
            f"nor archives ({', '.join(ARCHIVES)})"
        )
    return found


def archive_stamps(directory: Path) -> dict[str, str]:
    """Return the stamps of a directory's archives by name, sorted."""
    stamps = {}
    for path in sorted(directory.iterdir()):
        if archive_suffix(path.name) and not path.name.startswith(".") and path.is_file():
            status = path.stat()
            stamps[path.name] = f"{status.st_size} {status.st_mtime_ns} {status.st_ctime_ns}"
    return stamps


def check_archives(archives: dict[ArtifactName, Path], repositories: dict[str, str], directory: Path) -> None:
    """Refuse a directory that changed since the module extension looked: repositories are only declared there.

    And an archive that cannot be read: Bazel, which may watch its content, would say so before its own scan does.
    """
    files = {path.name for path in archives.values()}
    if changed := sorted(files ^ set(repositories)):
        raise CatalogError(
            f"{directory / changed[0]}: this archive was {'added' if changed[0] in files else 'removed'} since Bazel "
            "looked. Run `bazel shutdown` and build again"
        )
    for path in archives.values():
        if not os.access(path, os.R_OK):
            mode = stat.S_IMODE(path.stat().st_mode)
            raise CatalogError(f"{path}: cannot be read (mode {mode:04o}); make it readable: chmod a+r")


def write(args: Arguments) -> None:
    """Write the repository of folders, or of artifacts elsewhere alone; or print which archives there are."""
    repositories = dict(pair.rsplit("=", 1) for pair in args.archived)
    if args.artifacts is None:
        named = [Elsewhere(parse_name(name, args.named_by), repository) for name, repository in repositories.items()]
        write_repository([], args.output, named, what=args.named_by)
        return
    if args.list_archives:
        print(json.dumps(archive_stamps(args.artifacts), ensure_ascii=False))
        return
    found = find_artifacts(args.artifacts, args.named_by)
    archives = {name: path for name, path in found.items() if archive_suffix(path.name)}
    check_archives(archives, repositories, args.artifacts)
    artifacts = [scan(path, name, args.repository) for name, path in found.items() if name not in archives]
    elsewhere = [Elsewhere(name, repositories[path.name]) for name, path in archives.items()]
    write_repository(artifacts, args.output, elsewhere, what=args.named_by)


def report(work: Callable[[], None]) -> int:
    """Do the work; return 1, with one line on standard error, when the input cannot be used."""
    try:
        work()
    except (CatalogError, ToolError) as error:
        print(error, file=sys.stderr)
        return 1
    except OSError as error:
        print(f"{error.filename}: {error.strerror}; check its permissions", file=sys.stderr)
        return 1
    return 0


def main(argv: list[str]) -> int:
    """Run the scan; return 1, with one line on standard error when the input cannot be used."""
    return report(lambda: write(read_arguments(Arguments, argv)))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
