"""nanobind: the repository with nanobind, as requirements.txt locks it, and the headers of the machine's Python."""

_INCLUDE = "import sysconfig; print(sysconfig.get_path('include'))"
_INSTALL = ["-m", "pip", "install", "--quiet", "--target=site", "--no-deps", "--only-binary=:all:", "--require-hashes", "--requirement"]

def _run(rctx, command):
    result = rctx.execute(command)
    if result.return_code != 0:
        fail("{}: {}: {}".format(rctx.name, " ".join([str(word) for word in command]), result.stderr))
    return result.stdout.strip()

def _nanobind_impl(rctx):
    python = rctx.which("python3")
    if not python:
        fail("nanobind: there is no python3 on PATH; expected Python 3.12 or newer with pip and headers. Install it")
    include = rctx.getenv("PYTHON_INCLUDE") or _run(rctx, [python, "-c", _INCLUDE])
    if not rctx.path(include + "/Python.h").exists:
        fail("nanobind: {} has no Python.h; expected the headers of Python 3.12 or newer. Install them (Debian: python3-dev), or set --repo_env=PYTHON_INCLUDE=/absolute/directory".format(include))
    rctx.symlink(include, "python")
    _run(rctx, [python] + _INSTALL + [rctx.path(rctx.attr.requirements)])
    rctx.symlink(rctx.attr.build_file, "BUILD.bazel")

nanobind = repository_rule(
    doc = "nanobind from the Python package index, and Python's headers.",
    implementation = _nanobind_impl,
    attrs = {
        "build_file": attr.label(mandatory = True, doc = "BUILD file of the repository."),
        "requirements": attr.label(mandatory = True, doc = "Requirements file with nanobind, its version and its hash."),
    },
)
