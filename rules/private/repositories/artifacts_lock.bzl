"""The archives that a lock file names: a repository for each, and a repository that lists them all.

`docs/rocm/artifacts.md` has the format of the lock file.
"""

load("//rules/shared:names.bzl", "archive_repository_name", "artifact_parts")
load("//tools/fetch:run_program.bzl", "CATALOG_SOURCES", "run_program")
load(":artifact_archive.bzl", "archive_suffix", "artifact_archive")

visibility(["//rules/..."])

_VERSION = 1
_KEYS = {"archives": "list", "base_urls": "list"}

def _is_archive(one):
    """Returns whether an element of `archives` has all that is needed."""
    if type(one) != "dict" or [key for key in ["name", "sha256", "url"] if type(one.get(key)) != "string"]:
        return False
    return (
        artifact_parts(one["name"]) != None and
        len(one["sha256"]) == 64 and not one["sha256"].strip("0123456789abcdef") and
        type(one.get("size")) == "int" and bool(archive_suffix(one["url"]))
    )

def parse_lock(text):
    """Reads a lock file.

    Args:
        text: the content of the file.

    Returns:
        struct(lock, error): what the file says, as a dict, or what is wrong with it.
    """
    lock = json.decode(text, default = None)
    if type(lock) != "dict":
        return struct(lock = None, error = "expected a JSON object")
    if lock.get("version") != _VERSION:
        return struct(lock = None, error = "version is {}; expected {}".format(repr(lock.get("version")), _VERSION))
    for key, kind in _KEYS.items():
        if type(lock.get(key)) != kind:
            return struct(lock = None, error = "{} is {}; expected a {}".format(key, repr(lock.get(key)), kind))
    names = {}
    for one in lock["archives"]:
        if not _is_archive(one):
            return struct(lock = None, error = "archives: {} is not like {{\"name\": \"{{name}}_{{component}}_{{target}}\", \"sha256\": hex, \"size\": bytes, \"url\": \"….tar.zst\"}}".format(repr(one)))
        if one["name"] in names:
            return struct(lock = None, error = "archives: {} is there twice".format(repr(one["name"])))
        if "://" not in one["url"] and not lock["base_urls"]:
            return struct(lock = None, error = "archives: {} has a relative url, but base_urls is empty".format(repr(one["name"])))
        names[one["name"]] = True
    return struct(lock = lock, error = None)

def _urls(lock, url):
    return [url] if "://" in url else ["{}/{}".format(base.rstrip("/"), url) for base in lock["base_urls"]]

def locked_artifacts(mctx, name, file):
    """Declares the repositories of a lock file. A missing or wrong lock file is an error only when they are loaded.

    Args:
        mctx: the module_ctx.
        name: name of the repository that lists them all.
        file: label of the lock file.
    """
    path = mctx.path(file)
    mctx.watch(path)
    file = str(file).removeprefix("@@")
    if not path.exists:
        locked_listing(name = name, error = "there is no such file", file = file)
        return
    parsed = parse_lock(mctx.read(path))
    if parsed.error:
        locked_listing(name = name, error = parsed.error, file = file)
        return
    repositories = {}
    for one in parsed.lock["archives"]:
        repositories[one["name"]] = archive_repository_name(name, one["name"])
        artifact_archive(
            name = repositories[one["name"]],
            artifact = one["name"],
            lock_file = file,
            sha256 = one["sha256"],
            suffix = archive_suffix(one["url"]),
            urls = _urls(parsed.lock, one["url"]),
        )
    locked_listing(
        name = name,
        file = file,
        repositories = repositories,
    )

def _locked_listing_impl(rctx):
    if rctx.attr.error:
        fail("\n{}: {}; write it with `bazel run @rules_rocm_python//tools/fetch/lock` (see its --help)".format(rctx.attr.file, rctx.attr.error))
    run_program(rctx, "tools.fetch.catalog.catalog", ["--output", rctx.path("."), "--named-by", rctx.attr.file] + [
        "--archived={}={}".format(artifact, repository)
        for artifact, repository in rctx.attr.repositories.items()
    ], rctx.attr._sources)

locked_listing = repository_rule(
    doc = "Lists what a lock file names, with labels of the archives' repositories; fetches only those that tell about the build.",
    implementation = _locked_listing_impl,
    attrs = {
        "error": attr.string(doc = "What is wrong with the lock file."),
        "file": attr.string(mandatory = True, doc = "The lock file."),
        "repositories": attr.string_dict(doc = "Artifacts, and the names of their repositories."),
        "_sources": attr.label_list(default = CATALOG_SOURCES, allow_files = True),
    },
)
