"""The module extension `hip`: a repository with the SDK of a build, and one with its toolchain.

A build has one SDK, whoever asks for it. Of an SDK that a lock file of Python packages (pylock.toml) names, each wheel is a
repository, too.
"""

load("//rules/shared:names.bzl", "archive_repository_name")
load("//tools/fetch:run_program.bzl", "CATALOG_SOURCES", "LOCKED_ATTRS", "download_locked", "run_program")
load(":hip_targets.bzl", "NATIVE", "expanded_targets", "may_run")
load(":sdk.bzl", "sdk")
load(":sdk_toolchains.bzl", "sdk_toolchains")

visibility(["//hip", "//hip/private", "//hip/tests/..."])

_SOURCES = CATALOG_SOURCES + [Label("//hip/tools:prefix/pylock.py")]

# The repositories of the SDK and of its toolchain.
_SDK, _TOOLCHAINS = "rocm", "rocm_toolchains"

# How the packages with device code for one GPU target are called.
_DEVICE = "rocm-sdk-device-"

def _locked_wheel_impl(rctx):
    download_locked(rctx, [rctx.attr.url], rctx.attr.file, rctx.attr.file, "Lock the requirements again")
    rctx.file("BUILD.bazel", "exports_files([{}])\n".format(repr(rctx.attr.file)))

_locked_wheel = repository_rule(
    doc = "A wheel that a lock file names, as it is.",
    implementation = _locked_wheel_impl,
    attrs = LOCKED_ATTRS | {
        "file": attr.string(mandatory = True, doc = "Name of the file."),
        "url": attr.string(mandatory = True, doc = "Where the wheel is."),
    },
)

def locked_wheels(mctx, lock, targets):
    """Declares a repository for each wheel that an SDK needs. Bazel fetches it when someone asks for it.

    Args:
        mctx: the module_ctx.
        lock: label of the lock file.
        targets: list of string: the GPU targets and families that programs are compiled for.

    Returns:
        A dict from the label of a wheel to its SHA-256.
    """
    path = mctx.path(lock)
    mctx.watch(path)  # From Bazel 8 on, path() alone does not.
    wheels = {}
    for wheel in json.decode(run_program(mctx, "hip.tools.prefix.pylock", [path], _SOURCES)):
        distribution = wheel["distribution"]
        if distribution.startswith(_DEVICE) and not may_run(targets, distribution.removeprefix(_DEVICE)):
            continue
        repository = archive_repository_name(_SDK, distribution)
        _locked_wheel(
            name = repository,
            file = wheel["file"],
            lock_file = str(lock).removeprefix("@@"),
            sha256 = wheel["sha256"],
            url = wheel["url"],
        )
        wheels["@{}//:{}".format(repository, wheel["file"])] = wheel["sha256"]
    return wheels

# This module, whose own tag counts if nobody else has one.
OWN = "rules_rocm_python"

# Attributes of a tag that say which SDK it is.
_SOURCE = ["artifacts", "path", "targets", "variable", "wheels"]

def _shown(tag, names):
    """Returns attributes of a tag, as a module file has them."""
    return ", ".join(["{} = {}".format(name, repr(str(getattr(tag, name)) if type(getattr(tag, name)) == "Label" else getattr(tag, name))) for name in names])

def _conflict(one, title, tag):
    """Returns why a tag contradicts the chosen SDK, empty if it does not: two libraries would need two SDKs in one program."""
    names = [name for name in _SOURCE if getattr(one.tag, name) != getattr(tag, name)]
    if not names:
        return ""
    says = "{} says {}, and {} says {}".format(one.title, _shown(one.tag, names), title, _shown(tag, names))
    return says + "; expected one SDK in a build. Declare hip.sdk in your own MODULE.bazel: the root module's counts"

def chosen_sdk(modules):
    """Returns the SDK of a build: the root module's; without it, the other modules have to agree.

    Args:
        modules: list of modules of an extension, as Bazel sorts them: the root first, by their distance from it.

    Returns:
        struct(tag, title: how errors name the tag, conflict: why it cannot be used, empty if nothing contradicts it).
    """
    chosen, is_of_root = None, False
    for module in [one for one in modules if one.name != OWN] + [one for one in modules if one.name == OWN]:
        title = "module {}: hip.sdk".format(module.name)
        if len(module.tags.sdk) > 1:
            fail("{}: it is declared twice; expected one SDK. Remove one".format(title))
        for tag in module.tags.sdk:
            if module.name == OWN and not module.is_root:
                title = "no module declares hip.sdk, so ROCm is taken from its usual place"
            if not chosen:
                chosen, is_of_root = struct(conflict = "", tag = tag, title = title), module.is_root
            elif not is_of_root and module.name != OWN and not chosen.conflict:
                chosen = struct(conflict = _conflict(chosen, title, tag), tag = chosen.tag, title = chosen.title)
    return chosen

def check_sdk(tag, title):
    """Fails if a tag is wrong in itself.

    Args:
        tag: a tag `hip.sdk`.
        title: string: how errors name it.
    """
    given = [name for name in ["artifacts", "path", "wheels"] if getattr(tag, name)]
    if len(given) != 1:
        fail("{}: it has {}; expected one of `artifacts`, `path` and `wheels`. {}".format(title, " and ".join(given) or "no source", "Remove all except one" if given else "Add one"))
    expanded = expanded_targets([target for target in tag.targets if target != NATIVE])
    if expanded.error:
        fail("{}: targets: {}. Change `targets`".format(title, expanded.error))

_sdk = tag_class(
    doc = "Declares the repository `@rocm` with the libraries and the compiler of a ROCm SDK, for C++ and HIP. See [HIP programs](programs.md). " +
          "Of several modules that declare one, the root's counts; without one, they have to agree. Without a tag, `@rocm` " +
          "is `/opt/rocm`, or the directory that the variable `ROCM_PATH` names.",
    attrs = {
        "artifacts": attr.label(doc = "`.bzl` file with ARTIFACTS that the SDK comes from, such as `@rocm_artifacts//:artifacts.bzl`."),
        "path": attr.string(doc = "Instead of `artifacts`: the absolute path of a directory in which ROCm is installed. Builds are not hermetic then."),
        "targets": attr.string_list(doc = "GPU targets and families to compile for, unless `--@rocm//:targets` names others. `native` stands for the GPUs of the machine that fetches the SDK."),
        "wheels": attr.label(doc = "Instead of `artifacts`: lock file of Python packages (`pylock.toml`) that names the wheels of ROCm."),
        "variable": attr.string(doc = "With `path`: environment variable that names another directory, such as `ROCM_PATH`."),
    },
)

def _hip_impl(mctx):
    one = chosen_sdk(mctx.modules)
    tag = one.tag
    check_sdk(tag, one.title)
    sdk(
        name = _SDK,
        artifacts = tag.artifacts,
        conflict = one.conflict,
        lock_file = str(tag.wheels).removeprefix("@@") if tag.wheels else "",
        path = tag.path,
        tag = one.title,
        targets = tag.targets,
        variable = tag.variable,
        wheels = locked_wheels(mctx, tag.wheels, tag.targets) if tag.wheels else {},
    )
    sdk_toolchains(
        name = _TOOLCHAINS,
        # An SDK that contradicts another is not missing: what needs it fails, and is not skipped.
        path = "" if one.conflict else tag.path,
        title = one.title,
        variable = tag.variable,
    )
    return mctx.extension_metadata(reproducible = True)

hip = module_extension(
    doc = "Declares the SDK that C++ and HIP programs are compiled with.",
    implementation = _hip_impl,
    tag_classes = {"sdk": _sdk},
)
