"""sdk_layer: makes the layer of a container image out of a wheel; sdk_install_scheme: where its files go."""

load("//rules/private/common:providers.bzl", "DistributionInfo", "InstallSchemeInfo", "PackageInfo")
load("//rules/shared:names.bzl", "shown")
load("//rules/shared:run_tool.bzl", "run_tool", "tool_attr")

visibility(["//rules"])

def _is_devel(target):
    return PackageInfo in target and target[PackageInfo].definition.kind == "devel"

def _linked_wheels(ctx):
    """Returns the wheels that the links of a devel package lead to, by the tool's names for them; none of another package."""
    if _is_devel(ctx.attr.wheel):
        return {
            "beside": [target[DistributionInfo].file for target in ctx.attr.beside],
            "links_to": ctx.attr.links_to[DistributionInfo].file if ctx.attr.links_to else None,
        }
    if ctx.attr.beside and not PackageInfo in ctx.attr.wheel:
        fail("{}: beside: {} has no links; expected the sdk_wheel of a devel package. Leave `beside` out".format(shown(ctx.label), shown(ctx.attr.wheel.label)))
    return {}

def _sdk_layer_impl(ctx):
    scheme = ctx.attr.install_scheme[InstallSchemeInfo]
    layer = ctx.actions.declare_file(ctx.label.name + ".tar.gz")
    run_tool(
        ctx,
        tool = ctx.attr._layer,
        inputs = {"wheel": ctx.attr.wheel[DistributionInfo].file} | _linked_wheels(ctx),
        values = {
            "devel": _is_devel(ctx.attr.wheel),
            "python": scheme.python,
            "scripts": scheme.scripts,
            "site_packages": scheme.site_packages,
        },
        outputs = {"layer": layer},
        mnemonic = "RocmLayer",
        progress_message = "Making layer %{label}",
        in_worker = True,
        use_default_shell_env = True,
        # As with wheels, a cache would store the bulk once more.
        execution_requirements = {"no-remote-cache-upload": ""},
    )
    return [DefaultInfo(files = depset([layer]))]

sdk_layer = rule(
    doc = """Makes the layer of a container image out of a wheel: what `pip install` would have put into the image.

The compressed bytes of the wheel are copied; nothing is compressed again. The output is a `.tar.gz`, which rules for images and
`ADD` in a Containerfile take. The layer of a devel package has the links of its tree.""",
    implementation = _sdk_layer_impl,
    attrs = {
        "beside": attr.label_list(providers = [DistributionInfo], doc = "For a devel package: each `sdk_wheel` that the image has as well and that the tree links to, such as the runtime's. Links to other packages are left out."),
        "install_scheme": attr.label(mandatory = True, providers = [InstallSchemeInfo], doc = "The `sdk_install_scheme` of the image's Python."),
        "links_to": attr.label(providers = [DistributionInfo], doc = "For a devel package: the `sdk_wheel` of a package that users choose by GPU target. The layer then has only the links that the tree gets in addition when that package is installed. It goes above the layer without `links_to`, which images for all GPUs share."),
        "wheel": attr.label(mandatory = True, providers = [DistributionInfo], doc = "The `sdk_wheel` or `sdk_static_wheel`."),
        "_layer": tool_attr("//tools/actions:layer_tool"),
    },
)

def _sdk_install_scheme_impl(ctx):
    return [InstallSchemeInfo(python = ctx.attr.python, scripts = ctx.attr.scripts, site_packages = ctx.attr.site_packages)]

sdk_install_scheme = rule(
    doc = "Says where the Python of a container image has its packages. All paths are those in the image.",
    implementation = _sdk_install_scheme_impl,
    attrs = {
        "python": attr.string(mandatory = True, doc = "The interpreter that console scripts start, an absolute path such as `/usr/bin/python3`."),
        "scripts": attr.string(mandatory = True, doc = "Directory of console scripts, such as `usr/local/bin`."),
        "site_packages": attr.string(mandatory = True, doc = "Directory that Python imports from, such as `usr/lib/python3/dist-packages` or `opt/venv/lib/python3.12/site-packages`."),
    },
    provides = [InstallSchemeInfo],
)
