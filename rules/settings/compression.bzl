"""Levels of compression: the values of the flag, and of the rules that have an attribute for it."""

visibility(["//rules/..."])

# lib/pack/segment.py has the levels of each, and tools/actions/pack/tool.py the names; tests/lint compares.
COMPRESSIONS = ["balanced", "fast", "small"]
