"""HIP programs on a remote execution service: the same bytes as here, and what a change runs there.

    python3 -m hip.tests.e2e.remote --root ROOT --programs FOLDER --artifacts DIR

Run it from the top of the workspace, as root. The arguments are as for tests.remote.execution; DIR has artifacts of
ROCm 6 or newer. hip/examples/programs is built here and by two workers, which have a C++ compiler of their
own in ROOT. Nothing runs here instead of a worker.
"""

import argparse
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

from hip.tests.e2e.programs import EXAMPLE, TARGETS, copy_project, outputs
from tests.e2e.testing.builds import Workspace, built
from tests.remote.buildgrid import PLATFORM, BuildGrid, make_programs
from tests.remote.execution import command_line, in_scratch
from tests.remote.spawns import Spawn, read_spawns

#: What runs where Bazel runs, in any build: it makes no file that others need.
HERE = {"internal"}


def remote_options(service: BuildGrid) -> tuple[str, ...]:
    """Return what the project's .bazelrc would say."""
    properties = tuple(f"--remote_default_exec_properties={key}={value}" for key, value in PLATFORM.items())
    downloads = "--remote_download_outputs=all"  # they are compared
    return (f"--remote_executor={service.url}", "--remote_local_fallback=false", "--jobs=16", downloads, *properties)


def build(workspace: Workspace, log: Path) -> list[Spawn]:
    """Build everything; return the commands that Bazel had executed."""
    log.unlink(missing_ok=True)
    built(workspace.build("//...", options=(f"--execution_log_json_file={log}",)))
    return read_spawns(log)


def check(what: str, spawns: list[Spawn]) -> Counter[str]:
    """Assert that workers ran all commands; return how many of each mnemonic that the cache did not know.

    With --remote_download_outputs=all, Bazel 7.7 asks the cache again for actions with lists of unused inputs: it keeps
    these in memory, and looks for them on the disk (bazelbuild/bazel#29993). By default it asks for nothing.
    """
    runners = {spawn.runner for spawn in spawns} - HERE
    assert runners <= {"remote", "remote cache hit"}, f"{what}: {runners}"
    counted = Counter(spawn.mnemonic for spawn in spawns if spawn.runner == "remote")
    print(f"{what}: {dict(sorted(counted.items()))}", flush=True)
    return counted


def run(args: argparse.Namespace, folder: Path) -> None:
    """Build here and there; change a kernel there."""
    workspace = copy_project(folder, EXAMPLE, args.artifacts.resolve())
    built(workspace.build("//..."))
    here = outputs(workspace)
    workspace.run("shutdown")
    with BuildGrid(args.root, make_programs(args.programs), folder / "service") as service:
        there = replace(
            workspace,
            startup=(f"--output_base={folder / 'base'}", "--digest_function=SHA256"),
            options=(*workspace.options, *remote_options(service)),
        )
        try:
            for _ in range(2):
                service.add_worker()
            compiled = check("two workers", build(there, folder / "spawns.json"))
            assert compiled["HipCompileDevice"] > 0, compiled
            assert outputs(there) == here, sorted({*outputs(there).items()} ^ {*here.items()})
            print(f"the same bytes: {len(here)} files", flush=True)
            source = there.directory / "saxpy.hip"
            text = source.read_text(encoding="utf-8")
            source.write_text(text.replace("a * x[i] + y[i]", "y[i] + a * x[i]"), encoding="utf-8")
            changed = check("a kernel changed", build(there, folder / "spawns.json"))
            assert changed["HipCompileDevice"] == len(TARGETS), changed
        finally:
            there.run("shutdown")
            workspace.run("clean", "--expunge")


if __name__ == "__main__":
    sys.exit(in_scratch(run, command_line(__doc__).parse_args()))
