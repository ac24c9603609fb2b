"""The module extension `artifacts`: directories of artifacts, for any SDK."""

load(":artifacts_directory.bzl", "artifacts_directory")

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

def _artifacts_impl(mctx):
    names = {}
    for module in mctx.modules:
        for tag in module.tags.directory:
            if tag.name in names:
                fail("module {}: artifacts.directory: the name {} is taken by module {}; choose another name".format(module.name, repr(tag.name), names[tag.name]))
            if not tag.path:
                fail("module {}: artifacts.directory(name = {}): path is empty; expected a directory".format(module.name, repr(tag.name)))
            names[tag.name] = module.name
            artifacts_directory(mctx, tag.name, tag.path, tag.variable)
    return mctx.extension_metadata(reproducible = True)

artifacts = module_extension(
    doc = "Declares repositories of artifacts that lie in directories.",
    implementation = _artifacts_impl,
    tag_classes = {"directory": _directory},
)
