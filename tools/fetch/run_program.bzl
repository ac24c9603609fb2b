"""Runs Python while repositories are fetched: the machine's `python3`. And fetches files that lock files name.

The programs of `tools/` need Python 3.11, the standard library, and nothing that is fetched. Each file that they are made
of is watched: when one changes, what was fetched with it is fetched again.
"""

load("@bazel_tools//tools/build_defs/repo:utils.bzl", "get_auth")

visibility(["//..."])

# What the catalog's programs consist of.
CATALOG_SOURCES = [Label("//tools/fetch:catalog/" + name) for name in [
    "catalog.py",
    "names.py",
    "one_archive.py",
    "repository.py",
    "scan.py",
]] + [
    Label("//lib/common:arguments.py"),
    Label("//lib/common:program.py"),
    Label("//lib/common:shared_library.py"),
    Label("//lib/device:zstd.py"),
    Label("//lib/gpus:families.py"),
    Label("//lib/gpus:table.py"),
]

# Python runs in UTF-8 mode (PEP 540) while repositories are fetched. Otherwise a locale with another encoding would give
# manifests wrong file names.
_UTF8 = ["-X", "utf8"]

# Isolated Python has no search path but its own, so it is told where the module's sources begin.
_ISOLATED = ["-I", "-B", "-c"]
_BOOTSTRAP = "import sys, importlib; sys.path.insert(0, sys.argv.pop(1)); sys.exit(importlib.import_module(sys.argv.pop(1)).main(sys.argv[1:]))"
_ANCHOR = Label("//tools/fetch:catalog/catalog.py")

def fetching_python(ctx, purpose, with_pip = False):
    """Returns what every command begins with that runs Python while repositories are fetched.

    Args:
        ctx: a repository_ctx or module_ctx.
        purpose: what needs Python, as the beginning of an error.
        with_pip: whether it needs pip, too; errors name it then.

    Returns:
        list of the interpreter's path and its options.
    """
    python = ctx.which("python3")
    if not python:
        fail("{} needs `python3` (3.11 or newer{}) on PATH. Install it; on Debian, with `apt-get install {}`.".format(
            purpose,
            ", with pip" if with_pip else "",
            "python3-pip" if with_pip else "python3",
        ))
    return [python] + _UTF8

def run_program(ctx, module, arguments, sources = [], timeout = 3600):
    """Runs `main` of a Python module of this project; fails with what it says if it fails.

    Args:
        ctx: a repository_ctx or module_ctx.
        module: dotted name, `tools.fetch.catalog.catalog`.
        arguments: list of strings and paths.
        sources: labels of the files that the program consists of, to be watched.
        timeout: seconds.

    Returns:
        What it printed to standard output.
    """
    python = fetching_python(ctx, "Fetching repositories")
    for source in sources:
        ctx.watch(ctx.path(source))  # From Bazel 8 on, path() alone does not.
    root = ctx.path(_ANCHOR).dirname.dirname.dirname.dirname
    result = ctx.execute(python + _ISOLATED + [_BOOTSTRAP, root, module] + arguments, timeout = timeout)
    if result.return_code != 0:
        fail("\n" + (result.stderr.strip() or "{}: exit code {}".format(module, result.return_code)))
    return result.stdout

# Attributes of a rule that calls `download_locked`.
LOCKED_ATTRS = {
    "auth_patterns": attr.string_dict(doc = "Patterns of credentials, as http_archive has them."),
    "lock_file": attr.string(doc = "The lock file that names what is downloaded, for errors."),
    "netrc": attr.string(doc = "The .netrc file to use, as http_archive has it."),
    "sha256": attr.string(doc = "SHA-256 of what is downloaded, in hex."),
}

def download_locked(rctx, urls, file_name, what, remedy):
    """Downloads a file that a lock file names into the repository; fails if there is none with its SHA-256.

    Args:
        rctx: context of a rule with LOCKED_ATTRS.
        urls: where the file is, mirrors after the first.
        file_name: name of the file in the repository.
        what: what the file is, for errors.
        remedy: what to do, for errors.
    """
    rctx.report_progress("fetching " + file_name)
    result = rctx.download(allow_fail = True, auth = get_auth(rctx, urls), output = file_name, sha256 = rctx.attr.sha256, url = urls)
    if not result.success:
        fail("\n{}: {} could not be fetched with the SHA-256 {} from {}. See the warnings above: it is gone (404), or differs from the locked one (checksum). {}".format(
            rctx.attr.lock_file,
            what,
            rctx.attr.sha256,
            " or ".join(urls),
            remedy,
        ))
