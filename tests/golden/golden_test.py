"""Plans and coverage of the mini SDK are as they were, every treatment, target and reason."""

from pathlib import Path

import pytest

HERE = Path(__file__).parent
BUILT = HERE.parent / "mini"


def names(folder: Path) -> list[str]:
    """Plans and coverage tables below a folder, as `layout/package.plan.json`."""
    return sorted(str(path.relative_to(folder)) for path in folder.glob("*/*.json"))


def test_every_plan_has_a_golden_one() -> None:
    assert names(BUILT) == names(HERE)


@pytest.mark.parametrize("name", names(BUILT))
def test_plan_is_the_golden_one(name: str) -> None:
    golden = (HERE / name).read_text(encoding="utf-8")
    assert (BUILT / name).read_text(encoding="utf-8") == golden, "if this is meant: bazel run //tests/golden:update"
