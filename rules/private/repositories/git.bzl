"""The module extension `git`: the commit that is checked out, for versions of any SDK.

Bazel knows of a commit in actions only, but file names are made of versions before. So git is asked when a build starts.
"""

visibility(["//rules", "//rules/private/rocm"])

_commit_tag = tag_class(
    doc = "Declares a repository with the commit of the workspace. Its `//:commit.bzl` has COMMIT and COMMIT_DATE (YYYYMMDD, in " +
          "UTC), for `sdk_version`. Both are empty without git, or outside of a checkout.",
    attrs = {"name": attr.string(mandatory = True, doc = "Name of the repository.")},
)

_CONTENT = '''"""The commit that is checked out, as far as known."""

COMMIT = {}
COMMIT_DATE = {}
'''

def checked_out(rctx):
    """Asks git for the commit of the workspace, and has Bazel watch for the next one.

    Args:
        rctx: the repository_ctx.

    Returns:
        The commit and its date, two strings. Both are empty without git, or outside of a checkout.
    """
    git = rctx.which("git")
    workspace = rctx.path(Label("@@//:MODULE.bazel")).dirname

    def ask(arguments):
        result = rctx.execute([git, "-C", workspace] + arguments, environment = {"TZ": "UTC0"}) if git else None
        return result.stdout.splitlines() if result and result.return_code == 0 else []

    # A commit, a checkout and a reset write to the log of HEAD.
    for directory in ask(["rev-parse", "--absolute-git-dir"]) or [workspace.get_child(".git")]:
        for file in ["HEAD", "logs/HEAD"]:
            rctx.watch("{}/{}".format(directory, file))
    return ask(["log", "-1", "--format=%H%n%cd", "--date=format-local:%Y%m%d"]) or ["", ""]

def _commit_impl(rctx):
    commit, date = checked_out(rctx)
    rctx.file("BUILD.bazel", "")
    rctx.file("commit.bzl", _CONTENT.format(repr(commit), repr(date)))

_commit = repository_rule(
    doc = "`//:commit.bzl` with the commit of the workspace and its date.",
    implementation = _commit_impl,
)

def _git_impl(mctx):
    names = {}
    for module in mctx.modules:
        for tag in module.tags.commit:
            if tag.name in names:
                fail("module {}: git.commit: the name {} is taken by module {}; choose another name".format(module.name, repr(tag.name), names[tag.name]))
            names[tag.name] = module.name
            _commit(name = tag.name)
    return mctx.extension_metadata(reproducible = True)

git = module_extension(
    doc = "Declares repositories with the commit that is checked out.",
    implementation = _git_impl,
    tag_classes = {"commit": _commit_tag},
)
