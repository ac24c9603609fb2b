"""DistributionInfo: one finished distribution file."""

visibility(["//rules/..."])

DOC = "One finished distribution: a wheel or an sdist, with what an index says about it."

FIELDS = {
    "digest": "File: JSON object with filename, size in bytes and SHA-256, so that an index need not read the distribution.",
    "file": "File: the wheel or sdist.",
    "metadata": "File: its core metadata, the text that PEP 658 serves beside it.",
}

DistributionInfo = provider(doc = DOC, fields = FIELDS)
