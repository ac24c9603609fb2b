"""An artifact's manifest: every path of it, with what Bazel's inputs lose of it, and which file of the build it is.

`tools.fetch.catalog` and the rules of artifacts write it; this is the one reader. A *source* is the name that an
artifact has for a file of its own: `{artifact}/{base directory}/{path}`.
"""

from dataclasses import dataclass

from lib.common.program import ToolError, read_document


@dataclass(frozen=True)
class ManifestEntry:
    """One path of an artifact."""

    base: str
    """The base directory that it lies in."""
    path: str
    kind: str
    """`file`, `link` or `directory`."""
    mode: str | None = None
    """Permission bits, octal. None for a link, and for a file whose content decides: programs and scripts get 0755."""
    file: str = ""
    """The build's name of a file."""
    target: str | None = None
    """Text of a link."""


@dataclass(frozen=True)
class Manifest:
    """An artifact and its paths, in the order in which they were found."""

    artifact: str
    entries: tuple[ManifestEntry, ...]


def read_manifest(path: str) -> Manifest:
    """Read a manifest."""
    document = read_document(path)
    known = ManifestEntry.__dataclass_fields__.keys()
    entries = ({key: value for key, value in entry.items() if key in known} for entry in document["entries"])
    return Manifest(document["artifact"], tuple(ManifestEntry(**entry) for entry in entries))


def file_sources(manifest: str, artifact: str) -> dict[str, str]:
    """Map the build's name of each file in a manifest to its source."""
    entries = (entry for entry in read_manifest(manifest).entries if entry.kind == "file")
    return {entry.file: f"{artifact}/{entry.base}/{entry.path}" for entry in entries}


def located_sources(manifest: str, artifact: str, files: list[str]) -> dict[str, str]:
    """Map the source of each file to where it is, from arguments `FILE=PATH`.

    FILE is the build's name of a file, as the manifest has it. It may hold `=`, as the path may: the longest name that
    the manifest has is meant.
    """
    sources = file_sources(manifest, artifact)
    located = {}
    for argument in files:
        parts = argument.split("=")
        names = ("=".join(parts[:count]) for count in range(len(parts) - 1, 0, -1))
        name = next((name for name in names if name in sources), None)
        if name is None:
            raise ToolError(f"{argument}: no file of that name in {manifest}; expected a file of artifact {artifact}")
        located[sources[name]] = argument[len(name) + 1 :]
    return located
