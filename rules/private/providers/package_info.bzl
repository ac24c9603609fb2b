"""PackageInfo: one Python distribution, planned and packed but not yet linked."""

visibility(["//rules/..."])

DOC = "One Python distribution: the plan of its entries and their packed bytes."

FIELDS = {
    "archives": "dict of string to string: of artifacts that came as an archive, `{name}_{component}_{target}` -> the archive's SHA-256.",
    "big_files": "list of string: ids of the units of one big file each that this package packs.",
    "builds_on": "list of File: the plans of the packages that this one builds on.",
    "definition": "struct: package, kind, tree (directory in site-packages).",
    "facts": "depset of File: for each unit of its artifacts, what inspect found in it.",
    "indexes": "depset of File: for each unit, where in the segment each entry lies, with its digests.",
    "plan": "File: JSON object with a list of entries: path, source, treatment and reason.",
    "segments": "depset of File: for each unit, the deflated bytes of its entries, one after the other.",
}

PackageInfo = provider(doc = DOC, fields = FIELDS)
