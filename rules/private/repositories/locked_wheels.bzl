"""The wheels of an SDK that a lock file of Python packages (pylock.toml) names: a repository for each."""

load("@bazel_tools//tools/build_defs/repo:http.bzl", "http_file")
load(":artifact_archive.bzl", "archive_repository_name")
load(":device_code.bzl", "may_run")
load(":run_program.bzl", "CATALOG_SOURCES", "run_program")

visibility(["//rules/private/repositories/..."])

_SOURCES = CATALOG_SOURCES + [Label("//tools/fetch/prefix:pylock.py")]

# How the packages with device code for one GPU target are called.
_DEVICE = "rocm-sdk-device-"

def locked_wheels(mctx, name, lock, targets):
    """Declares a repository for each wheel that an SDK needs. Bazel fetches it when someone asks for it.

    Args:
        mctx: the module_ctx.
        name: string: name of the SDK's repository.
        lock: label of the lock file.
        targets: list of string: the GPU targets and families that programs are compiled for.

    Returns:
        A dict from the label of a wheel to its SHA-256.
    """
    path = mctx.path(lock)
    mctx.watch(path)  # From Bazel 8 on, path() alone does not.
    wheels = {}
    for wheel in json.decode(run_program(mctx, "tools.fetch.prefix.pylock", [path], _SOURCES)):
        distribution = wheel["distribution"]
        if distribution.startswith(_DEVICE) and not may_run(targets, distribution.removeprefix(_DEVICE)):
            continue
        repository = archive_repository_name(name, distribution)
        http_file(
            name = repository,
            downloaded_file_path = wheel["file"],
            sha256 = wheel["sha256"],
            url = wheel["url"],
        )
        wheels["@{}//file:{}".format(repository, wheel["file"])] = wheel["sha256"]
    return wheels
