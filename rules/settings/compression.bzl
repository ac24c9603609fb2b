"""How much is compressed: the values of the flag, and of the rules that compress for themselves."""

visibility(["//rules/..."])

# lib/pack has the levels of each; tests/lint compares.
COMPRESSIONS = ["balanced", "fast", "small"]
