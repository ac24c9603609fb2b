"""Tests of the tables."""

from tests.benchmark import report
from tests.benchmark.cost import Cost


def cost(seconds: float, memory: int = 100_000_000) -> Cost:
    """Make a cost; everything except time and memory is the same."""
    return Cost(seconds, 2 * seconds, 1.0, 4_000_000_000, 2_000_000_000, {"pack": memory, "link": 50_000_000})


def test_medians_and_ratios() -> None:
    costs = {"cold": [cost(10), cost(30, 200_000_000), cost(20)], "no-op": [Cost(0.5, 0, 0.1, 0)]}
    assert report.costs_table(costs, "cold").splitlines() == [
        "|  | wall s | CPU s | peak memory MB | written GB | produced GB |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
        "| cold | 20.0 | 40.0 | 200 | 4.00 | 2.000 |",
        "| no-op | 0.5 (0.025) | 0.0 (0.000) | 0 (0.000) | 0.00 (0.000) | 0.000 |",
    ]


def test_programs_that_stay_have_a_row_each() -> None:
    workers = [Cost(1, cpu, 9.0, 0, programs={"pack": cpu - 1, "link": 0.5, "sh": 0.01}) for cpu in (30, 10, 20)]
    assert report.programs_table({"processes": [cost(10)], "workers": workers}).splitlines() == [
        "| CPU s | processes | workers |",
        "| --- | ---: | ---: |",
        "| link | 0.0 | 0.5 |",
        "| pack | 0.0 | 19.0 |",
        "| others, and what ended | 20.0 | 0.5 |",
        "| Bazel itself | 1.0 | 9.0 |",
    ]
