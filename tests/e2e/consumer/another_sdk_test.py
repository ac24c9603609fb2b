"""The example `another_sdk`: what is said of each mistake that its README lists.

    .ci/run another-sdk

It is copied out of this workspace. PyPI has to be reached: the wheel with the SDK is fetched from there. That the steps
of the README work, .ci/run pages shows.
"""

import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.e2e.testing.builds import WORKSPACE, Build, Workspace, copy_out


@pytest.fixture(scope="module")
def unfetched() -> Iterator[Workspace]:
    """Copy the project, as it is before its first step. All tests share the server."""
    holder = Path(tempfile.mkdtemp(prefix="rocm-another-sdk-"))
    workspace = copy_out(WORKSPACE / "examples/another_sdk", holder / "arrow", holder / "output_base")
    try:
        yield workspace
    finally:
        workspace.run("shutdown")
        shutil.rmtree(holder, ignore_errors=True)


@pytest.fixture(scope="module")
def arrow(unfetched: Workspace) -> Workspace:
    """Fetch Arrow."""
    subprocess.run([sys.executable, "fetch.py"], cwd=unfetched.directory, check=True)
    return unfetched


@contextmanager
def changed(workspace: Workspace, file: str, old: str, new: str) -> Iterator[None]:
    """Change a text in a file of the project for a while."""
    path = workspace.directory / file
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    try:
        yield
    finally:
        path.write_text(text)


def refused(build: Build) -> str:
    """Return the errors of a build that has to fail."""
    assert not build.succeeded
    return "\n".join(re.findall(r"^ERROR: .*", build.output, re.MULTILINE))


def test_nothing_was_fetched(unfetched: Workspace) -> None:
    build = unfetched.build("//wheels:dist")
    assert not build.succeeded
    assert re.search(r"path=\S*artifacts: cannot be read", build.output)


def test_a_package_lacks_another_that_it_needs(arrow: Workspace) -> None:
    with changed(arrow, "wheels/packages.bzl", '["libparquet"], needs = ["core"]', '["libparquet"], needs = []'):
        said = refused(arrow.build("//wheels:dist"))
    assert re.search(r"//wheels:parquet_wheel: .*lib/libparquet\.so\.\d+ needs libarrow\.so\.\d+", said)
    assert "ship it in an artifact of this package or one that it builds on" in said


def test_a_library_needs_a_newer_system_than_the_tag_promises(arrow: Workspace) -> None:
    with changed(arrow, "BUILD.bazel", "manylinux_2_28_x86_64", "manylinux_2_17_x86_64"):
        said = refused(arrow.build("//wheels:dist"))
    assert "platform tag manylinux_2_17_x86_64 promises more than the files keep" in said
    assert "Set --//:platform_tag=manylinux_2_2" in said


def test_two_packages_contain_the_same_file(arrow: Workspace) -> None:
    with changed(arrow, "wheels/packages.bzl", '["libparquet"]', '["libparquet", "libarrow"]'):
        said = refused(arrow.build("//wheels:dist"))
    assert re.search(r"lib/libarrow\.so\.\d+: from arrow_lib_generic/.*, but package core has this path already", said)
    assert "Exclude it from parquet" in said


def test_two_packages_that_do_not_build_on_each_other_contain_the_same_file(arrow: Workspace) -> None:
    with changed(arrow, "wheels/packages.bzl", '"libarrow_s3"]', '"libarrow_s3", "libparquet"]'):
        said, listing = (refused(arrow.build(f"//wheels:{target}")) for target in ("devel", "libraries"))
    assert re.search(r"//wheels:devel: lib/libparquet\.so\.\d+: package (parquet|flight) has it from arrow_lib", said)
    assert "expected one owner. Exclude it from one of the packages" in said
    assert re.search(r"//wheels:libraries: .* both have libparquet\.so\.\d+; expected one package for each", listing)
