"""Repositories about the machine of the build: its Python, as a toolchain, and what its Bazel server can notice."""

visibility(["//rules/..."])

# The interpreter is a file of the build, so its content is part of every action's key: the autodetecting toolchain of old
# rules_python versions hides it behind a wrapper script. It is only used where `--extra_toolchains` names it, as
# `--config=debian` does.
_PYTHON = """\
load("@rules_python//python:defs.bzl", "py_runtime", "py_runtime_pair")

py_runtime(
    name = "runtime",
    interpreter = "bin/python3",
    python_version = "PY3",
    stub_shebang = "#!{python}",
    visibility = ["//visibility:public"],
)

py_runtime_pair(
    name = "runtime_pair",
    py3_runtime = ":runtime",
    visibility = ["//visibility:public"],
)

toolchain(
    name = "toolchain",
    toolchain = ":runtime_pair",
    toolchain_type = "@rules_python//python:toolchain_type",
)
"""

def _host_python_impl(rctx):
    python = rctx.which("python3")
    if not python:
        fail("{}: no `python3` on PATH. Install Python 3.11 or newer, or use the toolchain of rules_python.".format(rctx.name))
    python = python.realpath
    rctx.watch(python)
    rctx.symlink(python, "bin/python3")
    rctx.file("BUILD.bazel", _PYTHON.format(python = python))

host_python = repository_rule(
    doc = "The machine's `python3` as a registered-on-request toolchain.",
    implementation = _host_python_impl,
    environ = ["PATH"],
    local = True,
)

# Whether the server has loaded its native library is asked once for each server. Without it, Bazel knows neither ctime nor
# inode of a file. Then an edit that keeps size and mtime goes unnoticed: packages are stale, and results are stored under
# digests of other content, also in caches that others share.
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
