"""Which parts of an SDK have device code that programs may need, so that only these are fetched."""

load("//lib/gpus:gpus.bzl", "is_target", "without_features")

visibility(["//hip/private", "//hip/tests/..."])

def may_run(targets, target):
    """Returns whether code for a GPU target or family may be code for a GPU that programs are compiled for.

    Args:
        targets: list of string: the targets and families that programs are compiled for; empty if these are not known.
        target: string: a target or a family.

    Returns:
        bool.
    """
    words = [without_features(word) for word in targets]

    # A family may have any target, and any family a target.
    is_open = not words or not all([is_target(word) for word in words + [without_features(target)]])
    return is_open or without_features(target) in words
