"""Which part of the artifacts is packaged, and how: what decides, while Bazel loads, which targets there are."""

visibility(["//rules/private/repositories/..."])

_LAYOUT = "ROCM_LAYOUT"
_TARGETS = "ROCM_TARGETS"

_CONTENT = '''"""What {layout_variable} and {targets_variable} say; empty if they say nothing."""

LAYOUT = {layout}
TARGETS = {targets}
'''

def _selection_impl(rctx):
    targets = rctx.getenv(_TARGETS, "").replace(";", ",").split(",")
    rctx.file("BUILD.bazel", "")
    rctx.file("selection.bzl", _CONTENT.format(
        layout = repr(rctx.getenv(_LAYOUT, "").strip()),
        layout_variable = _LAYOUT,
        targets = repr(sorted({target.strip(): None for target in targets if target.strip()})),
        targets_variable = _TARGETS,
    ))

selection = repository_rule(
    doc = "`//:selection.bzl` with LAYOUT, a string, and TARGETS, a list of strings.",
    implementation = _selection_impl,
    environ = [_LAYOUT, _TARGETS],
)
