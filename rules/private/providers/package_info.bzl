"""PackageInfo: one Python distribution, planned and packed but not yet linked."""

visibility(["//rules/..."])

DOC = "One Python distribution: the plan of its entries and their packed bytes."

FIELDS = {
    "big_files": "list of string: ids of the units of one big file each that this package packs.",
    "definition": "struct: package, kind, tree (directory in site-packages).",
    "indexes": "depset of File: for each unit, where in the segment each entry lies, with its digests.",
    "plan": "File: JSON object with a list of entries: path, source, treatment and reason.",
    "segments": "depset of File: for each unit, the deflated bytes of its entries, one after the other.",
}

PackageInfo = provider(doc = DOC, fields = FIELDS)
