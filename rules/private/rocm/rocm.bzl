"""The module extension `rocm`: where artifacts come from.

A module declares sources of artifacts, and one repository that `packaging/` loads. Which source that stands for is
chosen when a build starts, by environment variables of repositories; a source that is not chosen is not fetched.
"""

load("//rules/private/repositories:artifacts_directory.bzl", "artifacts_directory")
load("//rules/private/repositories:artifacts_lock.bzl", "locked_artifacts")
load("//rules/private/repositories:debian.bzl", "debian")
load(":chosen_sdks.bzl", "OWN", "check_sdk", "chosen_sdks")
load(":locked_wheels.bzl", "locked_wheels")
load(":sdk.bzl", "sdk")
load(":sdk_toolchains.bzl", "sdk_toolchains")
load(":selected_artifacts.bzl", "VARIABLES", "choice")
load(":selection.bzl", "selection")
load(":version.bzl", "version")
load(":xla_config.bzl", "xla_config")

visibility(["//rules"])

_artifacts = tag_class(
    doc = "Declares the repository of the artifacts to package. It stands for the directory `ROCM_ARTIFACTS_DIR` if that is " +
          "set, else for the source that `ROCM_ARTIFACTS` names, else for `default`. Artifacts for Windows have the variables " +
          "`ROCM_WINDOWS_ARTIFACTS_DIR` and `ROCM_WINDOWS_ARTIFACTS`, and no default where those for Linux are named.",
    attrs = {
        "default": attr.label(mandatory = True, doc = "`.bzl` file with ARTIFACTS, DIST_TARGETS and SPLIT, used if no variable is set."),
        "name": attr.string(default = "rocm_artifacts", doc = "Name of the repository."),
        "platform": attr.string(default = "linux", values = ["linux", "windows"], doc = "The platform that the artifacts are for."),
        "sources": attr.label_keyed_string_dict(doc = "`.bzl` file with ARTIFACTS, DIST_TARGETS and SPLIT -> the name that selects it in `ROCM_ARTIFACTS`, or in the variable of the platform."),
    },
)

_debian = tag_class(
    doc = "Declares a repository with the ROCm packages of Debian or Ubuntu. Any user can fetch them; the machine's apt does it. " +
          "`ROCM_DEBIAN_SET` selects `all`, or `small` for tests.",
    attrs = {
        "name": attr.string(mandatory = True, doc = "Name of the repository. Its `//:artifacts.bzl` can be a source of `artifacts`."),
        "packages": attr.string_list(doc = "Packages to fetch with their dependencies, instead of `ROCM_DEBIAN_SET`."),
        "suite": attr.string(doc = "Suite of the packages. The default is `trixie` on Debian, and the machine's release on Ubuntu."),
        "system": attr.string_list(doc = "Patterns of dependencies that must come from the user's system, besides libc, Python and others that always do: `libx11-*`."),
    },
)

_lock = tag_class(
    doc = "Declares a repository with the archives of a lock file. Only the archives that requested packages need are fetched.",
    attrs = {
        "file": attr.label(mandatory = True, doc = "Lock file, written by `bazel run @rules_rocm_python//tools/fetch/lock -- lock`."),
        "name": attr.string(mandatory = True, doc = "Name of the repository. Its `//:artifacts.bzl` can be a source of `artifacts`."),
    },
)

_sdk = tag_class(
    doc = "Declares a repository with the libraries and the compiler of a ROCm SDK, for C++ and HIP. See [HIP programs](../hip/programs.md). " +
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

_selection = tag_class(
    doc = "Declares a repository with the layout and targets that `ROCM_LAYOUT`, `ROCM_TARGETS` and `ROCM_TARGETS_LEFT_OUT` select.",
    attrs = {"name": attr.string(default = "rocm_selection", doc = "Name of the repository.")},
)

_version = tag_class(
    doc = "Declares a repository with the base of the version, for `sdk_version`.",
    attrs = {
        "file": attr.label(mandatory = True, doc = "JSON file with the base, such as TheRock's `version.json`: `{\"rocm-version\": \"7.10.0\"}`."),
        "name": attr.string(default = "rocm_version", doc = "Name of the repository."),
    },
)

_xla_config = tag_class(
    doc = "Declares the ROCm repository of XLA and JAX, made from the repository of an SDK. See [XLA](../hip/xla.md).",
    attrs = {
        "name": attr.string(default = "local_config_rocm", doc = "Name of the repository."),
        "sdk": attr.string(default = "rocm", doc = "Name of a `rocm.sdk`."),
        "toolkit_path": attr.string(default = "/opt/rocm", doc = "Directory in which XLA's programs look for ROCm when they run."),
    },
)

# The repository of toolchains.
_TOOLCHAINS = "rocm_toolchains"

def _declare_artifacts(mctx, tag):
    sources = {}
    for label, name in tag.sources.items():
        if name in sources:
            fail("rocm.artifacts(name = {}): two sources are named {}; expected distinct names".format(repr(tag.name), repr(name)))
        sources[name] = str(label)
    directory = tag.name + "_directory"
    artifacts_directory(mctx, directory, variable = VARIABLES[tag.platform][0])
    choice(
        name = tag.name,
        default = str(tag.default),
        directory = "@{}//:artifacts.bzl".format(directory),
        platform = tag.platform,
        sources = sources,
    )

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

def _declare_xla_config(module, tag, sdks):
    name = "module {}: rocm.xla_config(name = {})".format(module.name, repr(tag.name))
    if tag.sdk not in sdks:
        fail("{}: sdk = {}: there is no rocm.sdk() of this name; expected one of: {}".format(name, repr(tag.sdk), ", ".join(sdks)))
    xla_config(
        name = tag.name,
        repository = tag.name,
        sdk = tag.sdk,
        tag = name,
        targets = sdks[tag.sdk].tag.targets,
        toolkit_path = tag.toolkit_path,
    )

def _rocm_impl(mctx):
    sdks = chosen_sdks(mctx.modules)
    names = {_TOOLCHAINS: "module " + OWN} | {name: one.title for name, one in sdks.items()}
    for module in mctx.modules:
        tags = module.tags
        for tag in tags.artifacts + tags.debian + tags.lock + tags.selection + tags.version + tags.xla_config:
            if tag.name in names:
                fail("module {}: the name {} of a tag of `rocm` is taken by {}; choose another name".format(module.name, repr(tag.name), names[tag.name]))
            names[tag.name] = "module " + module.name
        for tag in tags.artifacts:
            _declare_artifacts(mctx, tag)
        for tag in tags.debian:
            debian(name = tag.name, packages = tag.packages, set_variable = "ROCM_DEBIAN_SET", suite = tag.suite, system = tag.system, tag = "rocm.debian")
        for tag in tags.lock:
            locked_artifacts(mctx, tag.name, tag.file)
        for tag in tags.selection:
            selection(name = tag.name)
        for tag in tags.version:
            version(name = tag.name, file = tag.file)
        for tag in tags.xla_config:
            _declare_xla_config(module, tag, sdks)
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

rocm = module_extension(
    doc = "Declares repositories of artifacts, of versions and of what to package.",
    implementation = _rocm_impl,
    tag_classes = {
        "artifacts": _artifacts,
        "debian": _debian,
        "lock": _lock,
        "sdk": _sdk,
        "selection": _selection,
        "version": _version,
        "xla_config": _xla_config,
    },
)
