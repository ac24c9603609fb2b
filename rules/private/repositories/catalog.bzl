"""The catalog: the artifacts of ROCM_ARTIFACTS_DIR as `rocm_artifact` targets.

An extension cannot watch paths outside the workspace, so it only declares a constant
repository; the rule behind that scans the directory. Contents are watched by Bazel itself,
through the links that the repository holds. For names, modes and the texts of links there
is `ROCM_ARTIFACTS_FINGERPRINT`, which bazelw and tools/bazel set anew for each call.

Where nobody sets it, the rule watches the listings of directories: then modes and texts of
links go unnoticed, and a directory that is removed makes Bazel (7.7 at least) speak of an
inconsistent file system until `bazel clean --expunge`.
"""

visibility(["//rules"])

_DIRECTORY = "ROCM_ARTIFACTS_DIR"
_FINGERPRINT = "ROCM_ARTIFACTS_FINGERPRINT"

_EMBEDDED = '''"""The artifacts of the embedded default: {environment} is not set."""

load("{default}", _ARTIFACTS = "ARTIFACTS", _DIST_TARGETS = "DIST_TARGETS", _SPLIT = "SPLIT")

ARTIFACTS = _ARTIFACTS
DIST_TARGETS = _DIST_TARGETS
SPLIT = _SPLIT
'''

def _catalog_impl(rctx):
    directory = rctx.getenv(_DIRECTORY, "")
    fingerprint = rctx.getenv(_FINGERPRINT)
    if not directory:
        rctx.file("BUILD.bazel", "")
        rctx.file("artifacts.bzl", _EMBEDDED.format(default = rctx.attr.default, environment = _DIRECTORY))
        return
    if not directory.startswith("/"):
        fail("{}={}: expected an absolute path, as in --repo_env={}=/abs/dir".format(_DIRECTORY, directory, _DIRECTORY))
    python = rctx.which("python3")
    if not python:
        fail("{}: scanning {} needs `python3` on PATH. Install it, or build with ./bazelw.".format(rctx.name, directory))
    rctx.report_progress("scanning " + directory)
    result = rctx.execute([
        python,
        "-I",
        rctx.path(rctx.attr.tool),
        "--artifacts",
        directory,
        "--repository",
        rctx.name,
        "--output",
        rctx.path("."),
    ])
    if result.return_code != 0:
        fail("\n" + result.stderr.strip())
    for path in rctx.read("files_read.txt").splitlines():
        rctx.watch(path)
    if not fingerprint:
        for path in [directory] + rctx.read("directories.txt").splitlines():
            rctx.path(path).readdir(watch = "yes")

_catalog = repository_rule(
    doc = "The artifacts of one directory, or those of the embedded default.",
    implementation = _catalog_impl,
    attrs = {
        "default": attr.string(mandatory = True, doc = "Label of the `.bzl` whose ARTIFACTS stand in when the variable is not set."),
        "tool": attr.label(default = "//tools/catalog:catalog.py", allow_single_file = True, doc = "The scanner."),
    },
    environ = [_DIRECTORY, _FINGERPRINT],
)

_artifacts = tag_class(
    doc = "Declares the repository of the artifacts in ROCM_ARTIFACTS_DIR.",
    attrs = {
        "default": attr.label(mandatory = True, doc = "A `.bzl` file with ARTIFACTS, DIST_TARGETS and SPLIT, used when the variable is not set."),
        "name": attr.string(default = "rocm_artifacts", doc = "Name of the repository."),
    },
)

def _rocm_impl(mctx):
    names = {}
    for module in mctx.modules:
        for tag in module.tags.artifacts:
            if tag.name in names:
                fail("module {}: rocm.artifacts(name = {}) is declared by module {} already; choose another name".format(module.name, repr(tag.name), names[tag.name]))
            names[tag.name] = module.name
            _catalog(name = tag.name, default = str(tag.default))
    return mctx.extension_metadata(reproducible = True)

rocm = module_extension(
    doc = "Turns artifacts outside the workspace into targets.",
    implementation = _rocm_impl,
    tag_classes = {"artifacts": _artifacts},
)
