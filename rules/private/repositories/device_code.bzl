"""Which parts of an SDK have device code that programs may need, so that only these are fetched."""

visibility(["//rules/private/repositories/..."])

def may_run(targets, target):
    """Returns whether code for a GPU target or family may be code for a GPU that programs are compiled for.

    Args:
        targets: list of string: the targets and families that programs are compiled for; empty if these are not known.
        target: string: a target or a family.

    Returns:
        bool.
    """
    words = [word.partition(":")[0] for word in targets]

    # A family may have any target, and any family a target.
    is_open = not words or "-" in target or any(["-" in word or "X" in word for word in words])
    return is_open or target.partition(":")[0] in words
