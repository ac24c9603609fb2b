"""DistributionInfo: one finished distribution file."""

visibility(["//rules/..."])

DOC = "A finished distribution, a wheel or an sdist, with the facts that an index needs."

FIELDS = {
    "digest": "File: JSON object with file name, size in bytes and SHA-256.",
    "file": "File: the wheel or sdist.",
    "metadata": "File: core metadata, served beside the distribution (PEP 658).",
    "variant": "File or None: `variant.json` of a wheel variant (PEP 825).",
}

DistributionInfo = provider(doc = DOC, fields = FIELDS)
