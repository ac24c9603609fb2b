"""Tests of the tool: real ELF files, inspected and planned, against a tag."""

import json
from pathlib import Path
from typing import Any

import pytest

from develop.testing.artifacts import file, library, plan
from develop.testing.elf_sample import Sample
from lib.plan.model import Definition
from tools.actions.inspect.tool import file_facts
from tools.actions.platform_tag.tool import main


def prove(directory: Path, tag: str, sample: Sample | None, *options: str) -> tuple[int, Any]:
    """Run the tool on a package of one library, or of one data file; return exit code and report."""
    (directory / "liba.so.1").write_bytes(sample.build() if sample else b"data")
    found = library("lib/liba.so.1", "liba.so.1") if sample else file("lib/liba.so.1")
    made = plan(Definition("core", "runtime", "_core"), found)
    facts = {"core_lib_generic/stage/lib/liba.so.1": file_facts(str(directory / "liba.so.1"), "a")}
    (directory / "facts").write_text(json.dumps({"artifact": "a", "unit": "a/small", "files": facts}))
    (directory / "plan").write_text(json.dumps(made.to_document()))
    arguments = [f"--{name}={directory}/{name}" for name in ("plan", "facts")]
    output = directory / "report"
    output.unlink(missing_ok=True)
    arguments += [
        f"--output={output}",
        "--label=//:core_wheel",
        "--distribution=x",
        "--setting=//:tag",
        f"--tag={tag}",
        *options,
    ]
    code = main(arguments)
    return code, json.loads(output.read_text()) if output.exists() else None


def test_report_of_a_real_library(tmp_path: Path) -> None:
    sample = Sample(soname="liba.so.1", needed=("libc.so.6",), versions=(("libc.so.6", ("GLIBC_2.2.5", "GLIBC_2.28")),))
    code, report = prove(tmp_path, "linux_x86_64", sample)
    assert (code, report["lowest"]) == (0, "manylinux_2_28_x86_64")
    assert report["because"] == ["lib/liba.so.1 needs GLIBC_2.28 of libc.so.6"]
    assert prove(tmp_path, "manylinux_2_28_x86_64.manylinux_2_31_x86_64", sample) == (0, report)


def test_one_tag_of_a_set_that_promises_more(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sample = Sample(soname="liba.so.1", versions=(("libc.so.6", ("GLIBC_2.28",)),))
    assert prove(tmp_path, "manylinux_2_28_x86_64.manylinux2014_x86_64", sample) == (1, None)
    assert capsys.readouterr().err == (
        "ERROR: //:core_wheel: platform tag manylinux2014_x86_64 promises more than the files keep: "
        "lib/liba.so.1 needs GLIBC_2.28 of libc.so.6. Expected manylinux_2_28_x86_64. "
        "Set --//:tag=manylinux_2_28_x86_64\n"
    )


def test_externals(tmp_path: Path) -> None:
    sample = Sample(soname="liba.so.1", needed=("libnuma.so.1",), versions=())
    assert prove(tmp_path, "manylinux_2_28_x86_64", sample)[0] == 1
    code, report = prove(tmp_path, "manylinux_2_28_x86_64", sample, "--external=libnuma.so.1")
    assert (code, report["external"]) == (0, {"libnuma.so.1": {"": "lib/liba.so.1"}})


@pytest.mark.parametrize("tag", ["any", "win_amd64", "manylinux_2_28_aarch64"])
def test_without_elf_files_every_tag_will_do(tmp_path: Path, tag: str) -> None:
    code, report = prove(tmp_path, tag, None)
    assert (code, report["lowest"]) == (0, "any")


def test_an_unknown_tag_is_one_message(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert prove(tmp_path, "any", Sample(soname="liba.so.1")) == (1, None)
    assert capsys.readouterr().err.startswith("ERROR: //:core_wheel: platform tag 'any': no such tag is known")


def test_a_packaged_library_that_is_not_reached_is_noted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    base = plan(Definition("base", "runtime", "_base"), library("lib/libb.so.1", "libb.so.1"))
    (tmp_path / "base").write_text(json.dumps(base.to_document()))
    sample = Sample(soname="liba.so.1", needed=("libb.so.1",), versions=())
    code, report = prove(tmp_path, "linux_x86_64", sample, f"--builds-on={tmp_path}/base")
    assert (code, report["unreached"]) == (0, {"libb.so.1": {"": "lib/liba.so.1"}})
    assert capsys.readouterr().err.startswith(
        "NOTE: //:core_wheel: 1 packaged libraries are in directories that are not searched: "
        "lib/liba.so.1 needs libb.so.1. Name these"
    )
    code, report = prove(tmp_path, "linux_x86_64", sample, f"--builds-on={tmp_path}/base", "--kind=devel")
    assert (code, report["unreached"], capsys.readouterr().err) == (0, {}, "")
