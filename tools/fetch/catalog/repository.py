"""Writes what the catalog makes of artifacts: Bazel files, manifests, and links to the files."""

import json
import os
import posixpath
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from itertools import chain
from pathlib import Path

from tools.fetch.catalog.names import MANIFEST_NAME, ArtifactName, escape
from tools.fetch.catalog.scan import BASE, ScannedArtifact, about_files, dist_targets, is_split, threads


def directories_of(artifacts: Sequence[ScannedArtifact]) -> Iterator[Path]:
    """Yield all scanned directories and their parents, up to the directory with the artifacts; parents come first.

    Each is there once: a tree may be a thousand directories deep.
    """
    seen: set[Path] = set()
    for artifact in artifacts:
        for directory in artifact.directories:
            new = []
            for path in chain((directory,), directory.parents):
                if path in seen:
                    break
                seen.add(path)
                new.append(path)
                if path == artifact.folder.parent:
                    break
            yield from reversed(new)


def watched(directories: Iterable[Path]) -> tuple[list[Path], list[Path]]:
    """Return the topmost directories to watch as trees, and the directories to watch by their listings; both sorted.

    A directory comes behind those that it lies in. One may be there several times.

    A tree is watched with all below it (`repository_ctx.watch_tree`): names, kinds, contents, and where links lead.
    Bazel follows links for that, and a link that leads back to a directory above it, or to itself, makes it stop, or
    crash. So directories from which links go in a circle, or lead to what was not looked at, are watched by their
    listings (`path.readdir`). A watched directory that is removed itself makes Bazel speak of an inconsistent file
    system from then on; what is removed below a tree does not.
    """
    real: dict[Path, str] = {}
    for path in directories:
        if path not in real:
            above = None if path.is_symlink() else real.get(path.parent)
            real[path] = os.path.realpath(path) if above is None else f"{above}/{path.name}"
    unsafe = _unsafe({place: _leads_to(place) for place in real.values()})
    whole = {path for path, place in real.items() if place not in unsafe}
    trees = [path for path in whole if path.parent not in whole]
    return sorted(trees), sorted(path for path, place in real.items() if place in unsafe)


def _leads_to(directory: str) -> set[str]:
    """Return the real paths of the directories that lie in a directory, given by its own, by themselves or as links."""
    found = set()
    with os.scandir(directory) as listing:
        for entry in listing:
            try:
                if entry.is_dir():
                    found.add(os.path.realpath(entry.path) if entry.is_symlink() else f"{directory}/{entry.name}")
            except OSError:  # A link to itself: as bad as one to the directory that it lies in.
                found.add(directory)
    return found


def _unsafe(leads: dict[str, set[str]]) -> set[str]:
    """Return those from which a circle, or what is unknown, can be reached: all others end somewhere."""
    unknown = {one: {one} for found in leads.values() for one in found if one not in leads}
    sorter, left = TopologicalSorter(leads | unknown), set(leads)
    with suppress(CycleError):  # It still gives all that comes before a circle.
        sorter.prepare()
    while ends := sorter.get_ready():
        left.difference_update(ends)
        sorter.done(*ends)
    return left


@dataclass(frozen=True)
class Elsewhere:
    """An artifact that is a target of another repository."""

    name: ArtifactName
    repository: str


def literal(value: str | int | Sequence[str] | Sequence[int]) -> str:
    """Return the text of a string, a number or a list of such in Starlark, which lacks JSON's escapes by number."""
    return json.dumps(value, ensure_ascii=False)


def build_file(artifacts: Sequence[ScannedArtifact], archive_sha256: str = "") -> str:
    """Return the text of BUILD.bazel: one `catalogued_artifact` per artifact.

    `archive_sha256` is the digest, in hex, of the archive that the only artifact came as, if it did.
    """
    lines = [
        'load("@rules_rocm_python//rules:catalog.bzl", "catalogued_artifact")\n',
        'package(default_visibility = ["//visibility:public"])\n',
    ]
    for artifact in artifacts:
        attributes: dict[str, str | int | list[str] | list[int]] = {
            "name": artifact.name.label_name,
            **({"archive_sha256": archive_sha256} if archive_sha256 else {}),
            "artifact_name": artifact.name.name,
            "big_manifests": [artifact.unit_manifest(label) for label in artifact.big],
            "big_srcs": list(artifact.big),
            "big_threads": list(artifact.big.values()),
            "component": artifact.name.component,
            "manifest": f"manifests/{artifact.name.label_name}.json",
            "small_manifest": artifact.unit_manifest(None),
            "small_threads": threads(artifact.small_size),
            "srcs": list(artifact.small),
            "target": artifact.name.target,
        }
        body = "".join(f"    {key} = {literal(value)},\n" for key, value in attributes.items())
        lines.append(f"catalogued_artifact(\n{body})\n")
    return "\n".join(lines)


def loadable_file(artifacts: Sequence[ScannedArtifact], elsewhere: Sequence[Elsewhere], what: str) -> str:
    """Return the text of artifacts.bzl: what `packaging/` needs to know when it is loaded."""
    labels = {artifact.name: f"//:{artifact.name.label_name}" for artifact in artifacts}
    labels |= {one.name: f"@{one.repository}//:{one.name.label_name}" for one in elsewhere}
    rows = "".join(
        f"    struct(name = {literal(name.name)}, component = {literal(name.component)}, "
        f"target = {literal(name.target)}, label = str(Label({literal(labels[name])}))),\n"
        for name in sorted(labels, key=str)
    )
    tellers = [one for one in elsewhere if one.name.name == BASE]
    loads = "".join(
        f'load("@{one.repository}//:artifacts.bzl", _DIST_TARGETS_{at} = "DIST_TARGETS", _SPLIT_{at} = "SPLIT")\n'
        for at, one in enumerate(tellers)
    )
    split = " or ".join([str(is_split(artifacts)), *(f"_SPLIT_{at}" for at in range(len(tellers)))])
    targets = [literal(dist_targets(artifacts)), *(f"_DIST_TARGETS_{at}" for at in range(len(tellers)))]
    return (
        f'"""The artifacts found in {what}."""\n\n'
        f"{loads}{chr(10) if loads else ''}"
        f"SPLIT = {split}\n\n"
        f"DIST_TARGETS = {' or '.join(targets)}\n\n"
        f"ARTIFACTS = [\n{rows}]\n"
    )


def listing(artifacts: Sequence[ScannedArtifact], elsewhere: Sequence[Elsewhere]) -> str:
    """Return the text of artifacts.json, for repository rules, which cannot load: artifact -> whether it is here."""
    here = {str(artifact.name): True for artifact in artifacts}
    there = {str(one.name): False for one in elsewhere}
    return json.dumps({"artifacts": here | there}, indent=1, sort_keys=True) + "\n"


def manifests(artifact: ScannedArtifact) -> dict[str, str]:
    """Return the texts of an artifact's manifests: the whole, for plans, and one per unit, for inspect and pack.

    A unit's manifest has no modes and no links, and a big file's has nothing but the file: so an action runs again only
    for what it reads.
    """

    def text(entries: list[dict[str, str]]) -> str:
        document = {"artifact": str(artifact.name), "entries": entries}
        return json.dumps(document, indent=1, ensure_ascii=False) + "\n"

    files = {
        entry["file"].split("/", 2)[2]: {key: entry[key] for key in ("base", "path", "kind", "file")}
        for entry in artifact.entries
        if entry["kind"] == "file"
    }
    texts = {artifact.unit_manifest(label): text([files[label]]) for label in artifact.big}
    texts[artifact.unit_manifest(None)] = text([files[label] for label in artifact.small])
    return texts | {f"manifests/{artifact.name.label_name}.json": text(artifact.entries)}


def files_read(artifacts: Sequence[ScannedArtifact]) -> list[Path]:
    """List the files whose contents decide what the repository holds: the rule watches them."""
    return [artifact.folder / MANIFEST_NAME for artifact in artifacts] + about_files(artifacts)


def links(artifact: ScannedArtifact) -> dict[str, str]:
    """Return the links to an artifact's files in the repository: name in `files/{artifact}` -> path in the folder.

    A link for each base directory, not for each file, of which there may be very many. Where a label cannot hold a name
    below a directory, or the name is a `BUILD` file's, the directory is made, and holds such links again.
    """
    made = set()
    for entry in artifact.entries:
        if escape(entry["path"]) != entry["path"]:
            made |= {(entry["base"], parent) for parent in _parents(entry["path"])}
    found = {}
    for entry in artifact.entries:
        if entry["kind"] == "file":
            base, path = entry["base"], entry["path"]
            linked = next((parent for parent in _parents(path) if (base, parent) not in made), path)
            source = posixpath.normpath(posixpath.join(base, linked))
            found[escape(source)] = source
    # A base directory may lie in another one, which then brings its files.
    return {name: source for name, source in found.items() if not any(above in found for above in _parents(name))}


def _parents(path: str) -> Iterator[str]:
    """Yield the directories in which a relative path lies, from the outermost, which is empty."""
    parts = path.split("/")
    return ("/".join(parts[:count]) for count in range(len(parts)))


def write_links(artifact: ScannedArtifact, output: Path) -> None:
    """Make the links to an artifact's files; relative ones to files in the repository itself."""
    inside = artifact.folder.is_relative_to(output)
    for name, source in sorted(links(artifact).items()):
        link, file = output / "files" / artifact.name.label_name / name, artifact.folder / source
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(os.path.relpath(file, link.parent) if inside else file)


def write_repository(
    artifacts: Sequence[ScannedArtifact],
    output: Path,
    elsewhere: Sequence[Elsewhere] = (),
    *,
    what: str,
    archive_sha256: str = "",
) -> None:
    """Write the links, the manifests and the Bazel files; `what` is where the artifacts are from."""
    texts = {
        "BUILD.bazel": build_file(artifacts, archive_sha256),
        "artifacts.bzl": loadable_file(artifacts, elsewhere, what),
        "artifacts.json": listing(artifacts, elsewhere),
    }
    texts["files_read.txt"] = "".join(f"{path}\n" for path in files_read(artifacts))
    trees, listings = watched(directories_of(artifacts))
    texts["trees.txt"] = "".join(f"{path}\n" for path in trees)
    texts["directories.txt"] = "".join(f"{path}\n" for path in listings)
    for artifact in artifacts:
        write_links(artifact, output)
        texts |= manifests(artifact)
    for name, text in texts.items():
        (output / name).parent.mkdir(parents=True, exist_ok=True)
        (output / name).write_text(text, encoding="utf-8")
