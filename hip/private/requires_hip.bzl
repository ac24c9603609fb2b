"""requires_hip: marks targets that need HIP, so that builds without it skip them."""

visibility(["//hip"])

def requires_hip():
    """Returns the value of `target_compatible_with` for targets that need HIP.

    `bazel build //...` skips them if HIP is turned off, if there is no SDK on the machine, or for a platform other than
    Linux on x86_64. If a command names such a target itself, Bazel fails and says which condition does not hold.

    Returns:
        a `select` of constraints.
    """
    return select({
        Label("//hip:is_enabled"): [],
        "//conditions:default": [Label("@platforms//:incompatible")],
    })
