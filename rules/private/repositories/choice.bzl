"""The repository of artifacts that `packaging/` loads: an alias of the source that the build selects."""

load(":artifacts_directory.bzl", "DIRECTORY")

visibility(["//rules/private/repositories/..."])

CHOICE = "ROCM_ARTIFACTS"

_REEXPORT = '''"""The artifacts of {what}."""

load("{source}", _ARTIFACTS = "ARTIFACTS", _DIST_TARGETS = "DIST_TARGETS", _SPLIT = "SPLIT")

ARTIFACTS = _ARTIFACTS
DIST_TARGETS = _DIST_TARGETS
SPLIT = _SPLIT
'''

def _chosen(rctx):
    """Returns the label of the selected source's `.bzl` file, and a description of the source."""
    directory = rctx.getenv(DIRECTORY, "")
    name = rctx.getenv(CHOICE, "")
    if directory and name:
        fail("{}={} and {}={}: expected one of them; unset the other (--repo_env={}=)".format(DIRECTORY, directory, CHOICE, name, CHOICE))
    if directory:
        return rctx.attr.directory, "the directory that {} names".format(DIRECTORY)
    if not name:
        return rctx.attr.default, "the embedded default: neither {} nor {} is set".format(DIRECTORY, CHOICE)
    if name not in rctx.attr.sources:
        fail("{}={}: there is no such source of artifacts; expected one of: {}. Sources are declared in MODULE.bazel (rocm.artifacts(sources = …)); a directory is named by {}".format(
            CHOICE,
            name,
            ", ".join(sorted(rctx.attr.sources)) or "(none is declared)",
            DIRECTORY,
        ))
    return rctx.attr.sources[name], "the source `{}`".format(name)

def _choice_impl(rctx):
    source, what = _chosen(rctx)
    rctx.file("BUILD.bazel", "")
    rctx.file("artifacts.bzl", _REEXPORT.format(source = source, what = what))

choice = repository_rule(
    doc = "Re-exports ARTIFACTS, DIST_TARGETS and SPLIT of the chosen source; no other source is fetched.",
    implementation = _choice_impl,
    attrs = {
        "default": attr.string(mandatory = True, doc = "Label of the source that stands in when no variable is set."),
        "directory": attr.string(mandatory = True, doc = "Label of the source that is the directory of artifacts."),
        "sources": attr.string_dict(doc = "Names of the other sources, and their labels."),
    },
    environ = [CHOICE, DIRECTORY],
)
