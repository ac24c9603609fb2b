"""sdk_split_wheel: makes thin wheels of any wheel with device code for many GPUs."""

load("//rules/settings:compression.bzl", "COMPRESSIONS")
load("//rules/shared:names.bzl", "shown")
load("//rules/shared:run_tool.bzl", "run_tool", "tool_attr")

visibility(["//rules"])

def _sdk_split_wheel_impl(ctx):
    if not ctx.attr.targets:
        fail("{}: targets is empty; expected GPU targets or families, such as \"gfx942\"".format(shown(ctx.label)))
    if not ctx.file.wheel.is_directory and ctx.file.wheel.extension != "whl":
        fail("{}: wheel: {} is not a wheel; expected a file that ends with .whl, or a directory of such, which sdk_requiring_wheel makes".format(shown(ctx.label), ctx.file.wheel.basename))
    directory = ctx.actions.declare_directory(ctx.label.name)
    report = ctx.actions.declare_file(ctx.label.name + ".report.txt")
    run_tool(
        ctx,
        tool = ctx.attr._split_wheel,
        inputs = {"wheels": ctx.file.wheel},
        values = {
            "compression": ctx.attr.compression,
            "drop_signatures": ctx.attr.drop_signatures,
            "rewrite_record": ctx.attr.rewrite_record,
            "shape": ctx.attr.shape,
            "targets": ",".join(ctx.attr.targets),
            "whole": ctx.attr.whole,
        },
        outputs = dict(output = directory, report = report),
        mnemonic = "RocmSplitWheel",
        progress_message = "Splitting wheel %{input}",
        threads = 8,
        use_default_shell_env = True,
    )
    return [
        DefaultInfo(files = depset([directory])),
        OutputGroupInfo(report = depset([report])),
    ]

sdk_split_wheel = rule(
    doc = """Splits a wheel with device code for many AMD GPUs into thin ones, as `rocm-wheels split` does.

The output is a directory with the target's name. [split-wheels.md](../wheels/split-wheels.md) says what it contains, and how installers
use it. The output group `report` has `{name}.report.txt`: what each wheel has, its sizes before and after, and what was left as it is. The wheel can be another rule's, such as a `py_wheel`, or a file that was fetched.""",
    implementation = _sdk_split_wheel_impl,
    attrs = {
        "compression": attr.string(default = "balanced", values = COMPRESSIONS, doc = "Speed or size of the thin wheels."),
        "drop_signatures": attr.bool(doc = "Also split a signed wheel, and leave out its signatures, which sign the old RECORD."),
        "rewrite_record": attr.bool(doc = "Also take a wheel with a wrong RECORD, as pip installs it: RECORD is written from the files. The report lists what was wrong."),
        "shape": attr.string(default = "local-versions", values = ["local-versions", "host-device", "wheel-variants"], doc = "`local-versions`: a complete wheel for each of `targets`. `host-device`: one wheel without device code, and a small wheel for each of `targets`. `wheel-variants`: wheels in the format of drafts of Python packaging."),
        "targets": attr.string_list(mandatory = True, doc = "GPU targets, and families of them. Each gets a wheel."),
        "wheel": attr.label(mandatory = True, allow_single_file = True, doc = "The wheel, or an `sdk_requiring_wheel`."),
        "whole": attr.string_list(doc = "Patterns of files that keep the code for all GPUs."),
        "_split_wheel": tool_attr("//wheels/split:split_wheel_tool"),
    },
)
