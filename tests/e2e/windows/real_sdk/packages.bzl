"""The packages, as data, and a loop that declares them."""

load("@rules_rocm_python//rules:rocm.bzl", "rocm_coverage")
load("@rules_rocm_python//rules:sdk.bzl", "sdk_index", "sdk_package", "sdk_wheel")

# Microsoft's C++ runtime, which its redistributable package installs.
_MICROSOFT = [
    "msvcp140*.dll",
    "vcruntime140*.dll",
]

# Name -> the artifacts that it contains, the packages whose DLLs they need, and what no package has.
_PACKAGES = {
    "runtime": struct(artifacts = ["openmp", "tcm"], needs = [], externals = []),
    "threading": struct(artifacts = ["tbb", "umf"], needs = ["runtime"], externals = []),
    "mkl": struct(artifacts = ["mkl"], needs = ["runtime", "threading"], externals = []),
    # AMD publishes its DLLs for Windows elsewhere.
    "hip": struct(
        artifacts = ["bitsandbytes"],
        needs = [],
        externals = ["amdhip64_7.dll", "hipblas.dll", "libhipblaslt.dll", "rocblas.dll"],
    ),
}

def real_packages(artifacts):
    """Declares the packages, `dist` with all of them, and the table of device code.

    Args:
        artifacts: list of struct(name, component, target, label).
    """
    for name, one in _PACKAGES.items():
        sdk_package(
            name = name,
            package = name,
            artifacts = [artifact.label for artifact in artifacts if artifact.name in one.artifacts],
            builds_on = one.needs,
            platform = ":windows_x86_64",
            tree = "_real_sdk_" + name,
        )
        sdk_wheel(
            name = name + "_wheel",
            description = "README.md",
            distribution = "real-sdk-" + name,
            externals = _MICROSOFT + one.externals,
            license_expression = "LicenseRef-Intel-Simplified AND MIT",
            license_patterns = ["share/licenses/**"],
            package = name,
            platform = ":windows_x86_64",
            platform_tag = ":platform_tag",
            requires = ["real-sdk-{}=={{version}}".format(needed) for needed in one.needs],
            summary = "DLLs that others built: " + name,
            version = ":version",
        )
    rocm_coverage(
        name = "coverage",
        artifacts = [artifact.label for artifact in artifacts],
        platform = ":windows_x86_64",
    )
    sdk_index(
        name = "dist",
        distributions = [name + "_wheel" for name in _PACKAGES],
        title = "Real SDK for Python",
    )
