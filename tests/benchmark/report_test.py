"""Tests of the table."""

from tests.benchmark import report
from tests.benchmark.cost import Cost


def cost(seconds: float, memory: int = 100_000_000) -> Cost:
    """Make a cost; everything except time and memory is the same."""
    return Cost(seconds, 2 * seconds, 4_000_000_000, 2_000_000_000, memory)


def test_medians_and_ratios() -> None:
    costs = {"cold": [cost(10), cost(30, 200_000_000), cost(20, 200_000_000)], "no-op": [Cost(0.5, 0, 0)]}
    assert report.costs_table(costs, "cold").splitlines() == [
        "|  | wall s | CPU s | peak memory MB | written GB | produced GB |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
        "| cold | 20.0 | 40.0 | 200 | 4.00 | 2.000 |",
        "| no-op | 0.5 (0.025) | 0.0 (0.000) | 0 (0.000) | 0.00 (0.000) | 0.000 |",
    ]
