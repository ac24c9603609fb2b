"""The results, as tables in Markdown, as JSON and as charts."""

import itertools
import os
import platform
import statistics
from collections.abc import Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import leather

from tests.benchmark.cost import Cost

#: Of each scenario, by its name, the cost of each run.
Costs = dict[str, list[Cost]]
#: What the flow to compare with is called among scenarios.
SEQUENTIAL = "patchelf + wheel pack"
#: CPU seconds from which a program has a row of its own.
MENTIONED = 0.05
#: Of lines in a chart.
COLORS = ("#e41a1c", "#377eb8", "#4daf4a", "#984ea3", "#ff7f00", "#a65628", "#f781bf", "#333333")


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


def _row(name: str, cost: Cost, baseline: Cost | None) -> list[str]:
    def versus(ours: float, theirs: float) -> str:
        return f" ({ours / theirs:.3f})" if baseline not in (None, cost) and theirs else ""

    base = baseline or cost
    ratio = cost.written / cost.produced if cost.produced else 0.0
    base_ratio = base.written / base.produced if base.produced else 0.0
    return [
        name,
        f"{cost.seconds:.1f}{versus(cost.seconds, base.seconds)}",
        f"{cost.cpu:.1f}{versus(cost.cpu, base.cpu)}",
        f"{cost.peak / 1e6:.0f}{versus(cost.peak, base.peak)}",
        f"{cost.written / 1e9:.2f}{versus(cost.written, base.written)}",
        f"{cost.produced / 1e9:.3f}",
        f"{ratio:.2f}{versus(ratio, base_ratio)}" if ratio else "",
    ]


def markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table; all columns but the first are flush right."""
    lines = [list(head), ["---"] + ["---:"] * (len(head) - 1), *map(list, rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def costs_table(costs: Costs, baseline: str) -> str:
    """Return the table of all scenarios: medians, and in parentheses ratios to the baseline, if that was run."""
    head = ["", "wall s", "CPU s", "peak memory MB", "written GB", "produced GB", "written per byte produced"]
    base = median(costs[baseline]) if baseline in costs else None
    return markdown(head, [_row(name, median(runs), base) for name, runs in costs.items()])


def memory_table(costs: Costs) -> str:
    """Return the table of the peak memory of each tool, in all scenarios."""
    every = median([cost for runs in costs.values() for cost in runs])
    return markdown(["process", "peak memory MB"], [[kind, f"{peak / 1e6:.0f}"] for kind, peak in every.memory.items()])


def programs_table(costs: Costs) -> str:
    """Return the table of CPU time by program, as far as programs stay until the end, and of Bazel itself."""
    medians = [median(runs) for runs in costs.values()]
    names = sorted({name for cost in medians for name in cost.programs if cost.programs[name] >= MENTIONED})
    rows = [[name, *(f"{cost.programs.get(name, 0.0):.1f}" for cost in medians)] for name in names]
    ended = [cost.cpu - sum(cost.programs.get(name, 0.0) for name in names) for cost in medians]
    rows.append(["others, and what ended", *(f"{seconds:.1f}" for seconds in ended)])
    rows.append(["Bazel itself", *(f"{cost.own_cpu:.1f}" for cost in medians)])
    return markdown(["CPU s", *costs], rows)


def scale_table(scaled: dict[int, Costs]) -> str:
    """Return the table of wall time and of CPU time, Bazel's own included, by size of the input.

    In parentheses, the ratio to the smallest.
    """
    rows = []
    for name in scaled[min(scaled)]:
        every = [median(costs[name]) for _, costs in sorted(scaled.items())]
        for measure, times in (
            ("wall s", [cost.seconds for cost in every]),
            ("CPU s", [cost.cpu + cost.own_cpu for cost in every]),
        ):
            rows.append([f"{name}, {measure}", *(f"{time:.1f} ({time / times[0]:.2f})" for time in times)])
    return markdown(["", *(f"{factor}x" for factor in sorted(scaled))], rows)


def machine() -> dict[str, Any]:
    """Say what it was measured on."""
    models = [line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
    return {
        "cores": len(os.sched_getaffinity(0)),
        "load": os.getloadavg(),
        "memory": os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"),
        "processor": models[0].partition(": ")[2] if models else platform.machine(),
        "system": platform.release(),
    }


def document(scaled: dict[int, Costs], baseline: Cost | None) -> dict[str, Any]:
    """Return all results as JSON data: every run."""
    return {
        "machine": machine(),
        "sequential": asdict(baseline) if baseline else None,
        "scale": {
            str(factor): {name: [asdict(cost) for cost in runs] for name, runs in costs.items()}
            for factor, costs in scaled.items()
        },
    }


def draw_costs(costs: Costs, output: Path) -> None:
    """Draw the wall time of each scenario as SVG."""
    bars = [(median(runs).seconds, name) for name, runs in costs.items()]
    chart = leather.Chart("Wall time, s")
    chart.add_bars([(round(seconds, 2), name) for seconds, name in bars], fill_color=COLORS[1])
    chart.to_svg(str(output), width=900, height=60 + 40 * len(bars))


def draw_scale(scaled: dict[int, Costs], output: Path) -> None:
    """Draw wall time by size of the input as SVG, a line for each scenario."""
    chart = leather.Chart("Wall time by size of the input, s")
    for name, color in zip(scaled[min(scaled)], itertools.cycle(COLORS), strict=False):
        times = [(factor, median(costs[name]).seconds) for factor, costs in sorted(scaled.items())]
        chart.add_line(times, name=name, stroke_color=color)
    chart.add_x_scale(0, max(scaled))
    chart.add_x_axis(name="input, as a multiple")
    chart.to_svg(str(output), width=900, height=500)
