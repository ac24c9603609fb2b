"""Makes new wheels of a finished one: sdk_requiring_wheel lets it require an SDK's packages, sdk_split_wheel splits it by GPU."""

load("//rules/settings:compression.bzl", "COMPRESSIONS")
load("//rules/shared:names.bzl", "shown", "written")
load("//rules/shared:run_tool.bzl", "run_tool", "tool_attr")

visibility(["//rules"])

_COMMON_ATTRS = {
    "compression": attr.string(default = "balanced", values = COMPRESSIONS, doc = "Speed or size of the files that are compressed again."),
    "rewrite_record": attr.bool(doc = "Also take a wheel with a wrong RECORD, as pip installs it: RECORD is written from the files. The report lists what was wrong."),
}

def _new_wheels(ctx, tool, inputs, values, mnemonic, progress_message):
    """Runs the command that makes wheels and a report; returns the providers of the rule."""
    directory = ctx.actions.declare_directory(ctx.label.name)
    report = ctx.actions.declare_file(ctx.label.name + ".report.txt")
    run_tool(
        ctx,
        tool = tool,
        inputs = inputs,
        values = values | {name: getattr(ctx.attr, name) for name in _COMMON_ATTRS},
        outputs = dict(output = directory, report = report),
        mnemonic = mnemonic,
        progress_message = progress_message,
        threads = 8,
        use_default_shell_env = True,
    )
    return [DefaultInfo(files = depset([directory])), OutputGroupInfo(report = depset([report]))]

# Attributes that are the command's options.
_OPTIONS = ["allow_missing", "device", "drop_bundled", "externals", "init_py", "leave", "local_version", "specifier", "take"]

def _sdk_requiring_wheel_impl(ctx):
    wheels = [file for file in ctx.files.sdk if file.extension == "whl" or file.is_directory]
    if not wheels:
        fail("{}: sdk has no wheels; expected targets with wheels (.whl), such as `sdk_wheel`, or with directories of wheels".format(shown(written(ctx))))
    distributions = wheels + [file for file in ctx.files.sdk if file.basename.endswith(".tar.gz")]
    inputs = dict(wheel = ctx.file.wheel, sdk = distributions)
    values = {name: getattr(ctx.attr, name) for name in _OPTIONS}
    return _new_wheels(ctx, ctx.attr._require_sdk, inputs, values, mnemonic = "RocmRequireSdk", progress_message = "Making wheel %{input} require an SDK")

sdk_requiring_wheel = rule(
    doc = """Makes a wheel require the packages of an SDK, as `require-sdk` does: RPATHs, requirements and a proof.

The output is a directory with the target's name, which contains the new wheel. [require-sdk.md](../wheels/require-sdk.md) says what
changes, and what stops the build. The output group `report` has `{name}.report.txt`: what changed, what was proven, and which
symbols were not. The wheel can be another rule's, such as a `py_wheel`, or a file that was fetched.""",
    implementation = _sdk_requiring_wheel_impl,
    attrs = _COMMON_ATTRS | {
        "allow_missing": attr.string_list(doc = "Patterns of symbols that the SDK need not have, because something else supplies them."),
        "device": attr.string(doc = "GPU targets whose packages the wheel requires, `gfx942,gfx1100`. Or the device code of `machine` (the GPU of the machine that installs the wheel), `all`, `none`. Empty: the GPU of the wheel's own device code if there is only one, otherwise `machine`."),
        "drop_bundled": attr.bool(doc = "Leave out copies of the SDK's libraries, and use the SDK's. Otherwise copies stay."),
        "externals": attr.string_list(doc = "Patterns of file names of libraries that users' machines or other packages have, such as `libtorch*`. METADATA lists those that the wheel needs (`Requires-External`)."),
        "init_py": attr.string(doc = "Import package of the wheel that gets `_rocm_init.py`, for wheels that need ROCm. The wheel then also requires `rocm`."),
        "leave": attr.string_list(doc = "Patterns of file names of libraries to leave alone: they are not taken from the SDK, and copies are not left out."),
        "local_version": attr.string(doc = "Local version of the new wheel. Empty: `sdk` and the SDK's version, written so that it sorts as versions do: `sdk.7.10.0.0`."),
        "sdk": attr.label_list(mandatory = True, allow_files = True, doc = "The SDK's wheels, or directories of them, and the sdist that selects among them. Other files of these targets are ignored."),
        "specifier": attr.string(doc = "Versions of the SDK's packages that the wheel requires: `>=7.10,<7.11`. Empty: the version of each."),
        "take": attr.string_list(doc = "Patterns of file names of libraries to take also from deeper directories of the SDK, such as `lib/llvm/lib`."),
        "wheel": attr.label(mandatory = True, allow_single_file = [".whl"], doc = "The wheel."),
        "_require_sdk": tool_attr("//wheels/require_sdk:require_sdk_action"),
    },
)

def _sdk_split_wheel_impl(ctx):
    if not ctx.attr.targets:
        fail("{}: targets is empty; expected GPU targets or families, such as \"gfx942\"".format(shown(ctx.label)))
    if not ctx.file.wheel.is_directory and ctx.file.wheel.extension != "whl":
        fail("{}: wheel: {} is not a wheel; expected a file that ends with .whl, or a directory of such, which sdk_requiring_wheel makes".format(shown(ctx.label), ctx.file.wheel.basename))
    values = {"shape": ctx.attr.shape, "targets": ",".join(ctx.attr.targets), "whole": ctx.attr.whole}
    return _new_wheels(ctx, ctx.attr._split_wheel, {"wheels": ctx.file.wheel}, values, mnemonic = "RocmSplitWheel", progress_message = "Splitting wheel %{input}")

sdk_split_wheel = rule(
    doc = """Splits a wheel with device code for many AMD GPUs into thin ones, as `rocm-wheels split` does.

The output is a directory with the target's name. [split-wheels.md](../wheels/split-wheels.md) says what it contains, and how installers
use it. The output group `report` has `{name}.report.txt`: what each wheel has, its sizes before and after, and what was left as it is. The wheel can be another rule's, such as a `py_wheel`, or a file that was fetched.""",
    implementation = _sdk_split_wheel_impl,
    attrs = _COMMON_ATTRS | {
        "shape": attr.string(default = "local-versions", values = ["local-versions", "wheel-variants"], doc = "`local-versions`: a complete wheel for each of `targets`. `wheel-variants`: wheels in the format of drafts of Python packaging."),
        "targets": attr.string_list(mandatory = True, doc = "GPU targets, and families of them. Each gets a wheel."),
        "wheel": attr.label(mandatory = True, allow_single_file = True, doc = "The wheel, or an `sdk_requiring_wheel`."),
        "whole": attr.string_list(doc = "Patterns of files that keep the code for all GPUs."),
        "_split_wheel": tool_attr("//wheels/split:split_wheel_tool"),
    },
)
