"""The module extension `rocm`: where artifacts come from.

A module declares sources of artifacts, and one repository that `packaging/` loads. Which source that stands for is
chosen when a build starts, by environment variables of repositories; a source that is not chosen is not fetched.
"""

load("//rules/private/repositories:artifacts_directory.bzl", "artifacts_directory")
load("//rules/private/repositories:artifacts_lock.bzl", "locked_artifacts")
load("//rules/private/repositories:debian.bzl", "debian")
load(":selected_artifacts.bzl", "VARIABLES", "choice", "selection")
load(":version.bzl", "version")

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
        "file": attr.label(mandatory = True, doc = "Lock file, written by `bazel run @rules_rocm_python//tools/fetch/lock`."),
        "name": attr.string(mandatory = True, doc = "Name of the repository. Its `//:artifacts.bzl` can be a source of `artifacts`."),
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

def _rocm_impl(mctx):
    names = {}
    for module in mctx.modules:
        tags = module.tags
        for tag in tags.artifacts + tags.debian + tags.lock + tags.selection + tags.version:
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
    return mctx.extension_metadata(reproducible = True)

rocm = module_extension(
    doc = "Declares repositories of artifacts, of versions and of what to package.",
    implementation = _rocm_impl,
    tag_classes = {
        "artifacts": _artifacts,
        "debian": _debian,
        "lock": _lock,
        "selection": _selection,
        "version": _version,
    },
)
