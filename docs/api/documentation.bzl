"""documentation: what a public Starlark file declares, as a binary proto."""

visibility("private")

def documentation(name, src = None, library = "//rules", deps = [], **kwargs):
    """Declares the documentation of a public file.

    Args:
        name: name of the file, without `.bzl`, unless `src` names it.
        src: label of the file; by default, the file of //rules that is called `name`.
        library: label of the library that has the file.
        deps: Starlark libraries that its own names as files.
        **kwargs: further attributes of `starlark_doc_extract`.
    """
    native.starlark_doc_extract(
        name = name,
        src = src or "//rules:{}.bzl".format(name),
        deps = [library] + deps,
        **kwargs
    )
