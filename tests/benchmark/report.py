"""The results, as tables in Markdown."""

import statistics
from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from tests.benchmark.cost import Cost

#: Of each scenario, by its name, the cost of each run.
Costs = dict[str, list[Cost]]
#: CPU seconds from which a program has a row of its own.
MENTIONED = 0.05


def median(costs: Sequence[Cost]) -> Cost:
    """Take the median of each measure; of memory, the greatest."""
    values: dict[str, Any] = {
        one.name: statistics.median(getattr(cost, one.name) for cost in costs)
        for one in fields(Cost)
        if one.name not in ("memory", "programs")
    }
    kinds = sorted({kind for cost in costs for kind in cost.memory})
    memory = {kind: max(cost.memory.get(kind, 0) for cost in costs) for kind in kinds}
    names = sorted({name for cost in costs for name in cost.programs})
    programs = {name: statistics.median(cost.programs.get(name, 0.0) for cost in costs) for name in names}
    sizes = {"written": int(values["written"]), "produced": int(values["produced"])}
    return Cost(**values | sizes | {"memory": memory, "programs": programs})


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


def programs_table(costs: Costs) -> str:
    """Return the table of CPU time by program, as far as programs stay until the end, and of Bazel itself."""
    medians = [median(runs) for runs in costs.values()]
    names = sorted({name for cost in medians for name in cost.programs if cost.programs[name] >= MENTIONED})
    rows = [[name, *(f"{cost.programs.get(name, 0.0):.1f}" for cost in medians)] for name in names]
    ended = [cost.cpu - sum(cost.programs.get(name, 0.0) for name in names) for cost in medians]
    rows.append(["others, and what ended", *(f"{seconds:.1f}" for seconds in ended)])
    rows.append(["Bazel itself", *(f"{cost.own_cpu:.1f}" for cost in medians)])
    return markdown(["CPU s", *costs], rows)
