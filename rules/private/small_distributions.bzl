"""Distributions of small files: sdk_static_wheel, with requirements that are fixed when it is built, and sdk_sdist."""

load("@rules_python//python:packaging.bzl", "PyWheelInfo")
load("//rules/private/common:project.bzl", "PROJECT_ATTRS", "escaped", "file_name", "project_file", "project_inputs", "requirement_of", "small_files", "source_files", "version_of")
load("//rules/private/common:providers.bzl", "DistributionInfo")
load("//rules/shared:names.bzl", "shown", "written")
load("//rules/shared:run_tool.bzl", "run_tool", "tool_attr")

visibility(["//rules"])

def _outputs(ctx, version):
    """Declares the wheel and what is beside it: {name of the tool's option: File}."""
    variant = ctx.attr.variant
    if bool(variant) != bool(ctx.attr.variant_targets):
        fail("{}: variant = \"{}\", variant_targets = {}; expected both, or neither for a wheel for every machine. Set `variant` and `variant_targets`".format(shown(written(ctx)), variant, ctx.attr.variant_targets))
    name = file_name(ctx, "{}-{}-{}-{}-{}{}.whl".format(escaped(ctx.attr.distribution), version, ctx.attr.python_tag, ctx.attr.abi_tag, ctx.attr.platform_tag, "-" + variant if variant else ""))

    # In a separate folder, because installers would prefer it to the sdist beside it. They ignore a label, or know it. A
    # wheel with compiled files has no sdist here.
    folder = "" if variant or ctx.attr.platform_tag != "any" else "static/"

    # The wheel first: messages call an action by its first output.
    names = {"wheel": name, "metadata": name + ".metadata", "digest": name + ".digest.json"}  # buildifier: disable=unsorted-dict-items
    if variant:
        names["variant"] = name + ".variant.json"
    return {option: ctx.actions.declare_file(folder + file) for option, file in names.items()}

def _sdk_static_wheel_impl(ctx):
    version = version_of(ctx)
    outputs = _outputs(ctx, version)
    wheel, metadata, digest, variant = outputs["wheel"], outputs["metadata"], outputs["digest"], outputs.get("variant")
    files = small_files(ctx, licenses = "{dist_info}/licenses/", others = source_files(ctx, ctx.attr.strip_prefix))
    extras = [(extra, one.replace("{version}", version)) for extra, requirements in sorted(ctx.attr.extras.items()) for one in requirements]
    run_tool(
        ctx,
        tool = ctx.attr._static_wheel,
        inputs = project_inputs(ctx, project_file(ctx), files),
        values = {
            "console_script": dict(sorted(ctx.attr.console_scripts.items())),
            "extra": ["{}={}".format(extra, requirement) for extra, requirement in extras],
            "variant_target": ctx.attr.variant_targets,
        },
        outputs = outputs,
        mnemonic = "RocmStaticWheel",
        progress_message = "Writing wheel " + wheel.basename,
        use_default_shell_env = True,
    )
    name_file = ctx.actions.declare_file(ctx.label.name + ".name")
    ctx.actions.write(name_file, wheel.basename)
    return [
        DefaultInfo(files = depset([wheel])),
        DistributionInfo(file = wheel, metadata = metadata, digest = digest, requirement = requirement_of(ctx), sbom = None, variant = variant),
        PyWheelInfo(wheel = wheel, name_file = name_file),
    ]

sdk_static_wheel = rule(
    doc = """Writes a wheel of small files, for every platform or for one. Its requirements are fixed at build time.

It can replace an sdist of the same name and version where no sdist can be built. Its output is in `static/`; give it to
`sdk_index` as `static`.

With `variant`, it is a wheel variant for some GPUs instead (PEP 825, provisional): give it to `sdk_index` among the
`distributions`. An installer that knows wheel variants prefers it on a machine with one of these GPUs. Others ignore it.

It provides `PyWheelInfo`, so it can be used like a `py_wheel`.""",
    implementation = _sdk_static_wheel_impl,
    attrs = PROJECT_ATTRS | {
        "abi_tag": attr.string(default = "none", doc = "ABI tag. An extension module for one version of Python has `cp312`, one for the stable ABI `abi3`."),
        "console_scripts": attr.string_dict(doc = "Name of each console script -> object reference, `module:function`."),
        "extras": attr.string_list_dict(doc = "Name of each extra -> requirements (PEP 508). `{version}` stands for the version of this distribution."),
        "files": attr.label_keyed_string_dict(allow_files = True, doc = "File -> path in the wheel."),
        "platform_tag": attr.string(default = "any", doc = "Platform tag of a wheel with compiled files, such as a `hip_binary`. Its output is not in `static/`."),
        "python_tag": attr.string(default = "py3", doc = "Python tag. An extension module for one version of Python has `cp312`."),
        "sources": attr.label(allow_files = True, doc = "`filegroup` whose files keep their paths, relative to its package."),
        "strip_prefix": attr.string(doc = "Directory below the package of `sources`. Only its files are taken, with paths relative to it."),
        "variant": attr.string(doc = "Label of the wheel variant, the last part of its file name: one or more of `0-9`, `a-z`, `_` and `.`. Empty for a wheel for every machine."),
        "variant_targets": attr.string_list(doc = "GPU targets, as `rocm-bootstrap` names them: the wheel variant is for machines with one of these."),
        "_static_wheel": tool_attr("//tools/actions:static_wheel_tool"),
    },
    provides = [DistributionInfo, PyWheelInfo],
)

def _sdk_sdist_impl(ctx):
    name = file_name(ctx, "{}-{}.tar.gz".format(escaped(ctx.attr.distribution), version_of(ctx)))
    sdist = ctx.actions.declare_file(name)
    metadata = ctx.actions.declare_file(name + ".metadata")
    digest = ctx.actions.declare_file(name + ".digest.json")
    run_tool(
        ctx,
        tool = ctx.attr._sdist,
        inputs = project_inputs(ctx, project_file(ctx), small_files(ctx, others = source_files(ctx))),
        outputs = dict(sdist = sdist, metadata = metadata, digest = digest),
        mnemonic = "RocmSdist",
        progress_message = "Writing sdist " + name,
        use_default_shell_env = True,
    )
    return [
        DefaultInfo(files = depset([sdist])),
        DistributionInfo(file = sdist, metadata = metadata, digest = digest, requirement = requirement_of(ctx), sbom = None, variant = None),
    ]

sdk_sdist = rule(
    doc = """Writes a source distribution. Equal inputs give equal bytes.

Its build backend says what the fields have that `dynamic` names.""",
    implementation = _sdk_sdist_impl,
    attrs = PROJECT_ATTRS | {
        "files": attr.label_keyed_string_dict(allow_files = True, doc = "File -> path in the sdist."),
        "sources": attr.label(allow_files = True, doc = "`filegroup` whose files keep their paths, relative to its package."),
        "_sdist": tool_attr("//tools/actions:sdist_tool"),
    },
    provides = [DistributionInfo],
)
