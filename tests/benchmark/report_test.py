"""Tests of the tables and charts."""

import json
from pathlib import Path
from xml.etree import ElementTree

from tests.benchmark import report
from tests.benchmark.cost import Cost


def cost(seconds: float, memory: int = 100_000_000) -> Cost:
    """Make a cost; everything except time and memory is the same."""
    return Cost(seconds, 2 * seconds, 1.0, 4_000_000_000, 2_000_000_000, {"pack": memory, "link": 50_000_000})


COSTS = {"cold": [cost(10), cost(30, 200_000_000), cost(20)], "no-op": [Cost(0.5, 0, 0.1, 0)]}
BASELINE = Cost(200, 190, 1.0, 20_000_000_000, 2_000_000_000, {"patchelf": 2_000_000_000})
COMPARED = {**COSTS, report.SEQUENTIAL: [BASELINE]}


def test_medians_and_ratios() -> None:
    table = report.costs_table(COMPARED, report.SEQUENTIAL).splitlines()
    assert table[2] == "| cold | 20.0 (0.100) | 40.0 (0.211) | 200 (0.100) | 4.00 (0.200) | 2.000 | 2.00 (0.200) |"
    assert table[3] == "| no-op | 0.5 (0.003) | 0.0 (0.000) | 0 (0.000) | 0.00 (0.000) | 0.000 |  |"
    assert table[4] == "| patchelf + wheel pack | 200.0 | 190.0 | 2000 | 20.00 | 2.000 | 10.00 |"
    assert len({line.count("|") for line in table}) == 1


def test_without_a_flow_to_compare_with() -> None:
    table = report.costs_table(COSTS, report.SEQUENTIAL).splitlines()
    assert len(table) == 4
    assert table[2] == "| cold | 20.0 | 40.0 | 200 | 4.00 | 2.000 | 2.00 |"


def test_memory_is_the_greatest_of_all_runs() -> None:
    assert report.memory_table(COSTS).splitlines()[2:] == ["| link | 50 |", "| pack | 200 |"]


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


def test_scale() -> None:
    table = report.scale_table({1: {"cold": [cost(10)]}, 4: {"cold": [cost(41)]}}).splitlines()
    assert table == [
        "|  | 1x | 4x |",
        "| --- | ---: | ---: |",
        "| cold, wall s | 10.0 (1.00) | 41.0 (4.10) |",
        "| cold, CPU s | 21.0 (1.00) | 83.0 (3.95) |",
    ]


def test_json_has_every_run() -> None:
    document = json.loads(json.dumps(report.document({1: COSTS}, BASELINE)))
    assert [run["seconds"] for run in document["scale"]["1"]["cold"]] == [10, 30, 20]
    assert document["sequential"]["memory"] == {"patchelf": 2_000_000_000}
    assert document["machine"]["cores"] >= 1


def test_charts_show_every_scenario(tmp_path: Path) -> None:
    report.draw_costs(COMPARED, tmp_path / "costs.svg")
    many = {f"scenario {number}": [cost(number)] for number in range(1, 11)}
    report.draw_scale({1: many, 2: many}, tmp_path / "scale.svg")
    for chart, words in (("costs", list(COMPARED)), ("scale", list(many))):
        texts = [element.text for element in ElementTree.parse(tmp_path / f"{chart}.svg").iter() if element.text]
        assert set(words) <= set(texts)
