"""Plants known bugs in the tools, and says how soon random SDKs find each.

    python3 -B -m tests.pipeline.plants               # all: some minutes
    python3 -B -m tests.pipeline.plants --only RPATH  # with this text

A search that finds nothing proves something only if it would have found what
was there. So every defect of the past that this pipeline can show is in
`PLANTS`: what it was, how it is made again, and in how many cases it must be
found. Exits with 1 if one is not found.
"""

import argparse
import contextlib
import sys
import time
import zlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any
from unittest import mock

from hypothesis import given, seed, settings

from lib.common.program import ToolError, read_document
from lib.device import slice_plan
from lib.elf.source import Source
from lib.gpus import paths as gpu_paths
from lib.gpus.target_id import SPIRV
from lib.pack import content, packed_tree, stand_ins
from lib.wheel import wheel_writer as wheel
from tests.pipeline import run
from tests.pipeline.drawing import ONLY_FRESH
from tests.pipeline.package_reader import FindingError
from tests.pipeline.properties import VARIATIONS, holds, is_reproducible, second_run_is_fresh
from tests.pipeline.random_sdks import sdks_and_changes
from tests.pipeline.sdk import Sdk
from tools.actions.inspect import tool as inspect_tool
from tools.actions.link import tool as link_tool
from tools.actions.plan import devel, forwarders, prefix, rpath, runtime, slicing
from tools.actions.plan import tool as plan_tool
from tools.fetch.catalog import names, scan

#: Patches a module's function; `with` undoes it.
Patch = contextlib.AbstractContextManager[Any]


def instead(module: Any, name: str, new: Any) -> Callable[[], Patch]:
    """Plant a value, or a function, instead of a module's."""
    return lambda: mock.patch.object(module, name, new)


def around(module: Any, name: str, new: Callable[..., Any]) -> Callable[[], Patch]:
    """Plant a function that gets the real one as first argument."""
    real = getattr(module, name)
    return instead(module, name, lambda *args, **named: new(real, *args, **named))


def by_oracle(before: Sdk, _: Sdk) -> None:
    """Build an SDK, and ask the oracle."""
    holds(before)


def by_variation(before: Sdk, _: Sdk) -> None:
    """Build an SDK in two ways."""
    is_reproducible(before, VARIATIONS[zlib.crc32(repr(before).encode()) % len(VARIATIONS)])


def by_second_run(before: Sdk, after: Sdk) -> None:
    """Build an SDK, change it, and build it with what is known from the first time."""
    second_run_is_fresh(before, after)


@dataclass(frozen=True)
class Plant:
    """A bug."""

    item: str
    """The part of the packages that it concerns, or a number of a class of defects."""
    words: str
    plant: Callable[[], Patch]
    within: int = 1500
    """Cases in which it must be found."""
    check: Callable[[Sdk, Sdk], None] = by_oracle
    kind: str = "usual"


def _first_mode_wins(real: Any, artifacts: Any, *rest: Any) -> Any:
    merged, equal = real(artifacts, *rest)
    modes: dict[str, str] = {}
    for artifact in sorted(artifacts, key=lambda one: one.name):
        for found in sorted(artifact.found, key=lambda one: (one.path, one.source)):
            modes.setdefault(found.path, found.mode)
    return {path: replace(found, mode=modes[path]) for path, found in merged.items()}, equal


def _without_opens(real: Any, *arguments: Any) -> Any:
    return real(*arguments) | {"opens": False}


def _refusing_damage(real: Any, path: str, source: str) -> Any:
    facts = real(path, source)
    if "damage" in facts:
        raise ToolError(facts["damage"])
    return facts


def _all_scripts(real: Any, path: str, module: str, plan: Any, label: str) -> Any:
    del real, plan, label
    return [(row["script"], f"{module}:run") for row in read_document(path)]


def undeclared(part: str) -> Callable[[], Patch]:
    """Plant a rule that does not declare inputs whose paths hold a text."""

    def key(real: Any, build: Any, main: Any, arguments: Any, paths: Any) -> Any:
        return real(build, main, arguments, [path for path in paths if part not in str(path)])

    return around(run, "_key", key)


PLANTS = (
    Plant(
        "2",
        "launchers of the wrong CPU are packaged",
        around(content, "finished_launcher", lambda real, program, path, target, _: real(program, path, target)),
    ),
    Plant("2", "a launcher's CPU is not compared", instead(stand_ins, "_check_machine", lambda *_: None)),
    Plant("3", "an alias of another build of the library", instead(runtime, "_is_same", lambda *_: True)),
    Plant("3", "an alias of what nobody ships", instead(runtime, "_has_library", lambda *_: True)),
    Plant(
        "4",
        "a segment without bytes past the file's end is refused",
        around(Source, "require", lambda real, self, offset, size, what: real(self, offset, max(size, 1), what)),
    ),
    Plant("4", "what is excluded has to be readable", around(inspect_tool, "file_facts", _refusing_damage)),
    Plant(
        "6", "modes are taken as they are", instead(scan, "normal_mode", lambda mode: mode & 0o7777), check=by_variation
    ),
    Plant("6", "the first mode wins", around(plan_tool, "merge", _first_mode_wins)),
    Plant("6", "devel: a file that is run only there is linked", instead(devel, "is_executable", lambda _: False)),
    Plant("8", "the build machine's RPATH stays", instead(rpath, "is_relocatable", bool)),
    Plant(
        "8",
        "RPATH of another depth",
        around(rpath, "origin_relative", lambda real, tree, path, searched: real(tree, f"x/{path}", searched)),
    ),
    Plant("8", "what opens libraries gets no RPATH", around(inspect_tool, "elf_facts", _without_opens)),
    Plant(
        "8",
        "an empty DT_RUNPATH is kept",
        around(inspect_tool, "_entries", lambda real, text: real(text or None)),
        within=3000,
    ),
    Plant(
        "9", "a launcher to what nobody ships", instead(runtime, "_launchers_that_reach", lambda entries, *_: entries)
    ),
    Plant("9", "a launcher of a program that is not executable", instead(runtime, "_check_started", lambda *_: None)),
    Plant("9", "a script without its tool", around(link_tool, "console_scripts", _all_scripts)),
    Plant("10", "names of 255 bytes are too long when escaped", instead(names, "PART_MAX", 255), within=1500),
    Plant("plan", "a link is followed once", instead(prefix, "MAX_LINKS", 1)),
    Plant(
        "plan",
        "`**` does not go across directories",
        around(
            runtime,
            "matches",
            lambda real, path, patterns: real(path, tuple(one.replace("**", "*") for one in patterns)),
        ),
    ),
    Plant("plan", "two packages have one path", instead(runtime, "check_owners", lambda *_: None)),
    Plant(
        "plan",
        "a forwarder to the oldest version",
        around(forwarders, "_age", lambda real, soname: [(-number, text) for number, text in real(soname)]),
    ),
    Plant(
        "pack",
        "a forwarder for another CPU",
        around(content, "forwarder", lambda real, name, target, machine: real(name, target, 62 + 183 - machine)),
    ),
    Plant("link", "equal sources are not compared", instead(packed_tree, "_check_equal", lambda *_: None)),
    Plant(
        "link",
        "RECORD without sizes of empty files",
        around(wheel, "record_text", lambda real, *args: real(*args).replace(",0\n", ",\n")),
    ),
    Plant("5", "a licence text twice", around(link_tool, "license_paths", lambda real, *args: real(*args) * 2)),
    Plant(
        "link", "a licence text is left out", around(link_tool, "license_paths", lambda real, *args: real(*args)[:-1])
    ),
    Plant("devel", "links are one level short", around(devel, "_sibling", lambda real, *args: real(*args)[3:])),
    Plant("devel", "links to what is not in the tree are kept", instead(devel, "_led", lambda entry, *_: entry)),
    Plant(
        "thin",
        "features of code do not count",
        around(
            slice_plan,
            "can_load",
            lambda real, code, target: real(replace(code, features=()), replace(target, features=())),
        ),
        kind="thin",
        within=1500,
    ),
    Plant(
        "thin",
        "code for generic processors is lost",
        around(
            slice_plan, "can_load", lambda real, code, target: "generic" not in code.processor and real(code, target)
        ),
        kind="thin",
    ),
    Plant(
        "thin",
        "portable code is lost",
        around(slice_plan, "can_load", lambda real, code, target: code.processor != SPIRV and real(code, target)),
        kind="thin",
    ),
    Plant("thin", "all code is kept", instead(slice_plan, "can_load", lambda *_: True), kind="thin"),
    Plant(
        "thin",
        "code objects in another order",
        around(
            slice_plan,
            "_remainder",
            lambda real, old, kept: real(old, kept if len(kept) == len(old.code_objects) else kept[::-1]),
        ),
        kind="thin",
    ),
    Plant(
        "thin",
        "code for GPUs that no package is for is lost",
        instead(slicing, "_check_code", lambda *_: None),
        kind="thin",
    ),
    Plant(
        "thin", "name and code of a file are not compared", instead(runtime, "check_name", lambda *_: None), kind="thin"
    ),
    Plant("thin", "a link to a file for other GPUs", instead(runtime, "_others", lambda *_: None), kind="thin"),
    Plant(
        "thin",
        "a name with two targets goes to the last alone",
        around(gpu_paths, "named_targets", lambda real, *args: real(*args)[-1:]),
        kind="thin",
        within=1500,
    ),
    Plant("gate", "a pattern that matches nothing is no error", instead(plan_tool, "check_patterns", lambda *_: None)),
    Plant("gate", "a package without a file is no error", instead(plan_tool, "check_not_empty", lambda *_: None)),
    Plant(
        "gate",
        "what is only called like a library is no error",
        instead(inspect_tool, "missing_file", lambda *_: None),
        kind="thin",
    ),
    Plant(
        "second run",
        "a rule does not declare what the BUILD file says",
        undeclared("definition.json"),
        check=by_second_run,
    ),
    Plant("second run", "a rule does not declare names and modes", undeclared("/manifests/"), check=by_second_run),
    Plant("second run", "a rule does not declare the files", undeclared("/files/"), check=by_second_run),
)


def search(plant: Plant, number: int) -> tuple[int, float, str]:
    """Try random SDKs until one shows the defect; return how many, the seconds, and what was found, or nothing."""
    cases, start, found = 0, time.monotonic(), ""

    @seed(number)
    @settings(ONLY_FRESH, max_examples=plant.within)
    @given(sdks_and_changes(plant.kind))
    def trial(pair: tuple[Sdk, Sdk]) -> None:
        nonlocal cases
        cases += 1
        plant.check(*pair)

    with plant.plant():
        try:
            trial()
        except FindingError as error:
            found = f"{type(error).__name__}: {error}".partition("\n")[0]
    return cases, time.monotonic() - start, found


def main(argv: list[str]) -> int:
    """Search for each defect, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="words of the defects to plant")
    parser.add_argument("--seed", type=int, default=1, help="where to begin")
    args = parser.parse_args(argv)
    missed = 0
    print(f"{'item':10} {'defect':58} {'cases':>5} {'s':>6}  found")
    for plant in PLANTS:
        if args.only in plant.words:
            cases, seconds, found = search(plant, args.seed)
            missed += not found
            print(f"{plant.item:10} {plant.words:58} {cases:5} {seconds:6.1f}  {found[:90] or 'NOT FOUND'}", flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
