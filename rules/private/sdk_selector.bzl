"""sdk_selector: the distribution of an SDK that requires the packages for the GPU of the machine it is installed on."""

load("@bazel_skylib//rules:common_settings.bzl", "BuildSettingInfo")
load("//rules/private:small_distributions.bzl", "sdk_sdist", "sdk_static_wheel")
load("//rules/private/common:gpu_targets.bzl", "TARGETS_ATTR", "members_of_packages")
load("//rules/private/common:providers.bzl", "DistributionInfo")
load("//rules/shared:names.bzl", "hidden", "shown", "written")

visibility(["//rules"])

def _served(ctx):
    """Returns {GPU: the package that it gets}, the first that has it."""
    served = {}
    for name, members in members_of_packages(ctx).items():
        for member in members:
            served.setdefault(member, name)
    return served

def _selector_data_impl(ctx):
    if ctx.attr.default_target and ctx.attr.default_target not in ctx.attr.targets:
        fail("{}: default_target: there is no package for {}; expected one of {}".format(shown(written(ctx)), ctx.attr.default_target, ", ".join(ctx.attr.targets)))
    version = ctx.attr.version[BuildSettingInfo].value
    always = ctx.attr.requires + [one[DistributionInfo].requirement for one in ctx.attr.requires_distributions]
    requirements = ctx.attr.extras | {"": always}
    scripts = ["{} = {}\n".format(name, reference) for name, reference in sorted(ctx.attr.console_scripts.items())]
    output = ctx.actions.declare_file(ctx.label.name + ".json")
    ctx.actions.write(output, json.encode_indent({
        "default": ctx.attr.default_target,
        "devices": {target: [pin.replace("{version}", version) for pin in pins] for target, pins in ctx.attr.devices.items()},
        "entry_points": "[console_scripts]\n" + "".join(scripts) if scripts else "",
        "gpus": _served(ctx),
        "name": ctx.attr.distribution,
        "requirements": {extra: [pin.replace("{version}", version) for pin in pins] for extra, pins in requirements.items()},
        "variable": ctx.attr.variable,
        "version": version,
    }, indent = " ") + "\n")
    return [DefaultInfo(files = depset([output]))]

_selector_data = rule(
    doc = "Writes what the build backend of a selector knows about the packages.",
    implementation = _selector_data_impl,
    attrs = TARGETS_ATTR | {
        "console_scripts": attr.string_dict(doc = "Name of each console script -> object reference."),
        "default_target": attr.string(doc = "The package for machines without a GPU that has one."),
        "devices": attr.string_list_dict(doc = "Package -> what it takes to install it."),
        "distribution": attr.string(mandatory = True, doc = "Name of the selector."),
        "extras": attr.string_list_dict(doc = "Extra -> what it requires on every machine."),
        "requires": attr.string_list(doc = "What is always installed."),
        "requires_distributions": attr.label_list(providers = [DistributionInfo], doc = "Likewise, each in just its own version."),
        "variable": attr.string(doc = "Environment variable that names a GPU."),
        "version": attr.label(mandatory = True, providers = [BuildSettingInfo], doc = "Build setting with the version."),
    },
)

def _extra(target):
    """Returns the extra for a package, as core metadata writes names."""
    return "device-" + target.lower().replace("_", "-").replace(".", "-")

def sdk_selector(name, distribution, version, targets, device_distribution, probe, console_scripts = {}, default_target = "", extras = {}, files = {}, requires = [], variable = "", **kwargs):
    """Makes the distribution that users install: it requires the packages for their GPU.

    `{name}` is an sdist: its build backend runs where it is installed, asks the probe for the GPUs, and makes a wheel whose
    extra `device` requires the package for the first GPU that has one. Extras `device-{target}` and `device-all` do not
    depend on the machine. `{name}_static_wheel` has only these, for `static` of `sdk_index`: lock files need it.

    The probe is a Python file with a function `gpus()`, for Python 3.9 and its standard library alone. It returns the names of
    the machine's GPUs as a list, the preferred first, as `targets` calls them; an empty list if there is none.

    Args:
        name: name of the sdist.
        distribution: name of the distribution.
        version: build setting with the version.
        targets: dict, name of each package -> the GPUs that it is for, by the names that the probe returns. A family of AMD's
          stands for its members.
        device_distribution: name of the distribution of a package; `{target}` stands for the package's name.
        probe: the probe's file.
        console_scripts: dict, name of each console script -> object reference, `module:function`.
        default_target: the package for machines that show no GPU with a package. Without it, the installation stops there
          with a message.
        extras: dict, name of further extras -> requirements, as in `sdk_static_wheel`.
        files: dict, file -> path in the wheel: the Python code that users import, such as the output of `sdk_runtime`.
        requires: requirements that are always installed. `{version}` stands for the version, also in `extras`.
        variable: environment variable in which users may name a GPU, or a package of `targets`. Then the probe is not asked.
        **kwargs: the other attributes of `sdk_sdist`, such as `summary`, and those that all rules have.
    """
    devices = {target: [device_distribution.replace("{target}", target) + "=={version}"] for target in targets}
    static = extras | {_extra(target): pins for target, pins in devices.items()}
    static["device-all"] = [pin for pins in devices.values() for pin in pins]
    project = dict(kwargs, distribution = distribution, requires = requires, version = version)
    common = {key: value for key, value in kwargs.items() if key in ["tags", "target_compatible_with", "testonly"]}
    _selector_data(
        name = name + "_data",
        console_scripts = console_scripts,
        default_target = default_target,
        devices = devices,
        distribution = distribution,
        extras = static,
        requires = requires,
        requires_distributions = kwargs.get("requires_distributions", []),
        targets = targets,
        variable = variable,
        version = version,
        **hidden(name, common)
    )
    backend = {Label("//rules/runtime:selector/{}.py".format(module)): "backend/{}.py".format(module) for module in ["probe_build", "selector_backend"]}
    sdk_sdist(
        name = name,
        dynamic = ["Requires-Dist", "Provides-Extra"],
        files = backend | {
            ":{}_data".format(name): "backend/selector.json",
            Label("//rules/runtime:selector/pyproject.toml"): "pyproject.toml",
            probe: "backend/probe.py",
        } | {file: "src/" + path for file, path in files.items()},
        **project
    )
    sdk_static_wheel(name = name + "_static_wheel", console_scripts = console_scripts, extras = static, files = files, **project)
