"""ArtifactInfo: a piece of a ROCm build, `{name}_{component}_{target}`."""

visibility(["//rules/..."])

DOC = """A piece of a ROCm build: its files, in units, and the manifest that has the truth about them.

A *unit* is what one inspect action and one pack action work on: one big file, or all
the small files of the artifact."""

FIELDS = {
    "archive_sha256": "string: SHA-256 of the archive that the artifact came as, or None.",
    "artifact_name": "string: what the artifact is part of, e.g. `core-hip`.",
    "component": "string: `lib`, `run`, `dev`, `dbg`, `doc` or `test`.",
    "manifest": "File: JSON list of entries (path, kind, mode, text of links).",
    "target": "string: `generic`, an AMD GPU target or a family of them.",
    "units": "list of struct(id = string, unique in the build; facts = File; files = depset of File; is_big_file = bool; manifest = File that names the files; threads = how many threads packing it can use).",
}

ArtifactInfo = provider(doc = DOC, fields = FIELDS)
