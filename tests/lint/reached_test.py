"""Every test of the repository is reached by //tests/..., or is a check of .ci/run.

BUILD files are read as Python, whose syntax they share: `bazel query` cannot run inside a test. `.ci/run every-test`
asks it, and sees the tests that macros declare, too.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

from develop.ci.checks import CHECKS
from tests.lint.workspace import WORKSPACE, sources

#: Projects of their own, with workspaces of their own.
OTHER_PROJECTS = (
    "examples/another_sdk/",
    "examples/pip_parse/",
    "hip/examples/programs/",
    "hip/examples/wheel/",
    "tests/e2e/consumer/acme/",
    "tests/e2e/foreign_sdks/project/",
)
#: The suite that brings tests from beside the code to //tests/....
SUITE = "//tests:unit"
#: Suites in it: analysis tests, which macros declare.
NESTED = {"//hip/tests"}


@dataclass(frozen=True)
class Target:
    """A test, as its BUILD file declares it."""

    label: str
    #: Names and patterns of files, relative to the package; `{}` stands for what a loop fills in.
    sources: frozenset[str]
    is_manual: bool


def strings(node: ast.expr | None) -> frozenset[str]:
    """Return all strings that an expression has, those in calls of glob() among them."""
    found = ast.walk(node) if node else ()
    return frozenset(one.value for one in found if isinstance(one, ast.Constant) and isinstance(one.value, str))


def calls(build_file: str) -> Iterator[tuple[str, dict[str | None, ast.expr]]]:
    """Yield what a BUILD file calls: the name and the keyword arguments."""
    for node in ast.walk(ast.parse((WORKSPACE / build_file).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            yield node.func.id, {keyword.arg: keyword.value for keyword in node.keywords}


def build_files() -> list[str]:
    """List the BUILD files of this project."""
    return [path for path in sources("BUILD.bazel") if not path.startswith(OTHER_PROJECTS)]


def targets(build_file: str) -> Iterator[Target]:
    """Yield the tests that a BUILD file declares. Of a name that it computes, the parts are joined by `*`."""
    package = str(PurePosixPath(build_file).parent)
    for function, given in calls(build_file):
        if function.endswith("_test") and "name" in given:
            files = strings(given.get("srcs")) | strings(given.get("script"))
            label = f"//{package}:{'*'.join(sorted(strings(given['name'])))}"
            yield Target(label, files, "manual" in strings(given.get("tags")))


TARGETS = [target for path in build_files() for target in targets(path)]
#: Packages with a suite `tests` of all their tests.
OWN_SUITES = {
    f"//{PurePosixPath(path).parent}"
    for path in build_files()
    for function, given in calls(path)
    if function == "test_suite" and "tests" not in given
}


def named_by(label: str) -> str:
    """Return what the suite has to name so that it has a test: the test, or the suite of its package."""
    package = label.partition(":")[0]
    return f"{package}:tests" if package in OWN_SUITES else label


def has_target(path: str) -> bool:
    """Tell whether a file is among the sources of a test of the package that it is in."""
    package = next(parent for parent in PurePosixPath(path).parents if (WORKSPACE / parent / "BUILD.bazel").exists())
    name = str(PurePosixPath(path).relative_to(package))
    own = (target for target in TARGETS if target.label.startswith(f"//{package}:"))
    patterns = (pattern.replace("{}", "*").replace("**/", "*") for target in own for pattern in target.sources)
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def test_the_suite_has_every_test_beside_the_code() -> None:
    """And nothing else, so that a folder that moves leaves no line behind."""
    (suite,) = (strings(given["tests"]) for function, given in calls("tests/BUILD.bazel") if function == "test_suite")
    beside_code = {named_by(target.label) for target in TARGETS if not target.label.startswith("//tests")}
    assert len(beside_code) > 20
    assert beside_code - suite == set(), f"add these to {SUITE}, or `bazelw test //tests/...` leaves them out"
    assert suite - beside_code == NESTED, f"{SUITE} names tests that are not there"


def test_no_test_is_left_out_by_a_tag() -> None:
    assert [target.label for target in TARGETS if target.is_manual] == []


def test_every_file_of_tests_is_run() -> None:
    """By a target, or by name in .ci/run, where it needs more than Bazel gives."""
    checked = {module for check in CHECKS for module in check.tests}
    files = [path for path in sources("_test.py") if not path.startswith(OTHER_PROJECTS)]
    assert len(files) > 100
    unreached = [path for path in files if not has_target(path) and path not in checked]
    assert unreached == [], "name each in `srcs` of a test, or as the tests of a check in develop/ci/checks.py"
    assert [path for path in checked if not Path(WORKSPACE, path).exists()] == []
