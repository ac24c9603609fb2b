"""The repository `@local_config_rocm`, where XLA and JAX look for ROCm, made of the repository of an SDK.

Labels and macros are those that XLA's BUILD files use: docs/hip/xla.md lists them. Libraries are aliases of the SDK's.
XLA includes headers as `rocm/include/hip/hip_runtime.h`, so the SDK's install prefix is there under the name `rocm`.
"""

load("//rules/private/hip:hip_targets.bzl", "expanded_targets")
load(":native_targets.bzl", "with_native_targets")

visibility(["//rules/private/rocm"])

# Names of libraries at XLA, and their names in the repository of an SDK.
_LIBRARIES = {
    "amdsmi": "amd_smi",
    "hip": "hip",
    "hip_runtime": "hip",
    "hipblas": "hipblas",
    "hipblaslt": "hipblaslt",
    "hipfft": "hipfft",
    "hiprand": "hiprand",
    "hipsolver": "hipsolver",
    "hipsparse": "hipsparse",
    "miopen": "miopen",
    "rccl": "rccl",
    "rocblas": "rocblas",
    "rocm_smi": "rocm_smi",
    "rocminfo": "rocminfo",
    "rocprim": "rocprim",
    "rocprofiler_sdk": "rocprofiler-sdk",
    "rocsolver": "rocsolver",
    "roctracer": "roctracer",
}

# Where SDKs say which version of ROCm they are, and of the HIP runtime and of MIOpen.
_VERSION = ".info/version"
_ROCM_HEADERS = ["include/rocm-core/rocm_version.h", "include/rocm_version.h"]
_HIP_HEADER = "include/hip/hip_version.h"
_MIOPEN_HEADER = "include/miopen/version.h"

def _number(words):
    """Returns a version as XLA counts: 70204 for 7.2.4."""
    major, minor, patch = ([int(word) for word in words] + [0, 0, 0])[:3]
    return major * 10000 + minor * 100 + patch

def _leading_digits(text):
    return text[:len(text) - len(text.lstrip("0123456789"))] or "0"

def _macros(rctx, prefix, header, name):
    """Returns the values of the macros `{name}_MAJOR`, `_MINOR` and `_PATCH` of a header; None if there is none."""
    path = prefix.get_child(*header.split("/"))
    if not path.exists:
        return None
    values = {}
    for line in rctx.read(path).splitlines():
        words = [word for word in line.replace("\t", " ").split(" ") if word]
        if len(words) > 2 and words[0] == "#define":
            values[words[1]] = words[2]
    parts = [values.get("{}_{}".format(name, part), "0") for part in ["MAJOR", "MINOR", "PATCH"]]
    return [_leading_digits(part) for part in parts]

def _rocm_version(rctx, prefix):
    """Returns the SDK's version as numbers. If it states none: the HIP runtime's, without the patch, which is a serial number."""
    stated = prefix.get_child(*_VERSION.split("/"))
    if stated.exists:
        return [_leading_digits(part) for part in rctx.read(stated).strip().split(".")]
    for header in _ROCM_HEADERS:
        words = _macros(rctx, prefix, header, "ROCM_VERSION")
        if words:
            return words
    return (_macros(rctx, prefix, _HIP_HEADER, "HIP_VERSION") or [])[:2]

def _libraries(rctx, sdk, build):
    """Returns the libraries that the SDK has, from name to label, and those that it lacks, from name to its name for them."""
    text = rctx.read(build)
    present = {name: "@@{}//:{}".format(sdk, actual) for name, actual in _LIBRARIES.items() if "\n    name = \"{}\",\n".format(actual) in text}
    return present, {name: actual for name, actual in _LIBRARIES.items() if name not in present}

def _xla_config_impl(rctx):
    sdk = rctx.name.removesuffix(rctx.attr.repository) + rctx.attr.sdk
    build = rctx.path(Label("@@{}//:BUILD.bazel".format(sdk)))
    prefix = build.dirname.get_child("prefix")
    present, missing = _libraries(rctx, sdk, build)
    expanded = expanded_targets(with_native_targets(rctx, rctx.attr.tag, rctx.attr.targets))
    if expanded.error:
        fail("\n{}: targets of the SDK: {}".format(rctx.attr.tag, expanded.error))
    rocm_version = _number(_rocm_version(rctx, prefix))
    rctx.symlink(prefix, "rocm/rocm")
    rctx.template("rocm/BUILD.bazel", rctx.attr._build, {
        "%{missing}": repr(missing),
        "%{present}": repr(present),
        "%{sdk}": rctx.attr.sdk,
    })
    rctx.template("rocm/build_defs.bzl", rctx.attr._build_defs, {
        "%{gpu_architectures}": repr(expanded.targets),
        "%{version_number}": str(rocm_version),
    })
    rctx.template("rocm/config/rocm/rocm_config.h", rctx.attr._config, {
        "%{hip_version}": str(_number(_macros(rctx, prefix, _HIP_HEADER, "HIP_VERSION") or [])),
        "%{miopen_version}": str(_number(_macros(rctx, prefix, _MIOPEN_HEADER, "MIOPEN_VERSION") or [])),
        "%{rocm_version}": str(rocm_version),
        "%{toolkit_path}": rctx.attr.toolkit_path,
    })
    rctx.template("crosstool/BUILD.bazel", rctx.attr._crosstool, {"%{toolchain}": "@rocm_toolchains//:{}_toolchain".format(rctx.attr.sdk)})

xla_config = repository_rule(
    doc = "The repository that XLA's BUILD files call `@local_config_rocm`.",
    implementation = _xla_config_impl,
    attrs = {
        "repository": attr.string(mandatory = True, doc = "Name of the repository in the tag that declares it."),
        "sdk": attr.string(mandatory = True, doc = "Name of the repository of the SDK in its tag."),
        "tag": attr.string(doc = "How errors name the tag that declares the repository."),
        "targets": attr.string_list(doc = "GPU targets and families of the SDK."),
        "toolkit_path": attr.string(doc = "Directory of ROCm where programs run."),
        "_build": attr.label(default = ":xla_config/rocm.BUILD.tpl", allow_single_file = True),
        "_build_defs": attr.label(default = ":xla_config/build_defs.bzl.tpl", allow_single_file = True),
        "_config": attr.label(default = ":xla_config/rocm_config.h.tpl", allow_single_file = True),
        "_crosstool": attr.label(default = ":xla_config/crosstool.BUILD.tpl", allow_single_file = True),
    },
)
