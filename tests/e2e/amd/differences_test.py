"""Tests of the verdict on differences to AMD's packages: new differences fail, and so do listed ones that are gone."""

from pathlib import Path

import pytest

from tests.e2e.amd.comparison import LIST
from tests.e2e.amd.differences import Difference, Listed, judge, read_list

LISTED = Listed("only ours", "forwarders", path="_rocm_sdk_*/lib/*.so", detail="forwarder")
FORWARDER = Difference("rocm-sdk-core", "_rocm_sdk_core/lib/liba.so", "only ours", "forwarder")


def test_listed_differences_are_fine(capsys: pytest.CaptureFixture[str]) -> None:
    assert judge([FORWARDER], [LISTED]) == 0
    assert capsys.readouterr().out == (
        "     1 only ours: forwarders\n1 differences, 0 of them new; 0 listed ones do not occur\n"
    )


@pytest.mark.parametrize(
    "other",
    [
        Difference("rocm-sdk-core", "_rocm_sdk_core/lib/liba.so", "only ours", "file"),
        Difference("rocm-sdk-core", "_rocm_sdk_core/lib/liba.so", "only AMD", "forwarder"),
        Difference("rocm-sdk-core", "_rocm_sdk_core/bin/a.so", "only ours", "forwarder"),
    ],
)
def test_a_new_difference_fails(other: Difference, capsys: pytest.CaptureFixture[str]) -> None:
    assert judge([FORWARDER, other], [LISTED]) == 1
    assert f"NEW    {other}\n" in capsys.readouterr().out


def test_a_listed_difference_that_is_gone_fails(capsys: pytest.CaptureFixture[str]) -> None:
    assert judge([], [LISTED]) == 1
    assert "GONE   only ours, *, _rocm_sdk_*/lib/*.so, forwarder: remove it" in capsys.readouterr().out


def test_the_list_is_for_a_kind_of_artifacts(tmp_path: Path) -> None:
    path = tmp_path / "list.toml"
    path.write_text('[[difference]]\nwhat = "mode"\nreason = "x"\ninput = "kpack"\n')
    assert read_list(path, "kpack") == [Listed("mode", "x", input="kpack")]
    assert read_list(path, "split") == []
    assert all(entry.reason and entry.input in ("", "split", "kpack") for entry in read_list(LIST, "split"))
