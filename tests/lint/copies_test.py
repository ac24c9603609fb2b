"""What has to be written in two languages says the same in both."""

import re

from lib.elf.platforms import CPUS
from lib.pack.segment import LEVELS
from lib.pe.constants import DLL_DIRECTORIES
from lib.wheel.machines import platforms
from tests.lint.workspace import WORKSPACE
from tools.fetch.catalog.names import ARCHIVES, COMPONENTS


def listed(path: str, name: str) -> set[str]:
    """Return the strings of a list or tuple, on one line, that a file defines."""
    text = (WORKSPACE / path).read_text(encoding="utf-8")
    (found,) = re.findall(rf"^{name} = [\[(](.*)[\])]$", text, re.MULTILINE)
    return set(re.findall(r'"([^"]+)"', found))


def test_suffixes_of_archives() -> None:
    assert listed("rules/private/repositories/artifact_archive.bzl", "SUFFIXES") == set(ARCHIVES)
    script = (WORKSPACE / "tools/fetch/catalog/fingerprint.sh").read_text(encoding="utf-8")
    (shell,) = re.findall(r"\*\.tar\.\{(.*?)\}", script)
    assert {f".tar.{one}" for one in shell.split(",")} == set(ARCHIVES)


def test_components_of_artifacts() -> None:
    assert listed("rules/shared/names.bzl", "COMPONENTS") == set(COMPONENTS)


def test_values_of_compression() -> None:
    assert set(LEVELS) == listed("rules/settings/compression.bzl", "COMPRESSIONS")
    tool = (WORKSPACE / "tools/actions/pack/tool.py").read_text(encoding="utf-8")
    (names,) = re.findall(r"^    compression: Literal\[(.*)\] = ", tool, re.MULTILINE)
    assert set(LEVELS) == set(re.findall(r'"(\w+)"', names))


def test_attributes_that_hip_wheel_passes_on() -> None:
    """`sdk` and `init_py` are its own; `rewrite_record` is an attribute of both rules."""
    requiring = listed("rules/private/new_wheels.bzl", "_OPTIONS") - {"init_py"} | {"rewrite_record"}
    assert listed("hip/private/hip_wheel.bzl", "_REQUIRING") == requiring


def test_directories_of_dlls() -> None:
    assert set(DLL_DIRECTORIES) == listed("packaging/rocm/src/rocm_sdk/library_table.py", "DLL_DIRECTORIES")


def test_cpus() -> None:
    labels = {f"linux_{cpu.name}" for cpu in CPUS}
    options = (WORKSPACE / ".bazelrc").read_text(encoding="utf-8")
    assert set(re.findall(r"--platforms=//:(linux_\w+)", options)) == labels
    zig = (WORKSPACE / "rules/private/repositories/zig.bzl").read_text(encoding="utf-8")
    assert set(re.findall(r'^    "(linux_\w+)": "', zig, re.MULTILINE)) == labels
    for cpu in CPUS:
        assert platforms([f"a-1-py3-none-linux_{cpu.name}.whl"]) == {("Linux", cpu.name)}
