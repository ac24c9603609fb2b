"""rocm_wheel: links a planned and packed package to a wheel."""

load("@bazel_skylib//rules:common_settings.bzl", "BuildSettingInfo")
load("@rules_python//python:packaging.bzl", "PyWheelInfo")
load("//rules/private/common:project.bzl", "PROJECT_ATTRS", "escaped", "project_args", "project_file", "version_of")
load("//rules/private/common:run_tool.bzl", "run_tool", "tool_args", "tool_attr")
load("//rules/private/providers:distribution_info.bzl", "DistributionInfo")
load("//rules/private/providers:package_info.bzl", "PackageInfo")

visibility(["//rules"])

# Threads that compress a tar.xz: each takes 150 MB.
_XZ_THREADS = 2

def _small_files(ctx):
    """Returns {path in the wheel: File}; `{dist_info}` stands for the dist-info directory."""
    files = {}
    for target, path in ctx.attr.files.items():
        files[path] = target[DefaultInfo].files.to_list()[0]
    for file in ctx.files.license_files:
        files["{dist_info}/licenses/" + file.basename] = file
    return files

def _link_args(ctx, package, outputs, files):
    args = tool_args(ctx)
    project = project_file(ctx)
    project_args(args, ctx, project, outputs.metadata, outputs.digest)
    args.add(package.plan, format = "--plan=%s")
    args.add_all(package.indexes, format_each = "--index=%s")
    args.add_all(package.segments, format_each = "--segment=%s")
    args.add(outputs.tag, format = "--tag=%s")
    args.add(outputs.wheel, format = "--wheel=%s")
    if package.definition.kind == "devel":
        args.add(ctx.attr._devel_archive[BuildSettingInfo].value, format = "--devel=%s")
        args.add(ctx.attr.import_name, format = "--devel-directory=%s")
        args.add(_XZ_THREADS, format = "--threads=%s")
    if ctx.attr._verbose[BuildSettingInfo].value:
        args.add("--verbose")
    if ctx.file.console_scripts:
        args.add(ctx.file.console_scripts, format = "--console-scripts=%s")
        args.add(ctx.attr.import_name, format = "--module=%s._cli")
    args.add_all(["{}={}".format(path, file.path) for path, file in sorted(files.items())])
    return args, project

def _rocm_wheel_impl(ctx):
    package = ctx.attr.package[PackageInfo]
    tag = "py3-none-" + ctx.attr.platform_tag[BuildSettingInfo].value
    name = "{}-{}-{}.whl".format(escaped(ctx.attr.distribution), version_of(ctx), tag)
    outputs = struct(
        wheel = ctx.actions.declare_file(name),
        metadata = ctx.actions.declare_file(name + ".metadata"),
        digest = ctx.actions.declare_file(name + ".digest.json"),
        tag = tag,
    )
    files = _small_files(ctx)
    args, project = _link_args(ctx, package, outputs, files)
    run_tool(
        ctx,
        tool = ctx.attr._link,
        args = args,
        inputs = depset(
            [project, ctx.file.description, package.plan] + files.values() + ctx.files.console_scripts,
            transitive = [package.indexes, package.segments],
        ),
        outputs = [outputs.wheel, outputs.metadata, outputs.digest],
        mnemonic = "RocmLink",
        progress_message = "Linking wheel " + name,
        cores = _XZ_THREADS if ctx.attr._devel_archive[BuildSettingInfo].value == "tar.xz" and package.definition.kind == "devel" else 1,
        use_default_shell_env = True,
    )
    name_file = ctx.actions.declare_file(ctx.label.name + ".name")
    ctx.actions.write(name_file, name)
    return [
        DefaultInfo(files = depset([outputs.wheel])),
        DistributionInfo(file = outputs.wheel, metadata = outputs.metadata, digest = outputs.digest),
        PyWheelInfo(wheel = outputs.wheel, name_file = name_file),
    ]

rocm_wheel = rule(
    doc = "Links a package to a wheel. It offers `PyWheelInfo`, so what takes a `py_wheel` takes this, too.",
    implementation = _rocm_wheel_impl,
    attrs = PROJECT_ATTRS | {
        "console_scripts": attr.label(
            allow_single_file = [".json"],
            doc = "JSON list of `{script, path}`: each becomes a console script, `{import_name}._cli:{script}`, if the package ships its tool.",
        ),
        "files": attr.label_keyed_string_dict(allow_files = True, doc = "Small files of the wheel -> their paths in it."),
        "import_name": attr.string(doc = "Import name of the package's Python code."),
        "package": attr.label(mandatory = True, providers = [PackageInfo], doc = "The `rocm_package`."),
        "platform_tag": attr.label(mandatory = True, providers = [BuildSettingInfo], doc = "The build setting that holds the wheel's platform tag."),
        "_devel_archive": attr.label(default = "//rules/settings:devel_archive"),
        "_link": tool_attr("//tools/link:link_tool"),
        "_verbose": attr.label(default = "//rules/settings:verbose"),
    },
    provides = [DistributionInfo, PyWheelInfo],
)
