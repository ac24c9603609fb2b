"""The module extension behind `@site_pypi`: MkDocs and what it needs, locked apart, and fetched only if the site is built."""

load(":pypi.bzl", "pypi_repositories")
load(":requirements_lock.bzl", "parse_requirements_lock")

visibility("private")

_LOCK = Label("//tools/python:site_requirements.txt")

def _site_dependencies_impl(mctx):
    pypi_repositories("site_pypi", parse_requirements_lock(mctx.read(_LOCK), str(_LOCK)))
    return mctx.extension_metadata(reproducible = True)

site_dependencies = module_extension(
    doc = "Fetches MkDocs Material, locked by hash.",
    implementation = _site_dependencies_impl,
)
