"""A table that a build computes, compares with a committed file, and writes over it if somebody accepts the differences."""

load("@rules_python//python:defs.bzl", "py_binary")
load("//rules/shared:labels.bzl", "shown")

visibility(["//rules/..."])

def committed_table(ctx):
    """Returns the committed table, `expected`, or None if there is none.

    Args:
        ctx: the rule context.

    Returns:
        File or None.
    """
    files = ctx.files.expected
    if len(files) > 1 or (files and not files[0].is_source):
        fail("{}: expected: {} gives {}; expected one file of the workspace, which `bazel run` can write".format(shown(ctx.label), shown(ctx.attr.expected.label), files))
    return files[0] if files else None

def update_settings(ctx, committed, **more):
    """Writes what the command needs that accepts differences.

    Args:
        ctx: the rule context, with the attribute `expected_option`.
        committed: the File of `committed_table`.
        **more: further values, for one command alone.

    Returns:
        File.
    """
    settings = ctx.actions.declare_file(ctx.label.name + ".settings.json")
    ctx.actions.write(settings, json.encode({
        "committed": committed.short_path if committed else "",
        "expected_option": ctx.attr.expected_option,
        "label": shown(ctx.label) + "_update",
    } | more))
    return settings

def update_command(name, program, library, groups, kwargs):
    """Declares `{name}_update`, the command that accepts differences, and a filegroup for each output group.

    Args:
        name: name of the target whose table it is; it has the output groups `computed` and `settings`.
        program: Label of the command's file.
        library: Label of the library that it needs.
        groups: names of output groups.
        kwargs: attributes of the target, of which the command gets those that all rules have.
    """
    common = {key: value for key, value in kwargs.items() if key in ["tags", "visibility", "testonly"]}
    for group in groups:
        native.filegroup(name = "{}_{}".format(name, group), srcs = [name], output_group = group, **common)
    py_binary(
        name = name + "_update",
        srcs = [program],
        main = program,
        args = ["$(rootpath {}_settings)".format(name), "$(rootpath {}_computed)".format(name)],
        data = [name + "_computed", name + "_settings"],
        # Otherwise a `tools` package of the calling module, among the data, would hide ours.
        legacy_create_init = 0,
        deps = [library],
        **common
    )
