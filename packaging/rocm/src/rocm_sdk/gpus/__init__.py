"""The GPU targets and families that AMD knows.

`table.py` and `families.py` are copies of those in `lib/gpus`, which `bazel run //tests/golden:update` writes:
change them there.
"""
