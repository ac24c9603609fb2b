"""Python dependencies of a lock file: one repository per wheel, and a hub `@pypi//name`, the layout of rules_python's hubs.

rules_python's own `pip.parse` is not used: its attributes differ between the versions that users have.
"""

load("//tools/fetch:run_program.bzl", "fetching_python")
load(":pip_download.bzl", "PIP_ATTRS", "pip_unpack_wheel")

visibility(["//rules/...", "//tests/lint"])

_WHEEL_BUILD = """\
load("@rules_python//python:defs.bzl", "py_library")

package(default_visibility = ["//visibility:public"])

py_library(
    name = "pkg",
    srcs = glob(["site-packages/**/*.py"], allow_empty = True),
    data = glob(
        ["site-packages/**"],
        exclude = ["site-packages/**/*.py", "site-packages/**/*.pyc"],
    ),
    imports = ["site-packages"],
    deps = {deps},
)

filegroup(
    name = "bytecode",
    srcs = glob(["site-packages/**/*.pyc"], allow_empty = True),
)

exports_files(glob(["site-packages/*.data/scripts/*"], allow_empty = True))
"""

# Without the time of the source, and without its directory: so the bytecode is the same everywhere.
_COMPILE = ["-m", "compileall", "-q", "--invalidation-mode=unchecked-hash", "-s", "site-packages"]

def _requires(rctx, locked_names):
    """Returns the locked names that the unpacked wheel's METADATA requires without an extra."""
    metadata = [
        path.get_child("METADATA")
        for path in rctx.path("site-packages").readdir()
        if path.basename.endswith(".dist-info")
    ][0]
    names = {}
    for line in rctx.read(metadata).split("\n"):
        if not line.startswith("Requires-Dist:") or "extra ==" in line:
            continue
        requirement = line.removeprefix("Requires-Dist:").strip()
        for end in " ;<>=!~[(".elems():
            requirement = requirement.partition(end)[0]
        name = requirement.lower().replace("_", "-").replace(".", "-")
        if name in locked_names:
            names[name] = True
    return sorted(names)

def _pypi_wheel_impl(rctx):
    pip_unpack_wheel(rctx, "site-packages")
    if rctx.attr.compiled:
        # A file that this Python cannot compile is another Python's; none that imports it gets further without bytecode.
        rctx.execute(fetching_python(rctx, rctx.name) + _COMPILE + ["site-packages"], environment = {"PYTHONHASHSEED": "0"})
    rctx.file("BUILD.bazel", _WHEEL_BUILD.format(
        deps = ["@{}{}//:pkg".format(rctx.attr.prefix, name) for name in _requires(rctx, rctx.attr.locked_names)],
    ))

pypi_wheel = repository_rule(
    doc = "One wheel from the Python package index, as a `py_library` named `pkg`.",
    implementation = _pypi_wheel_impl,
    attrs = PIP_ATTRS | {
        "compiled": attr.bool(doc = "Whether the machine's Python compiles it; `bytecode` has the result."),
        "locked_names": attr.string_list(mandatory = True, doc = "Names in the lock file. If the wheel requires one of them, it becomes a dep."),
        "prefix": attr.string(mandatory = True, doc = "What the names of the sibling repositories begin with."),
    },
)

def _pypi_hub_impl(rctx):
    rctx.file("BUILD.bazel", "")
    for name in rctx.attr.names:
        rctx.file(name.replace("-", "_") + "/BUILD.bazel", """\
package(default_visibility = ["//visibility:public"])

alias(
    name = "{name}",
    actual = "@{prefix}{repository}//:pkg",
)

alias(
    name = "bytecode",
    actual = "@{prefix}{repository}//:bytecode",
)
""".format(name = name.replace("-", "_"), prefix = rctx.attr.prefix, repository = name))

pypi_hub = repository_rule(
    doc = "Aliases `@pypi//name` to the repositories of the wheels.",
    implementation = _pypi_hub_impl,
    attrs = {
        "names": attr.string_list(mandatory = True, doc = "Names in the lock file."),
        "prefix": attr.string(mandatory = True, doc = "What the names of the wheels' repositories begin with."),
    },
)

def pypi_repositories(hub, locked, compiled = []):
    """Declares a repository for each wheel of a lock file, `{hub}_{name}`, and the hub `@{hub}//name`.

    Args:
        hub: name of the hub.
        locked: what `parse_requirements_lock` returns.
        compiled: names of the wheels that the machine's Python compiles.
    """
    for name, wheel in locked.items():
        pypi_wheel(
            name = "{}_{}".format(hub, name),
            compiled = name in compiled,
            hashes = wheel.hashes,
            locked_names = locked.keys(),
            prefix = hub + "_",
            requirement = wheel.requirement,
        )
    pypi_hub(name = hub, names = locked.keys(), prefix = hub + "_")

def _logical_lines(content):
    return [
        line.strip()
        for line in content.replace("\\\n", " ").split("\n")
        if line.strip() and not line.strip().startswith("#")
    ]

def parse_requirements_lock(content, origin):
    """Parses a lock file.

    Args:
        content: the text of the file.
        origin: what to call the file in an error.

    Returns:
        A dict from distribution name to `struct(requirement, hashes)`. Requirements
        for other operating systems are left out.
    """
    locked = {}
    for line in _logical_lines(content):
        requirement, _, rest = line.partition(" --hash=")
        requirement, _, marker = requirement.partition(";")
        name, pin, version = requirement.strip().partition("==")
        if "win32" in marker:
            continue
        if not pin or not rest:
            fail("{}: expected `name==version --hash=sha256:…`, found {}. Write the file again as CONTRIBUTING.md says.".format(origin, repr(line)))
        locked[name] = struct(
            requirement = "{}=={}".format(name, version.strip()),
            hashes = [digest.strip() for digest in rest.split("--hash=")],
        )
    return locked
