"""matrix_bazelrc, matrix_json: the matrix, as Bazel's options, and for the CI that builds every combination."""

load("//packaging:matrix.bzl", "MATRIX", "combinations")

visibility(["//packaging", "//tests/..."])

_HEADER = """\
# Written from packaging/matrix.bzl by `bazel run //tests/golden:update`: change that, not this.
"""

def _matrix_bazelrc_impl(ctx):
    lines = [_HEADER]
    for dimension, values in MATRIX.items():
        lines.append("\n# {}\n".format(dimension))
        for value, options in values.items():
            lines += ["common:{} {}\n".format(value, option) for option in options]
    output = ctx.actions.declare_file(ctx.label.name + ".bazelrc")
    ctx.actions.write(output, "".join(lines))
    return [DefaultInfo(files = depset([output]))]

matrix_bazelrc = rule(
    doc = "Writes `{name}.bazelrc`: a `--config` for each value of the matrix.",
    implementation = _matrix_bazelrc_impl,
)

def _matrix_json_impl(ctx):
    document = [
        {"name": "-".join(choice.values()), "options": ["--config=" + value for value in choice.values()]} | choice
        for choice in combinations(MATRIX)
    ]
    output = ctx.actions.declare_file(ctx.label.name + ".json")
    ctx.actions.write(output, json.encode_indent(document, indent = " ") + "\n")
    return [DefaultInfo(files = depset([output]))]

matrix_json = rule(
    doc = "Writes `{name}.json`: a list of every combination, with its name, its values by dimension, and its options.",
    implementation = _matrix_json_impl,
)
