"""One artifact out of an archive: a file on this machine, or a file that a lock file names and Bazel downloads.

Each has a repository of its own. So an archive is fetched and unpacked when a package that needs it is, and again only
if it changed.
"""

load("//tools/fetch:run_program.bzl", "CATALOG_SOURCES", "LOCKED_ATTRS", "download_locked", "run_program")

visibility(["//rules/..."])

# What names of archives end with.
SUFFIXES = [".tar.gz", ".tar.xz", ".tar.zst"]

def archive_suffix(file_name):
    """Returns which of SUFFIXES a file's name ends with, or None."""
    found = [suffix for suffix in SUFFIXES if file_name.endswith(suffix)]
    return found[0] if found else None

def _artifact_archive_impl(rctx):
    decoder = ["--zstd", rctx.path(rctx.attr._zstd_codec)] if rctx.attr.suffix == ".tar.zst" else []
    file_name = rctx.attr.artifact + rctx.attr.suffix
    if rctx.attr.urls:
        remedy = "Write {} again with `bazel run @rules_rocm_python//tools/fetch/lock`, or add a mirror that has it".format(rctx.attr.lock_file)
        download_locked(rctx, rctx.attr.urls, file_name, "the archive of " + rctx.attr.artifact, remedy)
        archive = rctx.path(file_name)
    else:
        archive = rctx.path(rctx.attr.file)
        if not rctx.attr.stamp:
            rctx.watch(archive)
    rctx.report_progress("unpacking " + file_name)
    run_program(rctx, "tools.fetch.catalog.one_archive", [
        "--archive",
        archive,
        "--artifact",
        rctx.attr.artifact,
        "--repository",
        rctx.name,
        "--output",
        rctx.path("."),
        "--sha256",
        rctx.attr.sha256,
    ] + decoder, rctx.attr._sources)
    if rctx.attr.urls:
        rctx.delete(archive)

artifact_archive = repository_rule(
    doc = "The artifact in one archive, as the target that has its name.",
    implementation = _artifact_archive_impl,
    attrs = LOCKED_ATTRS | {
        "artifact": attr.string(mandatory = True, doc = "`{name}_{component}_{target}`."),
        "file": attr.string(doc = "Absolute path of the archive, if it is a file of the machine."),
        "stamp": attr.string(doc = "Changes when the file does; if empty, Bazel watches the file's content."),
        "suffix": attr.string(mandatory = True, values = SUFFIXES, doc = "What the archive's name ends with."),
        "urls": attr.string_list(doc = "Where the archive is, mirrors after the first, if it is downloaded."),
        "_sources": attr.label_list(default = CATALOG_SOURCES, allow_files = True),
        "_zstd_codec": attr.label(default = "@zstd_codec//:zstd_codec.so", allow_single_file = True),
    },
)
