"""ArtifactInfo: a piece of a ROCm build, `{name}_{component}_{target}`."""

visibility(["//rules/..."])

DOC = """A piece of a build: its files, in units, and the manifest of their true names and modes.

A *unit* is the input of one inspect action and one pack action: one big file, or all
small files of the artifact."""

FIELDS = {
    "archive_sha256": "string: SHA-256 of the artifact's archive, or None.",
    "artifact_name": "string: name of the artifact, such as `core-hip`.",
    "component": "string: `lib`, `run`, `dev`, `dbg`, `doc` or `test`.",
    "manifest": "File: JSON list of entries (path, kind, mode, link target).",
    "target": "string: `generic`, an AMD GPU target, or a family of targets.",
    "units": "list of struct(id = string, unique in the build; facts = File; files = depset of File; is_big_file = bool; manifest = File that names the files; threads = number of threads for packing it).",
}

ArtifactInfo = provider(doc = DOC, fields = FIELDS)
