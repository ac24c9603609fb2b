"""Levels of compression: the values of the flag, and of the rules that have an attribute for it."""

visibility(["//rules/..."])

# lib/pack has the levels of each; tests/lint compares.
COMPRESSIONS = ["balanced", "fast", "small"]
