r"""Locks the archives of a CI run: builds then fetch exactly these.

Example: what a run of ROCm's CI left in its bucket, for GPUs of gfx110X:

    bazel run @rules_rocm_python//tools/fetch/lock -- \
        --base-url https://therock-ci-artifacts.s3.amazonaws.com --run-id 12345678901 --target gfx110X-all

writes rocm_artifacts.lock.json into the workspace: name, URL, SHA-256 and size
of each archive. Build with it:

    --repo_env=ROCM_ARTIFACTS=locked

The bucket has archives {name}_{component}_{target}.tar.zst in {run id}-{platform}/, and a .sha256sum beside each.
To package archives of a directory, set ROCM_ARTIFACTS_DIR instead.
"""

import os
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from lib.common.command import CommandParser, exit_codes, run_command
from lib.common.program import ToolError, write_document
from lib.gpus.families import package_owner, parse_family
from tools.fetch.catalog.names import ArtifactName, CatalogError, archive_suffix, parse_name
from tools.fetch.lock.run_listing import CiRun, ListedFile, check_base_url, list_run
from tools.fetch.lock.web import Web, read_sha256sum

# Which archives of a run are locked: by GPU target.

GENERIC = "generic"


@dataclass(frozen=True)
class RunArchive:
    """An archive that a listing names."""

    artifact: ArtifactName
    file: ListedFile


def serves(artifact_target: str, target: str) -> bool:
    """Return whether an artifact is of a target or family.

    It is if it is named for that, is for the same package as a target without features, or for a target of the family.
    """
    family = parse_family(target)
    return target in (artifact_target, package_owner(artifact_target)) or bool(family and family.has(artifact_target))


def archives_of(files: Sequence[ListedFile], ignore: Sequence[str], url: str) -> list[RunArchive]:
    """Return the archives among the files, sorted by name; other files are passed over.

    Raises ToolError for an archive that is no artifact, and for two archives of one.
    """
    found: dict[ArtifactName, RunArchive] = {}
    for file in files:
        suffix = archive_suffix(file.name)
        if not suffix or any(fnmatchcase(file.name, pattern) for pattern in ignore):
            continue
        try:
            name = parse_name(file.name.removesuffix(suffix), file.name, "an archive")
        except CatalogError as error:
            raise ToolError(
                f"{url} lists {str(error).partition(';')[0]}; check --base-url, or skip it with --ignore={file.name}"
            ) from None
        if name in found:
            raise ToolError(
                f"{url} lists {found[name].file.name} and {file.name}, the same artifact; skip one with --ignore"
            )
        found[name] = RunArchive(name, file)
    if not found:
        raise ToolError(f"{url} lists no archives of artifacts, among {len(files)} files; check --run-id")
    return sorted(found.values(), key=lambda archive: str(archive.artifact))


def select(archives: Sequence[RunArchive], wanted: Sequence[str]) -> list[RunArchive]:
    """Return the archives for GPU targets and families, all if none is named, and the generic ones.

    Raises ToolError if there is nothing for one.
    """
    targets = sorted({archive.artifact.target for archive in archives} - {GENERIC})
    for target in wanted:
        if not any(serves(one, target) for one in targets):
            raise ToolError(
                f"--target={target}: the run has no archives for it; it has: {', '.join(targets) or 'none'}"
            )
    taken = {one for one in targets if not wanted or any(serves(one, target) for target in wanted)} | {GENERIC}
    return [archive for archive in archives if archive.artifact.target in taken]


VERSION = 1
FILE_NAME = "rocm_artifacts.lock.json"
#: Requests at once: they are small, and wait for the server.
THREADS = 8


@dataclass(frozen=True)
class Arguments:
    """The command line; `--help` says what each argument is."""

    base_url: str
    run_id: str
    platform: str
    target: list[str]
    ignore: list[str]
    output: str


def lock_document(run: CiRun, rows: Sequence[tuple[RunArchive, str]]) -> dict[str, Any]:
    """Return the content of the lock file, for archives with their SHA-256 in hex."""
    return {
        "version": VERSION,
        "base_urls": [run.base_url],
        "run_id": run.run_id,
        "platform": run.platform,
        "archives": [
            {
                "name": str(archive.artifact),
                "url": run.file_url(archive.file.name).removeprefix(run.base_url + "/"),
                "sha256": sha256,
                "size": archive.file.size,
            }
            for archive, sha256 in rows
        ],
    }


def lock(args: Arguments) -> None:
    """List, select, take digests, and write the lock file."""
    run = CiRun(check_base_url(args.base_url), args.run_id, args.platform)
    web = Web()
    archives = archives_of(list_run(run, web), args.ignore, run.url)
    chosen = select(archives, args.target)

    def digest(archive: RunArchive) -> str:
        return read_sha256sum(run.file_url(archive.file.name), archive.file.name, web)

    with ThreadPoolExecutor(THREADS) as threads:
        rows = list(zip(chosen, threads.map(digest, chosen), strict=True))
    output = output_path(args.output)
    partial = output.with_name(output.name + ".partial")
    write_document(str(partial), lock_document(run, rows))
    partial.replace(output)
    total = sum(archive.file.size for archive in chosen)
    print(f"{output}: {len(rows)} of {len(archives)} archives, {total} bytes")


def output_path(text: str) -> Path:
    """Return where the lock file goes: `bazel run` starts elsewhere, and says where it was called from."""
    if text:
        return Path(os.environ.get("BUILD_WORKING_DIRECTORY", ".")) / text
    return Path(os.environ.get("BUILD_WORKSPACE_DIRECTORY", ".")) / FILE_NAME


def main(argv: list[str]) -> int:
    """Parse the arguments and write the lock file."""
    one = CommandParser(
        "bazel run @rules_rocm_python//tools/fetch/lock --",
        description=__doc__,
        epilog=exit_codes("the lock file is written", "a checksum is another archive's"),
    )
    one.add_argument("--base-url", required=True, help="URL above the runs' directories, as written into the lock file")
    one.add_argument("--run-id", required=True, help="the CI run")
    one.add_argument("--platform", default="linux", help="the run's platform (default: linux)")
    about = "GPU target or family, again for more: only archives of these, and generic ones"
    one.add_repeated("--target", "GFX", about)
    one.add_repeated("--ignore", "GLOB", "files of the run that are no artifacts")
    one.add_argument("--output", default="", help=f"the file to write (default: {FILE_NAME} in the workspace)")
    args = Arguments(**vars(one.parse_args(argv)))
    return run_command("lock", lambda: lock(args))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
