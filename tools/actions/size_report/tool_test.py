"""Tests of the tool: documents in, page, plot and document out."""

import json
from pathlib import Path

import pytest

from develop.testing.size_report_sample import MB, Sample, package, thin_sdk
from tools.actions.size_report.tool import main


def sample(directory: Path) -> Sample:
    """Return core and two thin packages, as arguments of the tool."""
    result = Sample(directory)
    for one in thin_sdk():
        result.add(one)
    return result


def test_the_document_has_the_numbers_in_bytes(tmp_path: Path) -> None:
    document = json.loads(sample(tmp_path).build()["json"])
    core, navi, _ = document["packages"]
    assert core == {
        "distribution": "rocm-sdk-core",
        "package": "core",
        "filename": "rocm_sdk_core-7.0-py3-none-linux_x86_64.whl",
        "targets": [],
        "download": 8 * MB,
        "device": 0,
        "host": 20 * MB,
        "data": 0,
        "installed": 20 * MB,
        "device_by_target": {},
    }
    assert navi["targets"] == ["gfx1030"]
    assert navi["device_by_target"] == {"gfx1030": {"code_objects": 350 * MB, "files": 7 * MB}}
    assert navi["unsliced"] == {
        "device": 474 * MB,
        "host": 40 * MB,
        "data": MB,
        "installed": 515 * MB,
        "unknown_files": 0,
    }
    assert document["totals"]["thin_packages"] == {
        "count": 2,
        "download": 200 * MB,
        "device": 474 * MB,
        "host": 90 * MB,
        "data": 2 * MB,
        "installed": 566 * MB,
    }
    assert document["totals"]["packages"]["count"] == 3


def test_the_page_is_written(tmp_path: Path) -> None:
    written = sample(tmp_path).build()
    assert written["html"].startswith("<!DOCTYPE html>")
    assert "rocm-sdk-libraries-gfx1030" in written["html"]


def test_the_same_bytes_again(tmp_path: Path) -> None:
    (tmp_path / "again").mkdir()
    assert sample(tmp_path).build() == sample(tmp_path / "again").build()


def test_facts_may_lack_device_code(tmp_path: Path) -> None:
    document = json.loads(Sample(tmp_path).add(package("meta", "rocm_meta", [])).build()["json"])
    assert document["totals"]["packages"]["installed"] == 0


def test_a_package_without_a_digest(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = [one for one in sample(tmp_path).arguments if not one.startswith("--digest=core=")]
    assert main(arguments) == 1
    error = capsys.readouterr().err
    assert error.startswith("ERROR: //:size_report: --plan=core=")
    assert "expected the digest of the package's wheel, --digest=core=FILE" in error


def test_a_missing_index_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = [one for one in sample(tmp_path).arguments if not one.startswith("--index=core=")]
    assert main(arguments) == 1
    assert "core: no index has lib/libamdhip64.so.6, which the plan packs" in capsys.readouterr().err
