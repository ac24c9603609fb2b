"""Packages of Debian or Ubuntu as artifacts: ROCm's packages, or any SDK's.

The machine's own apt fetches the packages: its sources say from where, its keys verify them. It works in a directory of
its own in the repository, so any user can, and nothing of the system changes. Which packages of ROCm become which artifacts
is data, in `tools/fetch/debian/table.py`; any other package becomes an artifact of its own.

What was fetched stays until the declaration or a program changes; `bazel fetch --force --repo=@NAME` takes newer versions.
"""

load("//tools/fetch:run_program.bzl", "CATALOG_SOURCES", "run_program")

visibility(["//rules/private/..."])

_SOURCES = CATALOG_SOURCES + [
    "//lib/elf:library_name.py",
    "//tools/fetch:debian/apt.py",
    "//tools/fetch:debian/sources.py",
    "//tools/fetch:debian/table.py",
    "//tools/fetch:debian/tool.py",
    "//tools/fetch:debian/unpack.py",
]

_EXPORTED = """
# Which versions of which packages each artifact is made from.
exports_files(["packages.json"])
"""

def _debian_impl(rctx):
    sources = [rctx.path(source) for source in rctx.attr._sources]
    directory = rctx.path(".")
    label = "{}(name = {})".format(rctx.attr.tag, repr(rctx.name.replace("+", "~").rpartition("~")[2]))
    variable = rctx.attr.set_variable
    plain = [] if variable else ["--plain"]
    options = plain + ["--suite", rctx.attr.suite, "--set", rctx.getenv(variable, "") or "all" if variable else "all"]
    options += ["--package=" + name for name in rctx.attr.packages] + ["--system=" + name for name in rctx.attr.system]

    # No function for a step: it would stand in the traceback that Bazel prints above an error.
    for progress, name, given in [
        ("asking apt for packages", "resolve", options),
        ("fetching packages with apt", "download", []),
        ("unpacking packages", "lay-out", plain),
    ]:
        rctx.report_progress(progress)
        said = run_program(rctx, "tools.fetch.debian.tool", ["--step", name, "--directory", directory, "--label", label] + given, sources)
        if said:
            print(said.strip())  # buildifier: disable=print
    rctx.report_progress("scanning artifacts")
    run_program(rctx, "tools.fetch.catalog.catalog", [
        "--artifacts",
        rctx.path("artifacts"),
        "--repository",
        rctx.name,
        "--output",
        directory,
    ], sources)
    rctx.file("BUILD.bazel", rctx.read("BUILD.bazel") + _EXPORTED)
    rctx.file(".bazelignore", "artifacts\n")

debian = repository_rule(
    doc = "Packages of Debian or Ubuntu, as the machine's apt fetches them, laid out and catalogued as artifacts.",
    implementation = _debian_impl,
    attrs = {
        "packages": attr.string_list(doc = "Packages to begin with; if there are none, the set that the variable names."),
        "set_variable": attr.string(doc = "Environment variable that names a set of tools/fetch/debian/table.py. Without it, each package becomes an artifact of its own."),
        "suite": attr.string(doc = "Suite; if empty, trixie of Debian, and of Ubuntu the machine's own release."),
        "system": attr.string_list(doc = "Patterns of packages that are not taken."),
        "tag": attr.string(mandatory = True, doc = "The tag that declares the repository, for messages."),
        "_sources": attr.label_list(default = _SOURCES, allow_files = True),
    },
)
