"""pytest_test: a `py_test` that runs pytest on its sources."""

load("@rules_python//python:defs.bzl", "py_test")

visibility(["//..."])

# What pytest imports, and hypothesis: its bytecode lies beside it, so that no test compiles it anew.
_PYTEST = ["iniconfig", "packaging", "pluggy", "pytest"]
_HYPOTHESIS = ["hypothesis", "sortedcontainers"]

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
    compiled = _PYTEST + (_HYPOTHESIS if "@pypi//hypothesis" in deps else [])
    py_test(
        name = name,
        srcs = srcs + [Label("//develop/testing:pytest_main.py")],
        main = Label("//develop/testing:pytest_main.py"),
        args = ["$(rootpath {})".format(src) for src in srcs] + args,
        data = data + srcs + ["@pypi//{}:bytecode".format(package) for package in compiled],
        deps = deps + [Label("//lib/common:wheel_scripts"), "@pypi//pytest"],
        **kwargs
    )
