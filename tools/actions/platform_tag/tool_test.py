"""Tests of the tool: real ELF files, inspected and planned, against a tag."""

import json
from pathlib import Path
from typing import Any

import pytest

from develop.testing.artifacts import file, library, plan
from develop.testing.elf_sample import Sample
from lib.common.program import ToolError
from lib.plan.model import Definition
from lib.wheel.platform_policy import promises
from tools.actions.inspect.tool import file_facts
from tools.actions.platform_tag.needs import Need, Needs, TagReport
from tools.actions.platform_tag.tool import Judgement, check, judge, main, notes


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


SETTING = "//packaging:platform_tag"


def needing(*wanted: str, path: str = "lib/liba.so.1") -> Needs:
    """Make the needs of one file: `library` or `library:version` each."""
    split = (text.partition(":") for text in sorted(wanted))
    return Needs(files=1, system=tuple(Need(library, version or None, path) for library, _, version in split))


def refused(needs: Needs, tag: str) -> str:
    """Return the error about a tag."""
    (promise,) = promises(tag)
    with pytest.raises(ToolError) as error:
        check(judge(needs, promise.architecture), promise, SETTING)
    return str(error.value)


@pytest.mark.parametrize(
    ("wanted", "lowest"),
    [
        (["libc.so.6"], "manylinux_2_5_x86_64"),
        (["libc.so.6:GLIBC_2.5"], "manylinux_2_5_x86_64"),
        (["libc.so.6:GLIBC_2.6"], "manylinux_2_12_x86_64"),
        (["libc.so.6:GLIBC_2.17", "libstdc++.so.6:GLIBCXX_3.4.22"], "manylinux_2_24_x86_64"),
        (["libstdc++.so.6:GLIBCXX_3.4.9", "libc.so.6:GLIBC_2.34"], "manylinux_2_34_x86_64"),
        (["libgcc_s.so.1:GCC_7.0.0"], "manylinux_2_27_x86_64"),
        (["libz.so.1", "libz.so.1:ZLIB_1.2.9"], "manylinux_2_27_x86_64"),
        (["libexpat.so.1"], "manylinux_2_12_x86_64"),
        (["ld-linux-x86-64.so.2:GLIBC_2.3"], "manylinux_2_5_x86_64"),
        (["libc.so.6:GLIBC_PRIVATE"], "linux_x86_64"),
        (["libnuma.so.1", "libnuma.so.1:libnuma_1.1"], "linux_x86_64"),
    ],
)
def test_lowest_tag(wanted: list[str], lowest: str) -> None:
    assert judge(needing(*wanted), "x86_64").tag == lowest


def test_lowest_tag_of_another_architecture() -> None:
    assert judge(needing("libc.so.6:GLIBC_2.17"), "aarch64").tag == "manylinux_2_17_aarch64"


def test_it_says_what_asks_for_the_tag() -> None:
    needs = needing("libc.so.6:GLIBC_2.2.5", "libc.so.6:GLIBC_2.34", "libstdc++.so.6:GLIBCXX_3.4.29")
    assert judge(needs, "x86_64").because == (
        Need("libc.so.6", "GLIBC_2.34", "lib/liba.so.1"),
        Need("libstdc++.so.6", "GLIBCXX_3.4.29", "lib/liba.so.1"),
    )
    assert judge(needing("libc.so.6"), "x86_64").because == ()


def test_of_a_library_that_no_system_has_the_versions_are_not_named_too() -> None:
    judgement = judge(needing("libnuma.so.1", "libnuma.so.1:libnuma_1.1"), "x86_64")
    assert judgement.because == (Need("libnuma.so.1", None, "lib/liba.so.1"),)


@pytest.mark.parametrize("tag", ["linux_x86_64", "manylinux_2_34_x86_64", "manylinux_2_39_x86_64"])
def test_a_promise_that_is_kept(tag: str) -> None:
    (promise,) = promises(tag)
    check(judge(needing("libc.so.6:GLIBC_2.34"), "x86_64"), promise, SETTING)


def test_a_promise_that_is_not_kept_names_the_right_value() -> None:
    needs = needing("libc.so.6:GLIBC_2.34", "libc.so.6:GLIBC_2.5", "libstdc++.so.6:GLIBCXX_3.4.29")
    assert refused(needs, "manylinux_2_28_x86_64") == (
        "platform tag manylinux_2_28_x86_64 promises more than the files keep: "
        "lib/liba.so.1 needs GLIBC_2.34 of libc.so.6; lib/liba.so.1 needs GLIBCXX_3.4.29 of libstdc++.so.6. "
        "Expected manylinux_2_34_x86_64. Set --//packaging:platform_tag=manylinux_2_34_x86_64"
    )


def test_of_many_things_some_are_named() -> None:
    error = refused(needing(*(f"libc.so.6:GLIBC_2.{minor}" for minor in range(28, 35))), "manylinux_2_27_x86_64")
    assert error.count(" needs ") == 3
    assert "GLIBC_2.30 of libc.so.6 and 4 more. Expected manylinux_2_34_x86_64. Set" in error


def test_a_library_that_nobody_brings_is_to_be_shipped_or_declared() -> None:
    assert refused(needing("libnuma.so.1", "libc.so.6:GLIBC_2.5"), "manylinux_2_28_x86_64") == (
        "platform tag manylinux_2_28_x86_64 promises more than the files keep: "
        "lib/liba.so.1 needs libnuma.so.1. Expected linux_x86_64. Set --//packaging:platform_tag=linux_x86_64, "
        "or see to libnuma.so.1: ship it in an artifact of this package or one that it builds on, or declare "
        "it in `externals` of the wheel, if users have to have it"
    )


def test_of_packaged_libraries_that_are_not_reached_the_system_serves_its_own() -> None:
    wanted = needing("libz.so.1:ZLIB_1.2.9", "liba.so.1", "liba.so.1:A_9").system
    needs = Needs(files=1, system=needing("libc.so.6:GLIBC_2.5").system, unreached=wanted)
    assert judge(needs, "x86_64").tag == "manylinux_2_27_x86_64"
    assert refused(needs, "manylinux_2_24_x86_64").startswith(
        "platform tag manylinux_2_24_x86_64 promises more than the files keep: "
        "lib/liba.so.1 needs ZLIB_1.2.9 of libz.so.1. Expected manylinux_2_27_x86_64. "
    )


def test_what_is_not_reached_is_noted() -> None:
    assert list(notes(Needs())) == []
    (note,) = notes(Needs(unreached=needing("liba.so.1", "liba.so.1:A_9", "libb.so.1", path="bin/x").system))
    assert note == (
        "2 packaged libraries are in directories that are not searched: bin/x needs liba.so.1, bin/x needs libb.so.1. "
        "Name these in `rpath`, or the libraries in `externals`"
    )


def test_a_program_for_windows_without_its_dll_is_noted() -> None:
    (note,) = notes(Needs(unreached=needing("amdhip64_7.dll", path="lib/tool.exe").system))
    assert note == (
        "1 packaged libraries are in other directories: lib/tool.exe needs amdhip64_7.dll. Put each beside the "
        "program, or let PATH lead to it"
    )


def test_a_package_for_another_architecture() -> None:
    needs = Needs(foreign=("lib/liba.so.1", "lib/libb.so.1"))
    assert refused(needs, "linux_aarch64") == (
        "platform tag linux_aarch64: no file of the package is for aarch64, lib/liba.so.1 for instance; "
        "expected some that are. Set --//packaging:platform_tag to a tag of the architecture that was packaged"
    )


def test_report() -> None:
    needs = Needs(
        files=2,
        system=needing("libc.so.6", "libc.so.6:GLIBC_2.34").system,
        packaged=needing("libb.so.1", path="bin/tool").system,
        unreached=needing("libd.so.1", path="bin/tool").system,
        external=needing("libnuma.so.1").system,
        foreign=("lib/libold.so",),
    )
    report = judge(needs, "x86_64").report("rocm-sdk-core")
    assert TagReport.from_document(report.to_document()) == report
    assert report.to_document() == {
        "distribution": "rocm-sdk-core",
        "lowest": "manylinux_2_34_x86_64",
        "because": ["lib/liba.so.1 needs GLIBC_2.34 of libc.so.6"],
        "files": 2,
        "system": {"libc.so.6": {"": "lib/liba.so.1", "GLIBC_2.34": "lib/liba.so.1"}},
        "packaged": {"libb.so.1": {"": "bin/tool"}},
        "unreached": {"libd.so.1": {"": "bin/tool"}},
        "external": {"libnuma.so.1": {"": "lib/liba.so.1"}},
        "foreign": ["lib/libold.so"],
    }


def test_another_document_is_no_report() -> None:
    with pytest.raises(ToolError, match=r"^expected the report of a platform tag: .*'entries'"):
        TagReport.from_document({"distribution": "x", "lowest": "any", "entries": []})


def test_without_elf_files_any_is_right() -> None:
    assert Judgement().report("data").lowest == "any"


def test_for_windows_a_library_is_to_be_shipped_or_declared() -> None:
    """No tag promises less."""
    needs = needing("kernel32.dll", "msvcp140.dll", path="bin/amdhip64_7.dll")
    assert judge(needs, "amd64").tag == "win_amd64"
    assert refused(needs, "win_amd64") == (
        "platform tag win_amd64 promises more than the files keep: bin/amdhip64_7.dll needs msvcp140.dll. Expected "
        "what packages bring, or every such system has. See to msvcp140.dll: ship it in an artifact of this package or "
        "one that it builds on, or declare it in `externals` of the wheel, if users have to have it"
    )
