"""sdk_sonames: lists which libraries each package has, and compares that with a committed table."""

load("//rules/private/common:committed_table.bzl", "committed_table", "update_command", "update_settings")
load("//rules/private/common:providers.bzl", "PackageInfo")
load("//rules/shared:labels.bzl", "shown")
load("//rules/shared:run_tool.bzl", "run_tool", "tool_args", "tool_attr")

visibility(["//rules"])

def _compute(ctx):
    """Declares the action that writes the table of this build; returns it."""
    computed = ctx.actions.declare_file(ctx.label.name + ".computed.json")
    plans = [package[PackageInfo].plan for package in ctx.attr.packages]
    args = tool_args(ctx)
    args.add_all(plans, format_each = "--plan=%s")
    args.add(computed, format = "--output=%s")
    run_tool(
        ctx,
        tool = ctx.attr._sonames,
        args = args,
        inputs = plans,
        outputs = [computed],
        mnemonic = "RocmSonames",
        progress_message = "Listing libraries: %{label}",
    )
    return computed

def _check(ctx, computed, committed):
    """Declares the action that compares the two; returns the table, which is there if they are equal."""
    table = ctx.actions.declare_file(ctx.label.name + ".json")
    args = tool_args(ctx)
    args.add(computed, format = "--computed=%s")
    if committed:
        args.add(committed, format = "--expected=%s")
        args.add("--committed=" + committed.short_path)
    args.add("--accept=bazel run {}_update".format(shown(ctx.label)))
    args.add(table, format = "--output=%s")
    run_tool(
        ctx,
        tool = ctx.attr._check,
        args = args,
        inputs = [computed] + ([committed] if committed else []),
        outputs = [table],
        mnemonic = "RocmSonamesCheck",
        progress_message = "Checking libraries: %{label}",
    )
    return table

def _sdk_sonames_impl(ctx):
    committed = committed_table(ctx)
    computed = _compute(ctx)
    settings = update_settings(ctx, committed)
    return [
        DefaultInfo(files = depset([_check(ctx, computed, committed)])),
        OutputGroupInfo(computed = depset([computed]), settings = depset([settings])),
    ]

_sdk_sonames = rule(
    doc = "See the macro of that name.",
    implementation = _sdk_sonames_impl,
    attrs = {
        "expected": attr.label(allow_files = True, doc = "Committed table, a file of the workspace. Nothing is compared without it, or if the target has no files."),
        "expected_option": attr.string(doc = "Command-line option that sets `expected`, if your packages have one: `--//my:sonames`. Messages name it instead of the attribute."),
        "packages": attr.label_list(mandatory = True, allow_empty = False, providers = [PackageInfo], doc = "The packages: each a `sdk_package`, a `sdk_gpu_package`, or the wheel of one."),
        "_check": tool_attr("//tools/actions/sonames:check_tool"),
        "_sonames": tool_attr("//tools/actions/sonames:sonames_tool"),
    },
)

def sdk_sonames(name, **kwargs):
    """Lists which libraries each package has, by SONAME, and compares the table with a committed one.

    Writes the table as `{name}.json`. A library counts in the package that has its bytes, a DLL under the name of its
    file. With `expected`, any difference stops the build, and one error lists all of them; `bazel run` of
    `{name}_update` accepts them. So that no index is written before, name the target in `checks` of `sdk_index`.

    Args:
        name: name of the target. The command is `{name}_update`.
        **kwargs: the attributes below, and the attributes that all rules have.
    """
    _sdk_sonames(name = name, **kwargs)
    update_command(name, Label("//tools/actions/sonames:update.py"), Label("//tools/actions/sonames"), ["computed", "settings"], kwargs)
