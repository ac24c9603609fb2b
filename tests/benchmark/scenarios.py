"""What is measured: a change to an SDK that is built, and the build that follows it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from tests.benchmark.artifacts import change_header, change_library, find_header, find_library, read_all
from tests.benchmark.cost import Cost, Meter
from tests.e2e.testing.builds import Build, Workspace, built

#: All scenarios, in the order in which they are run.
NAMES = ("cold", "no-op", "small library", "librocfft", "big library", "header", "version", "new server")
#: Actions whose first output is a distribution.
DISTRIBUTIONS = ("RocmLink", "RocmSdist")


def _unchanged(_: int) -> tuple[str, ...]:
    return ()


def _as_it_is(_: Workspace) -> None:
    pass


@dataclass(frozen=True)
class Scenario:
    """A change to measure, with its name and description."""

    name: str
    description: str
    #: Makes the change; gets a number that no other call gets, and returns further options of the build.
    change: Callable[[int], tuple[str, ...]] = _unchanged
    #: Is called before the change, when all is built.
    prepare: Callable[[Workspace], None] = _as_it_is


def _library(path: Path) -> Callable[[int], tuple[str, ...]]:
    def change(number: int) -> tuple[str, ...]:
        change_library(path, number)
        return ()

    return change


def _header(path: Path) -> Callable[[int], tuple[str, ...]]:
    def change(number: int) -> tuple[str, ...]:
        change_header(path, number)
        return ()

    return change


def _version(number: int) -> tuple[str, ...]:
    return (f"--//packaging:version=7.10.0.dev{number}",)


def _libraries(artifacts: Path) -> Iterator[Scenario]:
    for name, library in (("small library", "small"), ("librocfft", "librocfft"), ("big library", "big")):
        if path := find_library(artifacts, library):
            size = path.stat().st_size / 1e6
            yield Scenario(name, f"{path.name} changed ({size:,.1f} MB)", _library(path))


def _call(workspace: Workspace, *arguments: str) -> None:
    result = workspace.run(*arguments)
    if result.returncode:
        raise RuntimeError(f"bazelw {' '.join(arguments)}: exit code {result.returncode}\n{result.stdout}")


def cold(workspace: Workspace) -> None:
    """Forget all that was built, and have a new server build the tools, which it needs for the embedded SDK."""
    _call(workspace, "clean")
    _call(workspace, "shutdown")
    built(replace(workspace, artifacts=None).build("//packaging:all_wheels"))
    if workspace.artifacts:
        read_all(workspace.artifacts)


def _new_server(workspace: Workspace) -> None:
    """Forget what the server knows of files and targets, but not what was built."""
    _call(workspace, "shutdown")


def scenarios(artifacts: Path) -> list[Scenario]:
    """List the scenarios that these artifacts have files for, in the order in which they are run."""
    found = [
        Scenario("cold", "nothing built but the tools", prepare=cold),
        Scenario("no-op", "nothing changed"),
        *_libraries(artifacts),
    ]
    if header := find_header(artifacts):
        found.append(Scenario("header", f"{header.name} changed", _header(header)))
    return [
        *found,
        Scenario("version", "only the version changed", _version),
        Scenario("new server", "nothing changed, after `shutdown`", prepare=_new_server),
    ]


def produced(workspace: Workspace, build: Build) -> int:
    """Add up the sizes in bytes of the distributions that a build made anew."""
    root = Path(workspace.info("execution_root"))
    return sum((root / action.output).stat().st_size for name in DISTRIBUTIONS for action in build.ran(name))


def measure(
    workspace: Workspace, scenario: Scenario, targets: tuple[str, ...], number: int, options: tuple[str, ...]
) -> Cost:
    """Make the change and measure the build that follows. Raises AssertionError when it fails."""
    if scenario.prepare is not cold:
        built(workspace.build(*targets, options=options))  # whatever the scenario before left
    scenario.prepare(workspace)
    options += scenario.change(number)
    with Meter(int(workspace.info("server_pid"))) as meter:
        build = built(workspace.build(*targets, options=options))
    return replace(meter.cost, produced=produced(workspace, build))
