"""The module extension `artifacts`: artifacts of directories and of Debian's packages, for any SDK."""

load(":artifacts_directory.bzl", "artifacts_directory")
load(":debian.bzl", "debian")

visibility(["//rules"])

_directory = tag_class(
    doc = "Declares a repository for a directory that another build wrote. It has a target for each artifact, and lists them " +
          "in `//:artifacts.bzl` as ARTIFACTS.",
    attrs = {
        "name": attr.string(mandatory = True, doc = "Name of the repository."),
        "path": attr.string(mandatory = True, doc = "The directory: an absolute path, or one relative to the workspace."),
        "variable": attr.string(doc = "Environment variable that names another directory: `--repo_env=VARIABLE=/absolute/directory`."),
    },
)

_debian = tag_class(
    doc = "Declares a repository with packages of Debian or Ubuntu and their dependencies. Each package is an artifact: `ffmpeg_run_generic`. " +
          "Any user can fetch them; the machine's apt does it. `//:artifacts.bzl` lists the artifacts as ARTIFACTS.",
    attrs = {
        "name": attr.string(mandatory = True, doc = "Name of the repository."),
        "packages": attr.string_list(mandatory = True, allow_empty = False, doc = "Packages to fetch with their dependencies."),
        "suite": attr.string(mandatory = True, doc = "Suite of the packages, such as `trixie`."),
        "system": attr.string_list(
            default = ["libc6", "libcrypt1", "libgcc-s1", "libstdc++6"],
            doc = "Patterns of dependencies that must come from the user's system: `libx11-*`.",
        ),
    },
)

def _artifacts_impl(mctx):
    names = {}
    for module in mctx.modules:
        for tag in module.tags.directory + module.tags.debian:
            if tag.name in names:
                fail("module {}: the name {} of a tag of `artifacts` is taken by module {}; choose another name".format(module.name, repr(tag.name), names[tag.name]))
            names[tag.name] = module.name
        for tag in module.tags.directory:
            if not tag.path:
                fail("module {}: artifacts.directory(name = {}): path is empty; expected a directory".format(module.name, repr(tag.name)))
            artifacts_directory(mctx, tag.name, tag.path, tag.variable)
        for tag in module.tags.debian:
            debian(name = tag.name, packages = tag.packages, suite = tag.suite, system = tag.system, tag = "artifacts.debian")
    return mctx.extension_metadata(reproducible = True)

artifacts = module_extension(
    doc = "Declares repositories of artifacts that lie in directories, or come from Debian's packages.",
    implementation = _artifacts_impl,
    tag_classes = {"debian": _debian, "directory": _directory},
)
