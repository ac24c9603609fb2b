"""The plans of the mini SDK are as they were: every treatment, target and reason."""

from pathlib import Path

import pytest

HERE = Path(__file__).parent
BUILT = HERE.parent / "mini"


def names() -> list[str]:
    return sorted(path.name for path in BUILT.glob("*.plan.json"))


def test_every_plan_has_a_golden_one() -> None:
    assert names() == sorted(path.name for path in HERE.glob("*.plan.json"))


@pytest.mark.parametrize("name", names())
def test_plan_is_the_golden_one(name: str) -> None:
    golden = (HERE / name).read_text(encoding="utf-8")
    assert (BUILT / name).read_text(encoding="utf-8") == golden, "if this is what you meant: bazel run //tests/golden:update"
