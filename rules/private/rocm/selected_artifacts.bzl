"""The repositories that `packaging/` loads: which artifacts there are, and which of them are packaged, in which layout.

There is one of artifacts for each platform, with variables of its own: an alias of the source that the build selects. Who
names artifacts of one platform means no example of another: then there are none for Windows, and those for Linux have to
be named.
"""

visibility(["//rules/private/rocm"])

# Platform -> the variable that names a directory, and the variable that names another source.
VARIABLES = {
    "linux": ("ROCM_ARTIFACTS_DIR", "ROCM_ARTIFACTS"),
    "windows": ("ROCM_WINDOWS_ARTIFACTS_DIR", "ROCM_WINDOWS_ARTIFACTS"),
}

_REEXPORT = '''"""The artifacts of {what}."""

load("{source}", _ARTIFACTS = "ARTIFACTS", _DIST_TARGETS = "DIST_TARGETS", _SPLIT = "SPLIT")

ARTIFACTS = _ARTIFACTS
DIST_TARGETS = _DIST_TARGETS
SPLIT = _SPLIT
'''

_NONE = '''"""No artifacts: variables name artifacts of another platform, and none of this."""

ARTIFACTS = []
DIST_TARGETS = []
SPLIT = False
'''

def _chosen(rctx):
    """Returns the label of the selected source's `.bzl` file, and a description of the source; or (None, None)."""
    directory_variable, choice_variable = VARIABLES[rctx.attr.platform]
    directory = rctx.getenv(directory_variable, "")
    name = rctx.getenv(choice_variable, "")
    if directory and name:
        fail("{}={} and {}={}: expected one of them; unset the other (--repo_env={}=)".format(directory_variable, directory, choice_variable, name, choice_variable))
    if directory:
        return rctx.attr.directory, "the directory that {} names".format(directory_variable)
    if not name:
        others = [variable for platform, pair in VARIABLES.items() if platform != rctx.attr.platform for variable in pair if rctx.getenv(variable, "")]
        if others and rctx.attr.platform == "linux":
            fail("{} is set, but neither {} nor {}; expected artifacts for Linux, too. Set --repo_env={}=/absolute/directory".format(others[0], directory_variable, choice_variable, directory_variable))
        if others:
            return None, None
        return rctx.attr.default, "the embedded default: neither {} nor {} is set".format(directory_variable, choice_variable)
    if name not in rctx.attr.sources:
        fail("{}={}: there is no such source of artifacts; expected one of: {}. Sources are declared in MODULE.bazel (rocm.artifacts(sources = …)); a directory is named by {}".format(
            choice_variable,
            name,
            ", ".join(sorted(rctx.attr.sources)) or "(none is declared)",
            directory_variable,
        ))
    return rctx.attr.sources[name], "the source `{}`".format(name)

def _choice_impl(rctx):
    source, what = _chosen(rctx)
    rctx.file("BUILD.bazel", "")
    rctx.file("artifacts.bzl", _REEXPORT.format(source = source, what = what) if source else _NONE)

    # For repository rules, which cannot load.
    if source == rctx.attr.directory:
        source = "@@{}_directory//:artifacts.bzl".format(rctx.name)
    rctx.file("artifacts.json", json.encode({"source": source or ""}) + "\n")

choice = repository_rule(
    doc = "Re-exports ARTIFACTS, DIST_TARGETS and SPLIT of the chosen source; no other source is fetched.",
    implementation = _choice_impl,
    attrs = {
        "default": attr.string(mandatory = True, doc = "Label of the source that stands in when no variable is set."),
        "directory": attr.string(mandatory = True, doc = "Label of the source that is the directory of artifacts."),
        "platform": attr.string(mandatory = True, values = ["linux", "windows"], doc = "The platform that the artifacts are for."),
        "sources": attr.string_dict(doc = "Names of the other sources, and their labels."),
    },
    environ = [variable for pair in VARIABLES.values() for variable in pair],
)

_LAYOUT = "ROCM_LAYOUT"

# What the lists are called, and the variables that have them.
_LISTS = {
    "LEFT_OUT": "ROCM_TARGETS_LEFT_OUT",
    "TARGETS": "ROCM_TARGETS",
}

def _listed(text):
    """Returns the items of a list, separated by commas or semicolons, sorted, each once."""
    return sorted({item.strip(): None for item in text.replace(";", ",").split(",") if item.strip()})

def _selection_impl(rctx):
    lines = [
        '"""What {} say; empty if they say nothing."""\n'.format(", ".join([_LAYOUT] + _LISTS.values())),
        "LAYOUT = " + repr(rctx.getenv(_LAYOUT, "").strip()),
    ] + ["{} = {}".format(name, repr(_listed(rctx.getenv(variable, "")))) for name, variable in _LISTS.items()]
    rctx.file("BUILD.bazel", "")
    rctx.file("selection.bzl", "\n".join(lines) + "\n")

selection = repository_rule(
    doc = "`//:selection.bzl` with LAYOUT, a string, and TARGETS and LEFT_OUT, lists of strings.",
    implementation = _selection_impl,
    environ = [_LAYOUT] + _LISTS.values(),
)
