"""What the rule gives the program."""

from pathlib import Path

from wheels.split.action import wheels_of


def test_a_directory_has_the_wheel_of_another_rule(tmp_path: Path) -> None:
    wheel = tmp_path / "acme-1.0-py3-none-any.whl"
    wheel.touch()
    (tmp_path / "report.txt").touch()
    assert wheels_of(tmp_path) == wheels_of(wheel) == [wheel]
