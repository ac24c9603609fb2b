"""sdk_layer: makes the layer of a container image out of a wheel."""

load("@bazel_skylib//rules:common_settings.bzl", "BuildSettingInfo")
load("//rules/private/common:providers.bzl", "DistributionInfo", "InstallSchemeInfo", "LayerInfo")
load("//rules/private/common:run_tool.bzl", "run_tool", "tool_args", "tool_attr")

visibility(["//rules"])

def _sdk_layer_impl(ctx):
    distribution = ctx.attr.wheel[DistributionInfo]
    wheel = distribution.file
    scheme = ctx.attr.install_scheme[InstallSchemeInfo]
    layer = ctx.actions.declare_file(ctx.label.name + ".tar.gz")
    descriptor = ctx.actions.declare_file(ctx.label.name + ".layer.json")
    args = tool_args(ctx)
    args.add(wheel, format = "--wheel=%s")
    args.add(scheme.site_packages, format = "--site-packages=%s")
    args.add(scheme.scripts, format = "--scripts=%s")
    args.add(scheme.python, format = "--python=%s")
    args.add(ctx.attr._layer_format[BuildSettingInfo].value, format = "--format=%s")
    args.add(layer, format = "--layer=%s")
    args.add(descriptor, format = "--descriptor=%s")
    run_tool(
        ctx,
        tool = ctx.attr._layer,
        args = args,
        inputs = [wheel],
        outputs = [layer, descriptor],
        mnemonic = "RocmLayer",
        progress_message = "Making layer %{label}",
        use_default_shell_env = True,
        # As with wheels, a cache would store the bulk once more.
        execution_requirements = {"no-remote-cache-upload": ""},
    )
    return [
        DefaultInfo(files = depset([layer])),
        LayerInfo(descriptor = descriptor, layer = layer, sbom = distribution.sbom),
    ]

sdk_layer = rule(
    doc = """Makes the layer of a container image out of a wheel: what `pip install` would have put into the image.

The compressed bytes of the wheel are copied; nothing is compressed again. The output is a `.tar.gz`, which rules that
take layers as files accept, too.""",
    implementation = _sdk_layer_impl,
    attrs = {
        "install_scheme": attr.label(mandatory = True, providers = [InstallSchemeInfo], doc = "The `sdk_install_scheme` of the image's Python."),
        "wheel": attr.label(mandatory = True, providers = [DistributionInfo], doc = "The `sdk_wheel` or `sdk_static_wheel`. Wheels of other rules are refused, because their bytes cannot be joined."),
        "_layer": tool_attr("//tools/actions/layer:layer_tool"),
        "_layer_format": attr.label(default = "//rules/settings:layer_format"),
    },
    provides = [LayerInfo],
)
