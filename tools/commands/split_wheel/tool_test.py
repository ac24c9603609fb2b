"""The command line: its help teaches, and its exit status says how it ended."""

from pathlib import Path

import pytest

from tools.commands.split_wheel import tool
from tools.commands.split_wheel.sample import written
from tools.lib.variants.variant_format import DRAFT


def test_the_help_has_examples_shapes_and_the_exit_status(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        tool.main(["--help"])
    said = capsys.readouterr().out
    parts = ("examples:\n", "shapes:\n", "exit status:\n", "split-wheel acme-1.0", "'acme[device-gfx1100]'", DRAFT)
    for part in parts:
        assert part in said


@pytest.mark.parametrize("arguments", [[], ["a.whl"], ["a.whl", "--targets=gfx942", "--output=x", "--shape=all"]])
def test_a_wrong_command_line(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        tool.main(arguments)
    assert "usage: split-wheel" in capsys.readouterr().err


def test_an_interrupted_run_leaves_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("tools.commands.split_wheel.write.write_wheel", interrupted)
    assert tool.main([str(written(tmp_path)), "--targets=gfx942", f"--output={tmp_path / 'thin'}"]) == 130
    assert capsys.readouterr().err == "split-wheel: interrupted; what is there is whole\n"
    assert not (tmp_path / "thin").exists()
