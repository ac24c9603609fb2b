"""The module extension `rocm`: where artifacts come from.

A module declares sources of artifacts, and one repository that `packaging/` loads. Which source that stands for is
chosen when a build starts, by environment variables of repositories; a source that is not chosen is not fetched.
"""

load(":artifacts_directory.bzl", "artifacts_directory", "directory_archives")
load(":artifacts_lock.bzl", "locked_artifacts")
load(":choice.bzl", "choice")
load(":debian.bzl", "debian")
load(":selection.bzl", "selection")
load(":version.bzl", "version")

visibility(["//rules"])

_artifacts = tag_class(
    doc = "Declares the repository of the artifacts that are packaged. In this order it stands for the directory " +
          "ROCM_ARTIFACTS_DIR, for the source that ROCM_ARTIFACTS names, or for the default.",
    attrs = {
        "default": attr.label(mandatory = True, doc = "A `.bzl` file with ARTIFACTS, DIST_TARGETS and SPLIT, used when no variable is set."),
        "name": attr.string(default = "rocm_artifacts", doc = "Name of the repository."),
        "sources": attr.label_keyed_string_dict(doc = "`.bzl` files with ARTIFACTS, DIST_TARGETS and SPLIT, and the names by which ROCM_ARTIFACTS chooses them."),
    },
)

_debian = tag_class(
    doc = "Declares a repository of Debian's or Ubuntu's own ROCm packages, fetched with the machine's apt by any user. " +
          "ROCM_DEBIAN_SET chooses how much of it: `all`, or `small` for tests.",
    attrs = {
        "name": attr.string(mandatory = True, doc = "Name of the repository, whose `//:artifacts.bzl` is a source for `artifacts`."),
        "packages": attr.string_list(doc = "Packages to begin with, in place of ROCM_DEBIAN_SET; what they depend on comes along."),
        "suite": attr.string(doc = "Suite to take packages of; if empty, `trixie` of Debian, and of Ubuntu the machine's own release."),
    },
)

_lock = tag_class(
    doc = "Declares a repository of the archives that a lock file names. Only those that a requested package needs are fetched.",
    attrs = {
        "file": attr.label(mandatory = True, doc = "The lock file, as `bazel run @rules_rocm_python//tools/fetch/lock -- lock` writes it."),
        "name": attr.string(mandatory = True, doc = "Name of the repository, whose `//:artifacts.bzl` is a source for `artifacts`."),
    },
)

_selection = tag_class(
    doc = "Declares a repository that says which layout and targets ROCM_LAYOUT, ROCM_TARGETS and the like ask for.",
    attrs = {"name": attr.string(default = "rocm_selection", doc = "Name of the repository.")},
)

_version = tag_class(
    doc = "Declares a repository with the base of the version, which `rocm_version` wants.",
    attrs = {
        "file": attr.label(mandatory = True, doc = "JSON file with the base, like TheRock's `version.json`: `{\"rocm-version\": \"7.10.0\"}`."),
        "name": attr.string(default = "rocm_version", doc = "Name of the repository."),
    },
)

def _declare_artifacts(mctx, tag):
    sources = {}
    for label, name in tag.sources.items():
        if name in sources:
            fail("rocm.artifacts(name = {}): two sources are named {}; each needs a name of its own".format(repr(tag.name), repr(name)))
        sources[name] = str(label)
    directory = tag.name + "_directory"
    artifacts_directory(name = directory, archives = directory_archives(mctx, directory))
    choice(
        name = tag.name,
        default = str(tag.default),
        directory = "@{}//:artifacts.bzl".format(directory),
        sources = sources,
    )

def _rocm_impl(mctx):
    names = {}
    for module in mctx.modules:
        tags = module.tags
        for tag in tags.artifacts + tags.debian + tags.lock + tags.selection + tags.version:
            if tag.name in names:
                fail("module {}: a tag of `rocm` is named {}, as is one of module {}; choose another name".format(module.name, repr(tag.name), names[tag.name]))
            names[tag.name] = module.name
        for tag in tags.artifacts:
            _declare_artifacts(mctx, tag)
        for tag in tags.debian:
            debian(name = tag.name, packages = tag.packages, suite = tag.suite)
        for tag in tags.lock:
            locked_artifacts(mctx, tag.name, tag.file)
        for tag in tags.selection:
            selection(name = tag.name)
        for tag in tags.version:
            version(name = tag.name, file = tag.file)
    return mctx.extension_metadata(reproducible = True)

rocm = module_extension(
    doc = "Turns artifacts outside the workspace into targets.",
    implementation = _rocm_impl,
    tag_classes = {
        "artifacts": _artifacts,
        "debian": _debian,
        "lock": _lock,
        "selection": _selection,
        "version": _version,
    },
)
