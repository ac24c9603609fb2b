"""What a run says about its build, out of its small archives named `base`: layout, and targets by preference."""

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lib.common.command import FoundError
from lib.common.program import ToolError
from tools.fetch.catalog.archive import CHUNK, Limits, open_archive
from tools.fetch.catalog.names import CatalogError
from tools.fetch.catalog.scan import BASE, DIST_INFO, THEROCK_MANIFEST, dist_targets_of, split_of
from tools.fetch.catalog.unpack import members_of
from tools.fetch.lock.run_listing import CiRun
from tools.fetch.lock.selection import GENERIC, RunArchive
from tools.fetch.lock.web import ArchiveDigest, Web


@dataclass(frozen=True)
class BuildFacts:
    """Absent facts are as for folders: not split, no preference. `found` says whether any archive told the layout."""

    split: bool
    dist_targets: list[str]
    found: bool


def read_texts(path: Path) -> dict[str, str]:
    """Return the texts of an archive's files that tell about the build, by their paths below a base directory."""
    texts: dict[str, str] = {}
    limits = Limits()
    with open_archive(path, limits) as (stream, _):
        for info in members_of(str(path), stream):
            for name in (THEROCK_MANIFEST, DIST_INFO):
                if info.isreg() and info.name.endswith("/" + name):
                    if info.size > CHUNK:
                        raise CatalogError(f"{path}: {info.name} has {info.size} bytes; expected a small JSON file")
                    texts.setdefault(name, stream.read(info.size).decode("utf-8", "replace"))
    return texts


def build_facts(run: CiRun, archives: Sequence[RunArchive], digests: dict[str, ArchiveDigest], web: Web) -> BuildFacts:
    """Read the archives named `base`, and compare their digests where known, by file name. Raises ToolError."""
    texts: dict[str, str] = {}
    for archive in archives:
        if archive.artifact.name != BASE or archive.artifact.target != GENERIC:
            continue
        url = run.file_url(archive.file.name)
        with tempfile.TemporaryDirectory() as holder:
            path = Path(holder) / archive.file.name
            with path.open("wb") as file:
                found = web.digest(url, file)
            known = digests.get(archive.file.name)
            if known and known != found:
                raise FoundError(
                    f"{url}: has the SHA-256 {found.sha256} and {found.size} bytes; "
                    f"expected {known.sha256} and {known.size}. The upload is damaged"
                )
            try:
                for name, text in read_texts(path).items():
                    texts.setdefault(name, text)
            except CatalogError as error:
                raise ToolError(f"{url}: {str(error).removeprefix(f'{path}: ')}") from None
    try:
        return BuildFacts(
            split_of(texts.get(THEROCK_MANIFEST, "{}"), f"{run.url}: {THEROCK_MANIFEST}"),
            dist_targets_of(texts.get(DIST_INFO, "{}"), f"{run.url}: {DIST_INFO}"),
            THEROCK_MANIFEST in texts,
        )
    except CatalogError as error:
        raise ToolError(str(error)) from None
