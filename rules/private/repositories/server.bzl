"""Whether the Bazel server has loaded its native library, asked once for each server.

Without it, Bazel knows neither ctime nor inode of a file. Then an edit that keeps size and mtime goes unnoticed: packages
are stale, and results are stored under digests of other content, also in caches that others share.
"""

visibility(["//rules/..."])

_MAPS = "/proc/self/maps"

_WARNING = """
WARNING: this Bazel server runs without its native library (libunix_jni.so), so it misses edits that keep a file's size and \
mtime: packages may be stale, and a shared cache may get wrong results. The file java.log in `bazel info output_base` says why it was not loaded. Usual reasons: \
/tmp is mounted noexec (remedy: `startup --host_jvm_args=-Djava.io.tmpdir=/another/directory` in a bazelrc), or \
libblake3.so.0 is missing for Debian's Bazel (remedy: `apt-get install libblake3-0`). Then run `bazel shutdown`.\
"""

def _server_impl(rctx):
    rctx.file("BUILD.bazel", "exports_files([\"checked.bzl\"])\n")
    rctx.file("checked.bzl", "CHECKED = True\n")

    # The server itself reads this file (proc_pid_maps(5)). Only Linux has it.
    if rctx.path(_MAPS).exists and "libunix_jni" not in rctx.read(_MAPS, watch = "no"):
        print(_WARNING)  # buildifier: disable=print

server = repository_rule(
    doc = "Warns if the Bazel server runs without its native library. Whoever loads CHECKED of its `checked.bzl` asks.",
    implementation = _server_impl,
    # Fetched again by each server.
    local = True,
)
