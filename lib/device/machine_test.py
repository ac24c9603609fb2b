"""The processors that headers of code objects name."""

import pytest

from lib.device.model import PROCESSORS, code_object_target
from lib.gpus.table import TARGETS
from lib.gpus.target_id import GENERIC_PROCESSORS, TargetId


@pytest.mark.parametrize(
    ("flags", "name"),
    [(0x54C, "gfx942"), (0x3F, "gfx90a"), (0x41, "gfx1100"), (0x10005F, "gfx9-4-generic"), (0x49, "gfx1250")],
)
def test_the_number_says_the_processor_whatever_the_features(flags: int, name: str) -> None:
    assert code_object_target(flags) == TargetId(name)


def test_numbers_that_are_reserved_or_new_are_none() -> None:
    assert [code_object_target(flags) for flags in (0, 0x27, 0x4D, 0xFE)] == [None] * 4


def test_every_target_that_is_built_for_has_a_number() -> None:
    assert {target.name for target in TARGETS if target.built} <= set(PROCESSORS.values())
    assert len(set(PROCESSORS.values())) == len(PROCESSORS)
    assert {name for name in PROCESSORS.values() if name.endswith("generic")} <= set(GENERIC_PROCESSORS)
