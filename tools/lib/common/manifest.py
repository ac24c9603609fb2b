"""An artifact's manifest: which file of the build is which source.

A *source* is an artifact's name for a file of its own, `{artifact}/{base directory}/{path}`.
"""

from tools.lib.common.program import ToolError, read_document


def file_sources(manifest: str, artifact: str) -> dict[str, str]:
    """Map the build's name of each file in a manifest to its source."""
    entries = [entry for entry in read_document(manifest)["entries"] if entry["kind"] == "file"]
    return {entry["file"]: f"{artifact}/{entry['base']}/{entry['path']}" for entry in entries}


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
            raise ToolError(
                f"{argument}: no file of that name in {manifest}; expected one that artifact {artifact} has"
            )
        located[sources[name]] = argument[len(name) + 1 :]
    return located
