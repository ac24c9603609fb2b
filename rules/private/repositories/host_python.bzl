"""A Python toolchain out of the machine's own `python3`, for builds whose rules_python brings no interpreter.

The interpreter is a file of the build, so its content is part of every action's key: the
autodetecting toolchain of old rules_python versions hides it behind a wrapper script.
It is only used where `--extra_toolchains` names it, as `--config=debian` does.
"""

visibility(["//rules/..."])

_BUILD = """\
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
    rctx.file("BUILD.bazel", _BUILD.format(python = python))

host_python = repository_rule(
    doc = "The machine's `python3` as a registered-on-request toolchain.",
    implementation = _host_python_impl,
    environ = ["PATH"],
    local = True,
)
