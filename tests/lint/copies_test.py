"""What has to be written in two languages says the same in both."""

import re

from tests.lint.workspace import WORKSPACE
from tools.fetch.catalog.names import ARCHIVES


def test_suffixes_of_archives() -> None:
    rule = (WORKSPACE / "rules/private/repositories/artifact_archive.bzl").read_text(encoding="utf-8")
    (starlark,) = re.findall(r"^SUFFIXES = \[(.*)\]$", rule, re.MULTILINE)
    assert set(re.findall(r'"([\w.]+)"', starlark)) == set(ARCHIVES)
    script = (WORKSPACE / "tools/fetch/catalog/fingerprint.sh").read_text(encoding="utf-8")
    (shell,) = re.findall(r"\*\.tar\.\{(.*?)\}", script)
    assert {f".tar.{one}" for one in shell.split(",")} == set(ARCHIVES)
