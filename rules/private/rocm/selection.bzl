"""The repository that says which artifacts are packaged, and in which layout."""

visibility(["//rules/private/rocm"])

_LAYOUT = "ROCM_LAYOUT"

# What the lists are called, and the variables that have them.
_LISTS = {
    "LEFT_OUT": "ROCM_TARGETS_LEFT_OUT",
    "TARGETS": "ROCM_TARGETS",
}

def _listed(text):
    """Returns the items of a list, separated by commas or semicolons, sorted, each once."""
    return sorted({item.strip(): None for item in text.replace(";", ",").split(",") if item.strip()})

def _selection_impl(rctx):
    lines = [
        '"""What {} say; empty if they say nothing."""\n'.format(", ".join([_LAYOUT] + _LISTS.values())),
        "LAYOUT = " + repr(rctx.getenv(_LAYOUT, "").strip()),
    ] + ["{} = {}".format(name, repr(_listed(rctx.getenv(variable, "")))) for name, variable in _LISTS.items()]
    rctx.file("BUILD.bazel", "")
    rctx.file("selection.bzl", "\n".join(lines) + "\n")

selection = repository_rule(
    doc = "`//:selection.bzl` with LAYOUT, a string, and TARGETS and LEFT_OUT, lists of strings.",
    implementation = _selection_impl,
    environ = [_LAYOUT] + _LISTS.values(),
)
