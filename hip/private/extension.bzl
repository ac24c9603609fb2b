"""The module extension `hip`: a repository for each SDK, and one with the toolchains of all."""

load(":chosen_sdks.bzl", "check_sdk", "chosen_sdks")
load(":locked_wheels.bzl", "locked_wheels")
load(":sdk.bzl", "sdk")
load(":sdk_toolchains.bzl", "sdk_toolchains")

visibility(["//hip"])

_sdk = tag_class(
    doc = "Declares a repository with the libraries and the compiler of a ROCm SDK, for C++ and HIP. See [HIP programs](programs.md). " +
          "Of several modules that declare one of a name, the root's counts; without one, they have to agree. Without a tag, `@rocm` " +
          "is `/opt/rocm`, or the directory that the variable `ROCM_PATH` names.",
    attrs = {
        "artifacts": attr.label(doc = "`.bzl` file with ARTIFACTS that the SDK comes from, such as `@rocm_artifacts//:artifacts.bzl`."),
        "name": attr.string(default = "rocm", doc = "Name of the repository."),
        "path": attr.string(doc = "Instead of `artifacts`: the absolute path of a directory in which ROCm is installed. Builds are not hermetic then."),
        "targets": attr.string_list(doc = "GPU targets and families to compile for, unless `--@rocm//:targets` names others. `native` stands for the GPUs of the machine that fetches the SDK."),
        "wheels": attr.label(doc = "Instead of `artifacts`: lock file of Python packages (`pylock.toml`) that names the wheels of ROCm."),
        "variable": attr.string(doc = "With `path`: environment variable that names another directory, such as `ROCM_PATH`."),
    },
)

# The repository of toolchains.
_TOOLCHAINS = "rocm_toolchains"

def _declare_sdk(mctx, one):
    tag, title = one.tag, one.title
    check_sdk(tag, title)
    sdk(
        name = tag.name,
        artifacts = tag.artifacts,
        conflict = one.conflict,
        lock_file = str(tag.wheels).removeprefix("@@") if tag.wheels else "",
        path = tag.path,
        repository = tag.name,
        tag = title,
        targets = tag.targets,
        variable = tag.variable,
        wheels = locked_wheels(mctx, tag.name, tag.wheels, tag.targets) if tag.wheels else {},
    )

def _hip_impl(mctx):
    sdks = chosen_sdks(mctx.modules)
    if _TOOLCHAINS in sdks:
        fail("{}: the name is taken by the repository of toolchains; choose another name".format(sdks[_TOOLCHAINS].title))
    for one in sdks.values():
        _declare_sdk(mctx, one)
    sdk_toolchains(
        name = _TOOLCHAINS,
        default = sdks.keys()[0],
        # An SDK that contradicts another is not missing: what needs it fails, and is not skipped.
        paths = {name: "" if one.conflict else one.tag.path for name, one in sdks.items()},
        titles = {name: one.title for name, one in sdks.items()},
        variables = {name: one.tag.variable for name, one in sdks.items()},
    )
    return mctx.extension_metadata(reproducible = True)

hip = module_extension(
    doc = "Declares the SDKs that C++ and HIP programs are compiled with.",
    implementation = _hip_impl,
    tag_classes = {"sdk": _sdk},
)
