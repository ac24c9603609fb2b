"""PackageInfo: one Python distribution, planned and packed but not yet linked."""

visibility(["//rules/..."])

DOC = "A planned and packed Python distribution, without its wheel."

FIELDS = {
    "archives": "dict of string to string: artifact, `{name}_{component}_{target}` -> SHA-256 of its archive, for artifacts that were archives.",
    "big_files": "list of string: ids of the units that are one big file each and that this package packs.",
    "builds_on": "list of File: the plans of the packages that this one builds on.",
    "definition": "struct: package, kind, tree (directory in site-packages).",
    "facts": "depset of File: for each unit of its artifacts, the facts.",
    "indexes": "depset of File: for each unit, the offset and digests of each entry in its segment.",
    "plan": "File: JSON object with a list of entries: path, source, treatment and reason.",
    "segments": "depset of File: for each unit, the deflated bytes of its entries, concatenated.",
}

PackageInfo = provider(doc = DOC, fields = FIELDS)
