"""What a cluster needs for this input, and for ten and a hundred times as much: a model, from a measured build.

    bazel run //tests/benchmark:scaling -- --artifacts DIR --output RESULTS

Builds //packaging:all_wheels here, one action at a time, and reads from Bazel's execution log what each action took,
read and wrote. From that it says how long a service with N workers like this machine takes, each of which executes one
action at a time (`tests.benchmark.action_graph`). `--overhead` and `--bandwidth` are the service's; the former is what
`tests.remote.replay` prints of a real one. The build is made on two cores and on one: the difference says what one
machine with more cores takes. Writes scaling.md, scaling.json and scaling.svg.
"""

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import leather

from tests.benchmark.action_graph import (
    Action,
    Service,
    common_inputs,
    copies,
    critical_path,
    documents,
    graph,
    on_cores,
    schedule,
)
from tests.benchmark.report import COLORS, markdown
from tests.benchmark.scratch import remove
from tests.e2e.testing.builds import Workspace, built
from tests.remote.spawns import read_spawns

TARGET = "//packaging:all_wheels"
#: By the multiple of the input and by the number of workers: seconds, and bytes between store and workers.
Predictions = dict[int, dict[int, tuple[float, int]]]

FACTORS = (1, 10, 100)
WORKERS = (1, 2, 4, 8, 16, 32, 64, 128, 256)
#: Of one machine.
CORES = (1, 2, 4, 8, 16, 64)


@contextmanager
def cores_in_use(count: int) -> Iterator[None]:
    """Let this process, and what it starts, run on so many cores. Raises ValueError when there are fewer."""
    before = os.sched_getaffinity(0)
    if len(before) < count:
        raise ValueError(f"{len(before)} cores here; expected at least {count}")
    os.sched_setaffinity(0, sorted(before)[:count])
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def record(artifacts: Path, scratch: Path, cores: int) -> tuple[list[Action], float]:
    """Build here, one action at a time, with the tools built before; return the actions and the build's seconds."""
    log = scratch / "spawns.json"
    workspace = Workspace(
        Path(os.environ["BUILD_WORKSPACE_DIRECTORY"]),
        environment={"PATH": os.environ["PATH"]},
        startup=(f"--output_base={scratch / 'output_base'}", "--max_idle_secs=60"),
        options=("--symlink_prefix=/", f"--execution_log_json_file={log}"),
    )
    try:
        built(workspace.build(TARGET))
        workspace.run("shutdown")
        with cores_in_use(cores):
            build = built(replace(workspace, artifacts=artifacts).build(TARGET, options=("--jobs=1",)))
        return graph([spawn for spawn in read_spawns(log) if spawn.mnemonic.startswith("Rocm")]), build.seconds
    finally:
        workspace.run("shutdown")
        remove(scratch / "output_base")


def source_bytes(actions: Sequence[Action]) -> int:
    """Return the bytes of all inputs that no action makes: what Bazel uploads once."""
    made = {path for action in actions for path in action.outputs}
    return sum({path: size for action in actions for path, size in action.inputs.items() if path not in made}.values())


def by_mnemonic(actions: Sequence[Action]) -> list[list[str]]:
    """Return a row for each kind of action: how many, seconds, the longest, bytes in and out."""
    tools, rows = common_inputs(actions), []
    for mnemonic in sorted({action.mnemonic for action in actions}):
        ours = [action for action in actions if action.mnemonic == mnemonic]
        taken = sum(size for action in ours for path, size in action.inputs.items() if path not in tools)
        given = sum(sum(action.outputs.values()) for action in ours)
        seconds = [action.seconds for action in ours]
        rows.append(
            [
                mnemonic,
                str(len(ours)),
                f"{sum(seconds):.1f}",
                f"{max(seconds):.2f}",
                f"{taken / 1e9:.3f}",
                f"{given / 1e9:.3f}",
            ]
        )
    return rows


def predictions(actions: Sequence[Action], bandwidth: float, overhead: float) -> Predictions:
    """Return what the model says of each multiple of the input."""
    found: Predictions = {}
    for factor in FACTORS:
        bigger = copies(actions, factor)
        found[factor] = {workers: schedule(bigger, Service(workers, bandwidth, overhead)) for workers in WORKERS}
    return found


def on_one_machine(on_one: Sequence[Action], on_two: Sequence[Action]) -> list[list[str]]:
    """Return a row for each number of cores: the critical path, and what a build takes at least, in seconds."""
    work, rows = sum(action.seconds for action in on_one), []
    for cores in CORES:
        longest = critical_path(on_cores(on_one, on_two, cores))
        rows.append([str(cores), f"{longest:.1f}", f"{max(longest, work / cores):.1f}"])
    return rows


def chart(found: Predictions, path: Path) -> None:
    """Draw how many times faster more workers are, a line for each multiple of the input."""
    drawing = leather.Chart("How many times as fast as one worker")
    for color, (factor, row) in zip(COLORS, found.items(), strict=False):
        points = [(workers, row[1][0] / seconds) for workers, (seconds, _) in row.items()]
        drawing.add_line(points, name=f"{factor}x the input", stroke_color=color)
    drawing.add_x_scale(0, max(WORKERS))
    drawing.add_x_axis(name="workers")
    drawing.to_svg(str(path), width=900, height=500)


def report(actions: Sequence[Action], on_one: Sequence[Action], seconds: float, args: argparse.Namespace) -> str:
    """Return the tables, and write JSON and the chart beside."""
    found = predictions(actions, args.bandwidth * 1e6, args.overhead)
    chart(found, args.output / "scaling.svg")
    work = sum(action.seconds for action in actions)
    facts = {
        "actions": len(actions),
        "seconds of all commands": round(work, 1),
        "seconds of the build, one action at a time": round(seconds, 1),
        "seconds of the critical path": round(critical_path(actions), 1),
        "bytes of artifacts and tools that Bazel uploads once": source_bytes(actions),
    }
    results = {"facts": facts, "predictions": found, "actions": documents(actions)}
    (args.output / "scaling.json").write_text(json.dumps(results) + "\n")
    head = ["action", "number", "seconds", "longest", "GB read", "GB written"]
    rows = [[str(workers), *(f"{found[factor][workers][0]:.0f}" for factor in FACTORS)] for workers in WORKERS]
    moved = [f"{factor}x: {found[factor][max(WORKERS)][1] / 1e9:.0f} GB" for factor in FACTORS]
    return "\n".join(
        [
            "".join(f"- {name}: {value}\n" for name, value in facts.items()),
            markdown(head, by_mnemonic(actions)),
            markdown(["workers", *(f"{factor}x, s" for factor in FACTORS)], rows),
            f"Between store and workers, with the most workers: {', '.join(moved)}.\n",
            markdown(["cores of one machine", "critical path, s", "at least, s"], on_one_machine(on_one, actions)),
        ]
    )


def main() -> int:
    """Parse the arguments and run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--artifacts", type=Path, required=True, help="artifacts directory")
    parser.add_argument("--output", type=Path, required=True, help="folder for the results")
    parser.add_argument("--bandwidth", type=float, default=500, help="MB a second to a worker (%(default)s)")
    parser.add_argument("--overhead", type=float, default=0.37, help="seconds beyond each command (%(default)s)")
    args = parser.parse_args()
    args.output.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="rocm-scaling-") as folder:
        on_one, _ = record(args.artifacts, Path(folder), cores=1)
        actions, seconds = record(args.artifacts, Path(folder), cores=2)
    text = report(actions, on_one, seconds, args)
    (args.output / "scaling.md").write_text(text)
    print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
