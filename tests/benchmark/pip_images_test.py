"""The comparison with pip's images counts the layers that a registry does not have yet."""

from tests.benchmark.cost import Cost
from tests.benchmark.pip_images import Made, row

COST = Cost(seconds=2.04, cpu=3.0, own_cpu=1.0, written=5_000_000_000)


def test_a_row_has_the_sizes_of_all_layers() -> None:
    made = Made(COST, {"core": 2_000_000_000, "libraries": 500_000_000})
    assert row("gfx942", "sdk_image_layout", made) == ["gfx942", "sdk_image_layout", "2.0", "3.0", "5.00", "2.500"]


def test_a_row_after_a_change_has_the_new_layers_alone() -> None:
    before = Made(COST, {"core": 2_000_000_000, "libraries": 500_000_000})
    after = Made(COST, {"core": 2_000_000_000, "changed": 501_000_000})
    assert row("librocfft", "sdk_image_layout", after, before)[-1] == "0.501"
