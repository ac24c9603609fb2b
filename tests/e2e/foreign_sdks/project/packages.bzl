"""foreign_sdk: the packages of an SDK, from data."""

load("@rules_rocm_python//rules:sdk.bzl", "sdk_index", "sdk_package", "sdk_reports", "sdk_runtime", "sdk_static_wheel", "sdk_wheel", "sdk_wheel_set_test")

# By platform: what names of targets end with, what the targets name, and whether files say where loaders look.
_PLATFORMS = {
    "linux": struct(suffix = "", platform = None, platform_tag = "//:linux_tag", has_rpath = True),
    "windows": struct(suffix = "_windows", platform = "//:windows_x86_64", platform_tag = "//:windows_tag", has_rpath = False),
}

def one_package(artifacts, needs = [], exclude = [], libraries = ["lib"], opens = [], wheel = {}):
    """Describes a package.

    Args:
        artifacts: names of the artifacts that it contains.
        needs: names of the packages whose libraries its libraries need.
        exclude: patterns of paths that are left out.
        libraries: directories with libraries, where the loader of Linux looks.
        opens: libraries of the user's system that its libraries open by dlopen(3).
        wheel: further attributes of its wheels.

    Returns:
        struct.
    """
    return struct(artifacts = artifacts, exclude = exclude, libraries = libraries, needs = needs, opens = opens, wheel = wheel)

def _package(name, one, sdk, artifacts, system):
    target = name + system.suffix
    searched = [(name, directory) for directory in one.libraries]
    searched += [(needed, directory) for needed in one.needs for directory in sdk.packages[needed].libraries]
    sdk_package(
        name = target,
        package = name,
        artifacts = [artifact.label for artifact in artifacts if artifact.name in one.artifacts],
        builds_on = [needed + system.suffix for needed in one.needs],
        exclude = one.exclude,
        platform = system.platform,
        rpath = ["_{}_{}/{}".format(sdk.module, package, directory) for package, directory in searched if system.has_rpath],
        tree = "_{}_{}".format(sdk.module, name),
    )
    sdk_wheel(
        name = target + "_wheel",
        distribution = sdk.distributions[name],
        externals = sdk.externals,
        license_patterns = ["share/doc/**", "share/licenses/**"],
        package = target,
        platform = system.platform,
        platform_tag = system.platform_tag,
        requires = [sdk.distributions[needed] + "=={version}" for needed in one.needs],
        requires_external = one.opens,
        summary = "{}: {}".format(sdk.title, name),
        **(sdk.about | one.wheel)
    )

def foreign_sdk(title, module, packages, artifacts, about, externals = [], opened_libraries = {}):
    """Declares packages, the package that users import, `dist` with all of them, and a test of `dist`.

    Args:
        title: string: what people call the SDK.
        module: string: what its users import; names of distributions begin like it.
        packages: {name: one_package}.
        artifacts: {`linux` or `windows`: list of struct(name, component, target, label)}.
        about: attributes that all wheels share.
        externals: libraries that users must have.
        opened_libraries: {pattern of libraries that may be missing: reason}, for the test.
    """
    distributions = {name: "{}-{}".format(module.replace("_", "-"), name) for name in packages}
    sdk = struct(about = about | {"version": "//:version"}, distributions = distributions, externals = externals, module = module, packages = packages, title = title)
    wheels = {}
    for system, found in artifacts.items():
        for name, one in packages.items():
            _package(name, one, sdk, found, _PLATFORMS[system])
            wheels[name + _PLATFORMS[system].suffix] = name + _PLATFORMS[system].suffix + "_wheel"
    sdk_static_wheel(
        name = module,
        distribution = module.replace("_", "-"),
        files = sdk_runtime(
            name = "libraries",
            directory = module,
            packages = {target: distributions[target.removesuffix("_windows")] for target in wheels},
            version = "//:version",
        ),
        license_files = ["README.md"],
        requires = [distribution + "=={version}" for distribution in distributions.values()],
        summary = title,
        **sdk.about
    )
    sdk_reports(
        name = "reports",
        wheels = wheels,
    )
    sdk_index(
        name = "dist",
        distributions = wheels.values() + [module],
        title = title,
    )
    sdk_wheel_set_test(
        name = "dist_test",
        size = "medium",
        distributions = [":dist"],
        settings = {"opened_libraries": opened_libraries},
    )
