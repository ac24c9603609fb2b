"""The model of a service, held against a real one: the measured actions of a build, replayed on 1, 2, 4 and 8 workers.

    python3 -m tests.remote.replay --root ROOT --programs FOLDER --graph RESULTS/scaling.json

Run it from the top of the workspace, as root; ROOT and FOLDER are as for tests.remote.execution, the graph is what
`//tests/benchmark:scaling` writes. Each action waits for the same others as it did and sleeps as long as it took: so
eight workers find room on a small machine, and Bazel, the queue and the workers are real. What an action takes beyond
its command is taken from the run on one worker, and from nothing else. Bytes are not replayed: no such machine has the
disks and the network of eight.
"""

import argparse
import json
import statistics
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tests.benchmark.action_graph import Action, Service, from_documents, schedule
from tests.remote.buildgrid import BuildGrid, make_programs
from tests.remote.checkouts import PATIENCE, Checkout, check_out
from tests.remote.execution import command_line, in_scratch, remote_options

WORKERS = (1, 2, 4, 8)
RULE = """\
def _replayed(ctx):
    output = ctx.actions.declare_file(ctx.label.name + ".out")
    ctx.actions.run_shell(
        outputs = [output],
        inputs = ctx.files.after,
        command = "sleep {} && echo {} > {}".format(ctx.attr.seconds, ctx.label.name, output.path),
        mnemonic = "Replayed",
    )
    return [DefaultInfo(files = depset([output]))]

replayed = rule(_replayed, attrs = {"after": attr.label_list(), "seconds": attr.string()})
"""


def anew(name: str) -> str:
    """Return the option that lets a build find none of the results that the service has from others."""
    return f"--remote_default_exec_properties=case={name}"


def read_graph(path: Path) -> list[Action]:
    """Read the actions of a measured build, without their bytes."""
    actions = from_documents(json.loads(path.read_text(encoding="utf-8"))["actions"])
    return [replace(action, inputs={}, outputs={}) for action in actions]


def write_package(actions: Sequence[Action], package: Path) -> None:
    """Write a package with a target for each action."""
    package.mkdir()
    (package / "replayed.bzl").write_text(RULE, encoding="utf-8")
    lines = ['load(":replayed.bzl", "replayed")']
    for number, action in enumerate(actions):
        after = [f":action{need}" for need in action.after]
        lines.append(
            f'replayed(name = "action{number}", seconds = "{action.seconds:.3f}", after = {json.dumps(after)})'
        )
    (package / "BUILD.bazel").write_text("\n".join(lines) + "\n", encoding="utf-8")


def measure(checkout: Checkout, case: str, count: int) -> float:
    """Return the seconds of a build in which every action is executed."""
    options = (anew(case), "--jobs=100")
    checkout.build(*options, "--nobuild", targets=("//replay:all",)).succeeded()
    outcome = checkout.build(*options, targets=("//replay:all",)).succeeded()
    executed = sum(1 for spawn in outcome.spawns if spawn.runner == "remote")
    assert executed == count, f"{executed} of {count} actions executed"
    return outcome.build.seconds


def run(args: argparse.Namespace, folder: Path) -> None:
    """Replay on more and more workers, and print what was measured beside what the model says."""
    actions = read_graph(args.graph)
    overhead = 0.0
    with BuildGrid(args.root, make_programs(args.programs), folder / "service") as service:
        checkout = check_out(folder / "remote", None, remote_options(service), PATIENCE)
        write_package(actions, checkout.workspace.directory / "replay")
        try:
            for workers in WORKERS:
                while len(service.workers) < workers:
                    service.add_worker()
                runs = [measure(checkout, f"{workers}-{number}", len(actions)) for number in range(args.runs)]
                seconds = statistics.median(runs)
                if workers == 1:
                    overhead = (seconds - sum(action.seconds for action in actions)) / len(actions)
                    print(f"{len(actions)} actions, {overhead:.3f} s beyond the command of each", flush=True)
                said, _ = schedule(actions, Service(workers, float("inf"), overhead))
                print(f"{workers} workers: {seconds:.1f} s, the model says {said:.1f} s", flush=True)
        finally:
            checkout.remove()


def parse(argv: Sequence[str] | None = None) -> argparse.Namespace:
    """Parse the command line."""
    parser = command_line(__doc__)
    parser.add_argument("--graph", type=Path, required=True, help="scaling.json of //tests/benchmark:scaling")
    parser.add_argument("--runs", type=int, default=1, help="builds per number of workers (default: %(default)s)")
    return parser.parse_args(argv)


if __name__ == "__main__":
    sys.exit(in_scratch(run, parse()))
