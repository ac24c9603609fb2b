"""sdk_runtime: Python code with which users of an SDK find and load its libraries, whichever package has them."""

load("@bazel_skylib//rules:common_settings.bzl", "BuildSettingInfo")
load("//rules/private/common:providers.bzl", "PackageInfo")
load("//rules/private/common:version_suffix.bzl", "check_version")
load("//rules/shared:names.bzl", "shown")
load("//rules/shared:run_tool.bzl", "run_tool", "tool_attr")

visibility(["//rules"])

_MODULES = ["__init__", "elf", "loading", "names", "packages", "pe"]

def _sdk_runtime_impl(ctx):
    version = ctx.attr.version[BuildSettingInfo].value
    check_version(version, shown(ctx.label), shown(ctx.attr.version.label))
    table = ctx.actions.declare_file(ctx.label.name + ".json")
    plans = [(distribution, package[PackageInfo].plan) for package, distribution in ctx.attr.packages.items()]
    run_tool(
        ctx,
        tool = ctx.attr._runtime,
        # One distribution may have a plan for each platform.
        values = {"package": ["{}={}".format(distribution, plan.path) for distribution, plan in plans], "version": version},
        others = [plan for _, plan in plans],
        outputs = {"output": table},
        mnemonic = "RocmRuntime",
        progress_message = "Listing packages: %{label}",
    )
    return [DefaultInfo(files = depset([table]))]

_sdk_runtime = rule(
    doc = "See the macro of that name.",
    implementation = _sdk_runtime_impl,
    attrs = {
        "packages": attr.label_keyed_string_dict(mandatory = True, allow_empty = False, providers = [PackageInfo], doc = "Each `sdk_package` with libraries -> the name of its distribution. Packages for Windows may stand beside those for Linux."),
        "version": attr.label(mandatory = True, providers = [BuildSettingInfo], doc = "Build setting with the version of all packages."),
        "_runtime": tool_attr("//tools/actions:runtime_tool"),
    },
)

def sdk_runtime(name, directory, **kwargs):
    """Makes the Python code with which users find and load the libraries of an SDK, whichever package has them.

    It needs only Python's standard library, 3.9 or newer. `import my_sdk` then offers `load_library` and `find_library`;
    docs/sdk/your-own-sdk.md describes them.

    Args:
        name: name of the target, which writes the list of packages.
        directory: directory in the wheel: the Python package that the code becomes, such as `my_sdk` or `my_sdk/_runtime`.
        **kwargs: the attributes below, and the attributes that all rules have.

    Returns:
        dict of label to string: files, for `files` of `sdk_static_wheel` or `sdk_wheel`.
    """
    _sdk_runtime(name = name, **kwargs)
    modules = {Label("//rules/runtime:libraries/{}.py".format(module)): "{}/{}.py".format(directory, module) for module in _MODULES}
    return modules | {":" + name: directory + "/_packages.json"}
