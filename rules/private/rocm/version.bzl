"""The base of the version, out of a file like TheRock's `version.json`, and the commit that is built.

The base has to be known when Bazel analyses: file names are made of it. The commit is what the environment says, else what
git says; only serials that are to be stamped ask for it.
"""

load("//rules/private/repositories:git.bzl", "checked_out")

visibility(["//rules/private/rocm"])

_KEY = "rocm-version"
_COMMIT = "ROCM_COMMIT"
_COMMIT_DATE = "ROCM_COMMIT_DATE"

_CONTENT = '''"""The base of the version, of {file}, and the commit that is built, as far as known."""

BASE_VERSION = {base}
COMMIT = {commit}
COMMIT_DATE = {commit_date}
'''

def _base(rctx):
    document = json.decode(rctx.read(rctx.attr.file), default = None)
    base = document.get(_KEY) if type(document) == "dict" else None
    if type(base) != "string" or [part for part in base.split(".") if not part.isdigit()]:
        fail("{}: {} is {}; expected a JSON object like {{\"{}\": \"7.10.0\"}}, with numbers and dots only".format(rctx.attr.file, _KEY, repr(base), _KEY))
    return base

def _stamp(rctx, variable, example, is_right):
    value = rctx.getenv(variable, "")
    if value and not is_right(value):
        fail("{}={}: expected a value such as {}, or nothing".format(variable, value, example))
    return value

def _is_commit(value):
    return len(value) == 40 and not value.strip("0123456789abcdef")

def _is_date(value):
    return len(value) == 8 and value.isdigit()

def _version_impl(rctx):
    commit = _stamp(rctx, _COMMIT, "efed3c3b10a5cce8578f58f8eb288582c26d18c4", _is_commit)
    date = _stamp(rctx, _COMMIT_DATE, "20251021", _is_date)
    if not (commit or date):
        commit, date = checked_out(rctx)
    rctx.file("BUILD.bazel", "")
    rctx.file("version.bzl", _CONTENT.format(
        base = repr(_base(rctx)),
        commit = repr(commit),
        commit_date = repr(date),
        file = rctx.attr.file,
    ))

version = repository_rule(
    doc = "`//:version.bzl` with BASE_VERSION, COMMIT and COMMIT_DATE; the latter two are empty if not known.",
    implementation = _version_impl,
    attrs = {"file": attr.label(mandatory = True, allow_single_file = [".json"], doc = "JSON file with `rocm-version`.")},
    environ = [_COMMIT, _COMMIT_DATE],
)
