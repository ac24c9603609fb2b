"""hip_wheel: a Python package with HIP code, as thin wheels that require ROCm's packages."""

load("//rules:sdk.bzl", "sdk_static_wheel")
load("//rules:wheels.bzl", "sdk_requiring_wheel", "sdk_split_wheel")
load("//rules/shared:names.bzl", "hidden")

visibility(["//hip"])

# What all targets share, and what goes on to sdk_requiring_wheel and to sdk_split_wheel. The rest is about the wheel.
_COMMON = ["compatible_with", "features", "restricted_to", "tags", "target_compatible_with", "testonly"]
_REQUIRING = ["allow_missing", "device", "drop_bundled", "externals", "leave", "local_version", "rewrite_record", "specifier", "take"]
_SPLITTING = ["rewrite_record", "shape", "whole"]

def _taken(attributes, names):
    """Returns the attributes of these names."""
    return {name: attributes[name] for name in names if name in attributes}

def hip_wheel(name, sdk, init_py = "", targets = [], wheel = None, compression = "balanced", visibility = None, **kwargs):
    """Makes thin wheels of a Python package with HIP code: they require ROCm's packages, and each has code for one GPU.

    It is `sdk_static_wheel`, `sdk_requiring_wheel` and `sdk_split_wheel` together. The target is a directory of wheels, for
    `sdk_index` and `sdk_install_test`.

    Args:
        name: name of the target. `{name}.whole` is the wheel before it requires ROCm's packages, and `{name}.requiring` the
            directory of the one with code for all GPUs.
        sdk: labels of the wheels of ROCm's packages: `["@rocm//wheels"]`.
        init_py: import package that gets `_rocm_init.py`, which finds ROCm's libraries.
        targets: GPU targets and families. Each gets a wheel. Empty: one wheel for all GPUs.
        wheel: a wheel that another rule makes, such as `py_wheel`. None: it is made here, of the attributes of
            `sdk_static_wheel`.
        compression: `fast`, `balanced` or `small`.
        visibility: visibility of the target.
        **kwargs: attributes of `sdk_static_wheel` (`platform_tag` is `linux_x86_64`, unless set), of `sdk_requiring_wheel` and
            of `sdk_split_wheel`.
    """
    common = _taken(kwargs, _COMMON)
    own = hidden(name, common)
    about = {key: value for key, value in kwargs.items() if key not in _COMMON + _REQUIRING + _SPLITTING}
    if wheel and about:
        fail("hip_wheel({}): {} and `wheel` are set; expected one of them. Set them where {} is made".format(name, ", ".join(sorted(about)), wheel))
    if not targets and [key for key in ["shape", "whole"] if key in kwargs]:
        fail("hip_wheel({}): `targets` is empty; expected GPU targets, because `shape` or `whole` is set. Set `targets`".format(name))
    if not wheel:
        wheel = name + ".whole"
        sdk_static_wheel(name = wheel, **({"platform_tag": "linux_x86_64"} | about | own))
    last = dict(common, visibility = visibility)
    sdk_requiring_wheel(
        name = name + ".requiring" if targets else name,
        compression = compression,
        init_py = init_py,
        sdk = sdk,
        wheel = wheel,
        **(_taken(kwargs, _REQUIRING) | (own if targets else last))
    )
    if targets:
        sdk_split_wheel(name = name, compression = compression, targets = targets, wheel = name + ".requiring", **(_taken(kwargs, _SPLITTING) | last))
