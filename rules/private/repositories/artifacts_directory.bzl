"""The artifacts of a directory, folders and archives, as targets.

An extension cannot watch paths outside the workspace, so for folders it only declares a constant repository; the rule
behind that scans the directory. Contents are watched by Bazel itself, through the links that the repository holds. For
names, modes and the texts of links, and for the sizes and times of archives, there is `ROCM_ARTIFACTS_FINGERPRINT`,
which bazelw and tools/bazel set anew for each call: lines `SHA-256 DIRECTORY`, one for each directory that a build may
mean. When it changes, the extension looks which archives there are.

A directory without a line is watched by the rule, as trees. Then a change goes unnoticed of modes, and of the text of a link
that dangles, or leads to equal content; an archive that is added or removed is an error until the server is restarted.
"""

load("//rules/shared:names.bzl", "archive_repository_name")
load("//tools/fetch:run_program.bzl", "CATALOG_SOURCES", "run_program")
load(":artifact_archive.bzl", "archive_suffix", "artifact_archive")

visibility(["//rules/..."])

FINGERPRINT = "ROCM_ARTIFACTS_FINGERPRINT"

_EMPTY = '''"""No artifacts: {} is not set."""

ARTIFACTS = []
DIST_TARGETS = []
SPLIT = False
'''

def _has_fingerprint(ctx, directory):
    """Returns whether ROCM_ARTIFACTS_FINGERPRINT changes with this directory: it may cover only other directories."""
    lines = ctx.getenv(FINGERPRINT, "").split("\n")
    return bool([line for line in lines if line.partition(" ")[2] == directory])

def _directory(ctx, path, variable):
    """Returns the absolute path of the directory, from the variable, else from MODULE.bazel; "" if neither names one."""
    named = ctx.getenv(variable, "") if variable else ""
    if named and not named.startswith("/"):
        fail("{}={}: expected an absolute path, as in --repo_env={}=/abs/dir".format(variable, named, variable))
    path = named or path
    if path and not path.startswith("/"):
        path = "{}/{}".format(ctx.path(Label("@@//:MODULE.bazel")).dirname, path)
    return path

def _directory_archives(mctx, name, path, variable):
    """Declares a repository for each archive in a directory.

    Args:
        mctx: the module_ctx.
        name: name of the directory's repository.
        path: string: the directory, or "".
        variable: string: name of the environment variable that names another one, or "".

    Returns:
        A dict from the file name of an archive to the name of its repository.
    """
    directory = _directory(mctx, path, variable)
    has_fingerprint = _has_fingerprint(mctx, directory)
    place = mctx.path(directory) if directory else None
    if not place or not place.is_dir:
        return {}
    if mctx.execute(["test", "-r", place]).return_code == 1:
        return {}  # Here Bazel fails where a directory cannot be listed; the scan says what to do.
    if not [child for child in place.readdir(watch = "no") if archive_suffix(child.basename)]:
        return {}
    stamps = json.decode(run_program(mctx, "tools.fetch.catalog.catalog", ["--list-archives", "--artifacts", place], CATALOG_SOURCES))
    repositories = {}
    for file_name, stamp in stamps.items():
        suffix = archive_suffix(file_name)
        artifact = file_name.removesuffix(suffix)
        repository = archive_repository_name(name, artifact)
        if repository in repositories.values():
            continue  # The same artifact twice is for the scan to refuse.
        artifact_archive(
            name = repository,
            artifact = artifact,
            file = str(place.get_child(file_name)),
            stamp = stamp if has_fingerprint else "",
            suffix = suffix,
        )
        repositories[file_name] = repository
    return repositories

def _artifacts_directory_impl(rctx):
    directory = _directory(rctx, rctx.attr.path, rctx.attr.variable)
    if not directory:
        rctx.file("BUILD.bazel", "")
        rctx.file("artifacts.bzl", _EMPTY.format(rctx.attr.variable))
        rctx.file("artifacts.json", "{\"artifacts\": {}}\n")
        return
    rctx.report_progress("scanning " + directory)
    variable = rctx.attr.variable if rctx.attr.variable and rctx.getenv(rctx.attr.variable) else ""
    arguments = ["--artifacts", directory, "--named-by", variable or "path", "--repository", rctx.name, "--output", rctx.path(".")]
    for file_name, repository in rctx.attr.archives.items():
        arguments += ["--archived", "{}={}".format(file_name, repository)]
    run_program(rctx, "tools.fetch.catalog.catalog", arguments, rctx.attr._sources)
    for path in rctx.read("files_read.txt").splitlines():
        rctx.watch(path)
    if not _has_fingerprint(rctx, directory):
        for path in rctx.read("trees.txt").splitlines():
            rctx.watch_tree(path)
        for path in [directory] + rctx.read("directories.txt").splitlines():
            rctx.path(path).readdir(watch = "yes")

_artifacts_directory = repository_rule(
    doc = "The artifacts of one directory: folders as targets, archives as labels of their own repositories' targets.",
    implementation = _artifacts_directory_impl,
    attrs = {
        "archives": attr.string_dict(doc = "File names of archives in the directory, and the names of their repositories."),
        "path": attr.string(doc = "The directory: absolute, or relative to the workspace."),
        "variable": attr.string(doc = "Environment variable that names another directory."),
        "_sources": attr.label_list(default = CATALOG_SOURCES, allow_files = True),
    },
    environ = [FINGERPRINT],
)

def artifacts_directory(mctx, name, path = "", variable = ""):
    """Declares the repositories of a directory of artifacts: its own, and one for each archive in it.

    Args:
        mctx: the module_ctx.
        name: name of the directory's repository.
        path: the directory, absolute or relative to the workspace. May be empty if `variable` is given.
        variable: environment variable that names another directory, or "". If neither names one, there are no artifacts.
    """
    archives = _directory_archives(mctx, name, path, variable)
    _artifacts_directory(name = name, archives = archives, path = path, variable = variable)
