"""sdk_static_wheel: a wheel of small files, with requirements that are fixed when it is built."""

load("@rules_python//python:packaging.bzl", "PyWheelInfo")
load("//rules/private/common:project.bzl", "PROJECT_ATTRS", "escaped", "project_args", "project_file", "small_files", "source_files", "version_of")
load("//rules/private/common:run_tool.bzl", "run_tool", "tool_args", "tool_attr")
load("//rules/private/providers:distribution_info.bzl", "DistributionInfo")

visibility(["//rules"])

def _sdk_static_wheel_impl(ctx):
    version = version_of(ctx)
    name = "{}-{}-py3-none-any.whl".format(escaped(ctx.attr.distribution), version)

    # In a separate folder, because installers would prefer it to the sdist beside it.
    wheel = ctx.actions.declare_file("static/" + name)
    metadata = ctx.actions.declare_file("static/{}.metadata".format(name))
    digest = ctx.actions.declare_file("static/{}.digest.json".format(name))
    project = project_file(ctx)
    files = small_files(ctx, licenses = "{dist_info}/licenses/", others = source_files(ctx, ctx.attr.strip_prefix))
    args = tool_args(ctx)
    project_args(args, ctx, project, metadata, digest)
    for extra, requirements in sorted(ctx.attr.extras.items()):
        args.add_all(["{}={}".format(extra, requirement.replace("{version}", version)) for requirement in requirements], format_each = "--extra=%s")
    args.add_all(["{}={}".format(script, reference) for script, reference in sorted(ctx.attr.console_scripts.items())], format_each = "--console-script=%s")
    args.add(wheel, format = "--wheel=%s")
    args.add_all(["{}={}".format(path, file.path) for path, file in sorted(files.items())])
    run_tool(
        ctx,
        tool = ctx.attr._static_wheel,
        args = args,
        inputs = [project, ctx.file.description] + files.values(),
        outputs = [wheel, metadata, digest],
        mnemonic = "RocmStaticWheel",
        progress_message = "Writing wheel " + name,
        use_default_shell_env = True,
    )
    name_file = ctx.actions.declare_file(ctx.label.name + ".name")
    ctx.actions.write(name_file, name)
    return [
        DefaultInfo(files = depset([wheel])),
        DistributionInfo(file = wheel, metadata = metadata, digest = digest),
        PyWheelInfo(wheel = wheel, name_file = name_file),
    ]

sdk_static_wheel = rule(
    doc = """Writes a wheel of small files for every platform. Its requirements are fixed at build time.

It can replace an sdist of the same name and version where no sdist can be built. Its output is in `static/`; give it to
`sdk_index` as `static`. It provides `PyWheelInfo`, so it can be used like a `py_wheel`.""",
    implementation = _sdk_static_wheel_impl,
    attrs = PROJECT_ATTRS | {
        "console_scripts": attr.string_dict(doc = "Name of each console script -> object reference, `module:function`."),
        "extras": attr.string_list_dict(doc = "Name of each extra -> requirements (PEP 508). `{version}` stands for the version of this distribution."),
        "files": attr.label_keyed_string_dict(allow_files = True, doc = "File -> path in the wheel."),
        "sources": attr.label(allow_files = True, doc = "`filegroup` whose files keep their paths, relative to its package."),
        "strip_prefix": attr.string(doc = "Directory below the package of `sources`. Only its files are taken, with paths relative to it."),
        "_static_wheel": tool_attr("//tools/actions/static_wheel:static_wheel_tool"),
    },
    provides = [DistributionInfo, PyWheelInfo],
)
