"""The wheels of an SDK that a lock file of Python packages (pylock.toml) names: a repository for each."""

load("@bazel_tools//tools/build_defs/repo:utils.bzl", "get_auth")
load("//rules/shared:artifact_names.bzl", "archive_repository_name")
load("//tools/fetch:run_program.bzl", "CATALOG_SOURCES", "run_program")
load(":device_code.bzl", "may_run")

visibility(["//hip/private"])

_SOURCES = CATALOG_SOURCES + [Label("//hip/tools/prefix:pylock.py")]

# How the packages with device code for one GPU target are called.
_DEVICE = "rocm-sdk-device-"

def _locked_wheel_impl(rctx):
    url = rctx.attr.url
    rctx.report_progress("fetching " + rctx.attr.file)
    result = rctx.download(allow_fail = True, auth = get_auth(rctx, [url]), output = rctx.attr.file, sha256 = rctx.attr.sha256, url = url)
    if not result.success:
        fail("\n{}: {} could not be fetched with the SHA-256 {} from {}. See the warnings above: it is gone (404), or differs from the locked one (checksum). Lock the requirements again".format(
            rctx.attr.lock_file,
            rctx.attr.file,
            rctx.attr.sha256,
            url,
        ))
    rctx.file("BUILD.bazel", "exports_files([{}])\n".format(repr(rctx.attr.file)))

_locked_wheel = repository_rule(
    doc = "A wheel that a lock file names, as it is.",
    implementation = _locked_wheel_impl,
    attrs = {
        "auth_patterns": attr.string_dict(doc = "Patterns of credentials, as http_archive has them."),
        "file": attr.string(mandatory = True, doc = "Name of the file."),
        "lock_file": attr.string(mandatory = True, doc = "The lock file that names the wheel, for errors."),
        "netrc": attr.string(doc = "The .netrc file to use, as http_archive has it."),
        "sha256": attr.string(mandatory = True, doc = "SHA-256 of the wheel, in hex."),
        "url": attr.string(mandatory = True, doc = "Where the wheel is."),
    },
)

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
    for wheel in json.decode(run_program(mctx, "hip.tools.prefix.pylock", [path], _SOURCES)):
        distribution = wheel["distribution"]
        if distribution.startswith(_DEVICE) and not may_run(targets, distribution.removeprefix(_DEVICE)):
            continue
        repository = archive_repository_name(name, distribution)
        _locked_wheel(
            name = repository,
            file = wheel["file"],
            lock_file = str(lock).removeprefix("@@"),
            sha256 = wheel["sha256"],
            url = wheel["url"],
        )
        wheels["@{}//:{}".format(repository, wheel["file"])] = wheel["sha256"]
    return wheels
