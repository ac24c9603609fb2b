"""sdk_layer: makes the layer of a container image out of a wheel."""

load("//rules/private/common:providers.bzl", "DistributionInfo", "InstallSchemeInfo", "LayerInfo", "PackageInfo")
load("//rules/shared:labels.bzl", "shown")
load("//rules/shared:run_tool.bzl", "run_tool", "tool_args", "tool_attr")

visibility(["//rules"])

def _wheel(ctx, args):
    """Adds the wheel to the arguments, and returns its file, or the directory that has it."""
    target = ctx.attr.wheel
    if DistributionInfo in target:
        wheel = target[DistributionInfo].file
    else:
        wheels = [file for file in ctx.files.wheel if file.is_directory or file.extension == "whl"]
        if len(wheels) != 1:
            fail("{}: wheel: {} has {} wheels; expected one, or one directory of wheels. Name another target".format(shown(ctx.label), shown(target.label), len(wheels)))
        wheel = wheels[0]
        args.add("--any-wheel")
    if ctx.attr.pattern and not wheel.is_directory:
        fail("{}: pattern: {} is no directory of wheels; expected one. Leave `pattern` out".format(shown(ctx.label), shown(target.label)))
    args.add_all([wheel], format_each = "--wheel=%s", expand_directories = False)
    args.add_all([ctx.attr.pattern] if ctx.attr.pattern else [], format_each = "--pattern=%s")
    return wheel

def _is_devel(target):
    return PackageInfo in target and target[PackageInfo].definition.kind == "devel"

def _devel_tree(ctx, args):
    """Adds the tree of a devel package to the arguments; returns the inputs that this needs, a depset."""
    if not _is_devel(ctx.attr.wheel):
        if ctx.attr.beside and not PackageInfo in ctx.attr.wheel:
            fail("{}: beside: {} has no tree that is unpacked; expected the sdk_wheel of a devel package. Leave `beside` out".format(shown(ctx.label), shown(ctx.attr.wheel.label)))
        return depset()
    package, distribution = ctx.attr.wheel[PackageInfo], ctx.attr.wheel[DistributionInfo]
    beside = [target[DistributionInfo].file for target in ctx.attr.beside]
    args.add(package.plan, format = "--plan=%s")
    args.add_all(package.indexes, format_each = "--index=%s")
    args.add_all(package.segments, format_each = "--segment=%s")
    args.add_all(beside, format_each = "--beside=%s")
    args.add_all(["{}={}".format(path, file.path) for path, file in sorted(distribution.tree_files.items())])
    return depset([package.plan] + beside + distribution.tree_files.values(), transitive = [package.indexes, package.segments])

def _links_to(ctx, args):
    """Adds the package that links lead to, if there is one, to the arguments; returns its files."""
    if not ctx.attr.links_to:
        return []
    wheel, plan = ctx.attr.links_to[DistributionInfo].file, ctx.attr.links_to[PackageInfo].plan
    args.add(wheel, format = "--links-to=%s")
    args.add(plan, format = "--links-to-plan=%s")
    return [wheel, plan]

def _sbom(ctx):
    """Returns the bill of materials of what is in the layer, or None."""
    target = ctx.attr.wheel
    return target[DistributionInfo].sbom if DistributionInfo in target and not ctx.attr.links_to else None

def _sdk_layer_impl(ctx):
    scheme = ctx.attr.install_scheme[InstallSchemeInfo]
    layer = ctx.actions.declare_file(ctx.label.name + ".tar.gz")
    descriptor = ctx.actions.declare_file(ctx.label.name + ".layer.json")
    args = tool_args(ctx)
    wheel = _wheel(ctx, args)
    args.add(scheme.site_packages, format = "--site-packages=%s")
    args.add(scheme.scripts, format = "--scripts=%s")
    args.add(scheme.python, format = "--python=%s")
    args.add(layer, format = "--layer=%s")
    args.add(descriptor, format = "--descriptor=%s")
    linked = _links_to(ctx, args)
    run_tool(
        ctx,
        tool = ctx.attr._layer,
        args = args,
        inputs = depset([wheel] + linked, transitive = [_devel_tree(ctx, args)]),
        outputs = [layer, descriptor],
        mnemonic = "RocmLayer",
        progress_message = "Making layer %{label}",
        # What another program compressed may have to be compressed again.
        threads = 1 if DistributionInfo in ctx.attr.wheel else 2,
        in_worker = True,
        use_default_shell_env = True,
        # As with wheels, a cache would store the bulk once more.
        execution_requirements = {"no-remote-cache-upload": ""},
    )
    return [
        DefaultInfo(files = depset([layer])),
        LayerInfo(descriptor = descriptor, layer = layer, sbom = _sbom(ctx)),
    ]

sdk_layer = rule(
    doc = """Makes the layer of a container image out of a wheel: what `pip install` would have put into the image.

The compressed bytes of the wheel are copied; nothing is compressed again. The output is a `.tar.gz`, which rules that
take layers as files accept, too. The layer of a devel package has its tree unpacked.""",
    implementation = _sdk_layer_impl,
    attrs = {
        "beside": attr.label_list(providers = [DistributionInfo], doc = "For a devel package: each `sdk_wheel` that the image has as well and that the tree links to, such as the runtime's. Links to other packages are left out."),
        "install_scheme": attr.label(mandatory = True, providers = [InstallSchemeInfo], doc = "The `sdk_install_scheme` of the image's Python."),
        "links_to": attr.label(providers = [DistributionInfo, PackageInfo], doc = "For a devel package: the `sdk_wheel` of a package that users choose by GPU target. The layer then has only the links that the tree gets in addition when that package is installed. It goes above the layer without `links_to`, which images for all GPUs share."),
        "pattern": attr.string(doc = "Which wheel of a directory, by its path in the directory: a pattern such as `*/acme-*+gfx942-*.whl`, in which `*` matches `/`, too. Default: the only one."),
        "wheel": attr.label(mandatory = True, allow_files = True, doc = "The `sdk_wheel` or `sdk_static_wheel`; or another rule's wheel, a file, or a directory of wheels, which `sdk_split_wheel` and `sdk_requiring_wheel` make. Members that another program compressed are compressed again, because only byte-aligned data can be joined."),
        "_layer": tool_attr("//tools/actions/layer:layer_tool"),
    },
    provides = [LayerInfo],
)
