"""The results, as a table in Markdown."""

import statistics
from collections.abc import Sequence
from dataclasses import fields

from tests.benchmark.cost import Cost

#: Of each scenario, by its name, the cost of each run.
Costs = dict[str, list[Cost]]


def median(costs: Sequence[Cost]) -> Cost:
    """Take the median of each measure."""
    values = {one.name: statistics.median(getattr(cost, one.name) for cost in costs) for one in fields(Cost)}
    return Cost(**values)


def _row(name: str, cost: Cost, base: Cost) -> list[str]:
    def versus(ours: float, theirs: float) -> str:
        return f" ({ours / theirs:.3f})" if cost is not base and theirs else ""

    return [
        name,
        f"{cost.seconds:.1f}{versus(cost.seconds, base.seconds)}",
        f"{cost.cpu:.1f}{versus(cost.cpu, base.cpu)}",
        f"{cost.peak / 1e6:.0f}{versus(cost.peak, base.peak)}",
        f"{cost.written / 1e9:.2f}{versus(cost.written, base.written)}",
        f"{cost.produced / 1e9:.3f}",
    ]


def markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table; all columns but the first are flush right."""
    lines = [list(head), ["---"] + ["---:"] * (len(head) - 1), *map(list, rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def costs_table(costs: Costs, baseline: str) -> str:
    """Return the table of all scenarios: medians, and in parentheses ratios to the baseline."""
    medians = {name: median(runs) for name, runs in costs.items()}
    head = ["", "wall s", "CPU s", "peak memory MB", "written GB", "produced GB"]
    return markdown(head, [_row(name, cost, medians[baseline]) for name, cost in medians.items()])
