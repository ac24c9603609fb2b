"""Persistent workers make what processes of their own make: real builds of one SDK, both ways.

    .ci/run workers

Run it from the top of the workspace; it needs nothing else.
"""

import contextlib
import hashlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.builds.actions_test import FILES
from tests.e2e.builds.counted import Sdk, planted
from tests.e2e.testing.builds import WORKSPACE

#: Runs each action in a process and a sandbox of its own.
WITHOUT_WORKERS = "--spawn_strategy=sandboxed"
#: Gives workers the sandbox that other actions have, as `--config=ci` does.
SANDBOXED_WORKERS = ("--worker_sandboxing", "--experimental_worker_sandbox_hardening")
#: Many and short.
IN_WORKERS = ("RocmInspect", "RocmLink", "RocmPack", "RocmPlan", "RocmPlatformTag", "RocmSbom")
#: Bazel's closing line: how many actions ran, and where.
PROCESSES = re.compile(r"^INFO: \d+ process(?:es)?: (.*)\.$", re.MULTILINE)


@pytest.fixture(scope="module")
def sdk() -> Iterator[Sdk]:
    """Lay an SDK out and build it."""
    with planted(FILES) as one:
        yield one


@pytest.fixture
def sandboxed(sdk: Sdk) -> Path:
    """Have workers in sandboxes; returns the output base."""
    change(sdk, b"\n\n")
    sdk.build(*SANDBOXED_WORKERS)
    return Path(sdk.workspace.info("output_base"))


def digests() -> dict[str, str]:
    """Return the SHA-256 of every distribution, plan and report, by name."""
    packages = (WORKSPACE / "bazel-bin/packaging").resolve()
    made = [path for path in packages.rglob("*") if path.suffix in (".whl", ".gz", ".json", ".metadata", ".seg")]
    return {str(path.relative_to(packages)): hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(made)}


def change(sdk: Sdk, end: bytes = b"") -> None:
    """Put another end to every file, so that all actions run again."""
    for path, content in FILES.items():
        sdk.write(path, content + end)


def places(output: str) -> str:
    """Return what Bazel says of where actions ran."""
    match = PROCESSES.search(output)
    assert match, output
    return match[1]


def workers_of(output_base: Path) -> Iterator[Path]:
    """Yield the directories in /proc of the workers in sandboxes that a Bazel has, not of what puts them there."""
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it ended
            arguments = (process / "cmdline").read_text().split("\0")
            if "--persistent_worker" in arguments and arguments[0].startswith(f"{output_base}/bazel-workers/"):
                yield process


def test_workers_make_the_same_bytes(sdk: Sdk) -> None:
    before = digests()
    change(sdk, b"\n")
    build = sdk.build()
    assert f" {sum(len(build.ran(mnemonic)) for mnemonic in IN_WORKERS)} worker" in places(build.output)
    change(sdk)
    without = places(sdk.build(WITHOUT_WORKERS).output)
    assert "sandbox" in without
    assert "worker" not in without
    assert digests() == before
    assert len(before) > 30
    change(sdk, b"\n")
    sdk.build()
    change(sdk)
    assert " worker" in places(sdk.build(*SANDBOXED_WORKERS).output)
    assert digests() == before


def test_sandboxed_workers_have_no_network(sandboxed: Path) -> None:
    """They have a network namespace of their own (namespaces(7)), as actions in the sandbox do."""
    networks = {(process / "ns/net").readlink() for process in workers_of(sandboxed)}
    assert networks
    assert Path("/proc/self/ns/net").readlink() not in networks


def test_sandboxed_workers_see_a_machine_that_is_read_only(sandboxed: Path) -> None:
    """As actions in the sandbox do (proc_pid_mountinfo(5)), and the directory that they run in is their own."""
    workers = list(workers_of(sandboxed))
    assert workers
    for process in workers:
        mounts = (line.split() for line in (process / "mountinfo").read_text().splitlines())
        options = {place: options.split(",") for _, _, _, _, place, options, *_ in mounts}
        assert "ro" in options["/"]
        assert "ro" in options.get(str(WORKSPACE), options["/"])
        assert (process / "cwd").readlink().is_relative_to(sandboxed / "bazel-workers")


def test_a_changed_tree_is_what_a_worker_sees(sdk: Sdk) -> None:
    """A worker that has run before has nothing of it left."""
    path = "blas_dev_generic/stage/include/blas.h"
    for content in (b"int once(void);\n", FILES[path]):
        sdk.write(path, content)
        sdk.build()
        with_workers = digests()
        sdk.write(path, b"int between(void);\n")
        sdk.build()
        sdk.write(path, content)
        sdk.build(WITHOUT_WORKERS)
        assert digests() == with_workers


def test_an_error_reads_the_same_and_the_next_build_is_well(sdk: Sdk) -> None:
    """Bazel stops all that runs beside what failed: in which workers, depends on the moment."""
    path = "blas_lib_generic/stage/lib/libblas.so.1"
    messages = set()
    for options in [(WITHOUT_WORKERS,), *[()] * 5]:
        sdk.build()
        sdk.write(path, FILES[path][:100])
        build = sdk.workspace.build("//packaging:all_wheels", options=options)
        assert not build.succeeded
        messages.add(next(line for line in build.output.splitlines() if line.startswith("ERROR: //packaging:")))
        sdk.write(path, FILES[path])
        sdk.build(*options)
    assert len(messages) == 1, messages
