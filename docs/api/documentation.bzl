"""documentation: what a public Starlark file declares, as a binary proto."""

visibility("private")

def documentation(name, deps = [], **kwargs):
    """Declares the documentation of a file of //rules.

    Args:
        name: name of the file, without `.bzl`.
        deps: Starlark libraries that its own names as files.
        **kwargs: further attributes of `starlark_doc_extract`.
    """
    native.starlark_doc_extract(
        name = name,
        src = "//rules:{}.bzl".format(name),
        deps = ["//rules"] + deps,
        **kwargs
    )
