"""pytest_test: a `py_test` that runs pytest on its sources."""

load("@rules_python//python:defs.bzl", "py_test")

visibility(["//..."])

def pytest_test(name, srcs, deps = [], data = [], args = [], **kwargs):
    """Declares a test.

    Args:
        name: name of the target.
        srcs: files with tests.
        deps: Python libraries, pytest apart.
        data: files that the tests read.
        args: further arguments for pytest.
        **kwargs: further attributes of `py_test`.
    """
    py_test(
        name = name,
        srcs = srcs + [Label("//develop/testing:pytest_main.py")],
        main = Label("//develop/testing:pytest_main.py"),
        args = ["$(rootpath {})".format(src) for src in srcs] + args,
        data = data + srcs,
        deps = deps + [Label("//tools/lib/common:wheel_scripts"), "@pypi//pytest"],
        **kwargs
    )
