"""Which archives of a run are locked: by component, group of GPU targets, and target."""

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from lib.common.program import ToolError
from lib.gpus.families import package_owner, parse_family
from tools.fetch.catalog.names import ArtifactName, CatalogError, archive_suffix, parse_name
from tools.fetch.lock.run_listing import ListedFile

GENERIC = "generic"


@dataclass(frozen=True)
class RunArchive:
    """An archive that a listing names."""

    artifact: ArtifactName
    file: ListedFile


@dataclass(frozen=True)
class Wanted:
    """What to take; an empty list takes all."""

    components: Sequence[str] = ()
    group: str | None = None
    targets: Sequence[str] = ()

    def takes(self, name: ArtifactName) -> bool:
        """Return whether an artifact is wanted. Generic ones are, whatever the targets."""
        if self.components and name.component not in self.components:
            return False
        if name.target == GENERIC:
            return True
        in_group = not self.group or in_family(name.target, self.group)
        return in_group and (not self.targets or any(serves(name.target, target) for target in self.targets))


def serves(artifact_target: str, target: str) -> bool:
    """Return whether an artifact is of a target: that itself, or for the same package if the target has no features."""
    return target in (artifact_target, package_owner(artifact_target))


def in_family(target: str, family: str) -> bool:
    """Return whether a target is that family itself, or one of the family's."""
    found = parse_family(family)
    return target == family or (found is not None and found.has(target))


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


def select(archives: Sequence[RunArchive], wanted: Wanted) -> list[RunArchive]:
    """Return what is wanted. Raises ToolError if there is nothing for a component, the group or a target."""
    for component in wanted.components:
        if component not in {archive.artifact.component for archive in archives}:
            raise ToolError(f"--component={component}: the run has no such archives")
    targets = sorted({archive.artifact.target for archive in archives} - {GENERIC})
    if wanted.group and not any(in_family(target, wanted.group) for target in targets):
        raise ToolError(
            f"--group={wanted.group}: the run has no archives for it; it has: {', '.join(targets) or 'none'}"
        )
    for target in wanted.targets:
        if not any(serves(one, target) for one in targets):
            raise ToolError(
                f"--target={target}: the run has no archives for it; it has: {', '.join(targets) or 'none'}"
            )
    return [archive for archive in archives if wanted.takes(archive.artifact)]
