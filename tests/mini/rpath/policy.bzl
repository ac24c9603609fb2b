"""policy_packages: a program and its libraries in three packages of the mini SDK, with a policy for search paths."""

load("//rules:sdk.bzl", "sdk_package", "sdk_wheel")

visibility("private")

_SDK = "//examples/mini_sdk:"
_ARTIFACTS = {
    "base": ["sysdeps_lib_generic"],
    "libraries": ["core-hip_lib_generic", "core-runtime_lib_generic"],
    "tools": ["core-runtime_run_generic"],
}
_RPATH = ["_mini_libraries/lib", "_mini_base/lib/rocm_sysdeps/lib"]

def policy_packages(name, **attributes):
    """Declares the packages, their wheels, and `name` with the wheels and plans.

    Args:
        name: name of the policy.
        **attributes: the attributes of `sdk_package` that the policy consists of.
    """
    below = []
    for package, artifacts in _ARTIFACTS.items():
        own = "{}_{}".format(name, package)
        sdk_package(
            name = own,
            artifacts = [_SDK + artifact for artifact in artifacts],
            builds_on = below,
            package = package,
            rpath = _RPATH if below else _RPATH[1:],
            tree = "_mini_" + package,
            unedited = ["lib/libhiprtc.so.7"] if package == "libraries" else [],
            **attributes
        )
        sdk_wheel(
            name = own + "_wheel",
            description = "//packaging:core/README.md",
            distribution = "mini-{}-{}".format(name, package),
            license_expression = "MIT",
            package = own,
            platform_tag = "//packaging:platform_tag",
            summary = "A part of the mini SDK",
            version = "//packaging:version",
        )
        below = below + [own]
    native.filegroup(name = name, srcs = below + [one + "_wheel" for one in below])
