"""The build on a remote execution service, on one worker and on two: the same bytes as here.

    python3 -m tests.remote.execution --root ROOT --programs FOLDER [--artifacts DIR]

Run it from the top of the workspace, as root. ROOT is what engine_root.sh makes; FOLDER gets a virtual environment with
BuildGrid. Nothing runs here in place of a worker (`--remote_local_fallback=false`).
"""

import argparse
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from tests.remote.buildgrid import PLATFORM, BuildGrid, make_programs
from tests.remote.checkouts import Outcome, check_out
from tests.remote.spawns import count_by

#: Seconds after which a call of Bazel has hung: ten times what the slowest takes.
PATIENCE = 1200


def remote_options(service: BuildGrid) -> tuple[str, ...]:
    """Return what the user's rc would say."""
    properties = tuple(f"--remote_default_exec_properties={key}={value}" for key, value in PLATFORM.items())
    return ("--config=remote", f"--remote_executor={service.url}", "--jobs=16", *properties)


def anew(name: str) -> str:
    """Return the option that lets a build find none of the results that the service has from others."""
    return f"--remote_default_exec_properties=case={name}"


def check(case: str, here: Outcome, there: Outcome) -> None:
    """Assert that everything ran remotely and gave the same bytes."""
    there.succeeded()
    runners = {spawn.runner for spawn in there.spawns}
    assert runners <= {"remote", "remote cache hit"}, count_by(there.spawns)
    assert there.distributions == here.distributions, case
    executed = sum(1 for spawn in there.spawns if spawn.runner == "remote")
    print(f"{case}: {there.build.seconds:.1f} s, {executed} actions executed, same bytes", flush=True)


def run(args: argparse.Namespace, folder: Path) -> None:
    """Build here, on one worker and on two."""
    local = check_out(folder / "local", args.artifacts)
    here = local.build().succeeded()
    local.remove()
    with BuildGrid(args.root, make_programs(args.programs), folder / "service") as service:
        checkout = check_out(folder / "remote", args.artifacts, remote_options(service), PATIENCE)
        try:
            service.add_worker()
            check("one worker", here, checkout.build())
            service.add_worker()
            checkout.clean()
            check("two workers", here, checkout.build(anew("two")))
        finally:
            checkout.remove()


def command_line(description: str | None) -> argparse.ArgumentParser:
    """Describe the arguments of what needs a service."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=Path, required=True, help="root file system with the engines (engine_root.sh)")
    parser.add_argument("--programs", type=Path, required=True, help="folder for a virtual environment with BuildGrid")
    parser.add_argument("--artifacts", type=Path, help="artifacts directory; without it, the embedded SDK")
    return parser


def in_scratch(run: Callable[[argparse.Namespace, Path], None], args: argparse.Namespace) -> int:
    """Run something with a folder for all that it makes; returns the exit code."""
    with tempfile.TemporaryDirectory(prefix="rocm-remote-") as folder:
        Path(folder).chmod(0o755)  # PostgreSQL runs as another user
        run(args, Path(folder))
    return 0


if __name__ == "__main__":
    sys.exit(in_scratch(run, command_line(__doc__).parse_args()))
