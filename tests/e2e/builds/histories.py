"""Edits and builds at random: each build must have every edit.

    python3 -B -m tests.e2e.builds.histories --histories 300 --scratch DIR

Two checkouts of a small project share a disk cache, each with a Bazel server of
its own. The first names its artifacts by ROCM_ARTIFACTS_DIR, which bazelw's
fingerprint is for; the second by a variable that no wrapper knows, so that
Bazel watches the directory. After each edit the build has to give what the
tools give in one process from nothing, which the oracle of `tests.pipeline`
judges. In the scratch directory, `state.txt` has a line for each seed that is
done; a second call begins behind them. A finding is printed with its history;
exits with 1 if there was one.
"""

import argparse
import os
import re
import shutil
import sys
import tempfile
import time
import zipfile
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from hypothesis import given, seed, settings
from hypothesis import strategies as st

from lib.elf import constants as c
from tests.e2e.testing.builds import WORKSPACE, Workspace
from tests.pipeline.checkout import Checkout, leads_to_directory, surface
from tests.pipeline.drawing import ONLY_FRESH
from tests.pipeline.expectation import REFUSALS
from tests.pipeline.histories import Edit, History, histories
from tests.pipeline.package_reader import FindingError
from tests.pipeline.properties import SCRATCH, judged, made
from tests.pipeline.run import README, Cache
from tests.pipeline.run_many import kind_of
from tests.pipeline.sdk import Package, Sdk, Settings

VARIABLES = ("ROCM_ARTIFACTS_DIR", "HISTORIES_DIR")
MODULE = """
module(name = "histories", version = "1.0")
bazel_dep(name = "rules_rocm_python", version = "0.1.0")
local_path_override(module_name = "rules_rocm_python", path = "{workspace}")
bazel_dep(name = "bazel_skylib", version = "1.7.1")
artifacts = use_extension("@rules_rocm_python//rules:extensions.bzl", "artifacts")
artifacts.directory(name = "sdk_artifacts", path = "none", variable = "{variable}")
use_repo(artifacts, "sdk_artifacts")
"""
BUILD = """
load("@bazel_skylib//rules:common_settings.bzl", "string_flag")
load("@rules_rocm_python//rules:sdk.bzl", "sdk_index", "sdk_package", "sdk_version", "sdk_wheel")
load("@sdk_artifacts//:artifacts.bzl", "ARTIFACTS")

LABELS = {"_".join([one.name, one.component, one.target]): one.label for one in ARTIFACTS}
sdk_version(name = "version", base = "1.0")
string_flag(name = "platform_tag", build_setting_default = "linux_x86_64")
"""
PACKAGE = """
sdk_package(
    name = "{name}",
    package = "{name}",
    allow_empty = {allow_empty},
    allow_unmatched = {allow_unmatched},
    artifacts = [LABELS[name] for name in {artifacts}],
    builds_on = {builds_on},
    exclude = {exclude},
    include = {include},
    kind = "{kind}",
    repacked = [LABELS[name] for name in {artifacts}] if {repacked} else [],
    rpath = {rpath},
    tree = "{tree}",
)
sdk_wheel(
    name = "{name}_wheel",
    description = "README.md",
    distribution = "{distribution}",
    files = {{"glue.py": "{import_name}/__init__.py"}},
    import_name = "{import_name}",
    license_expression = "MIT",
    package = "{name}",
    platform_tag = ":platform_tag",
    requires_python = ">=3.9",
    summary = "A package of an SDK",
    version = ":version",
)
"""


def build_file(packages: tuple[Package, ...]) -> str:
    """Return the BUILD file of an SDK's packages."""
    wheels = [f"{one.name}_wheel" for one in packages]
    texts = [PACKAGE.format(**_attributes(one)) for one in packages]
    return "".join([BUILD, *texts, f'\nsdk_index(name = "dist", distributions = {wheels})\n'])


def _attributes(package: Package) -> dict[str, object]:
    values = {name: getattr(package, name) for name in (*package.__dataclass_fields__, "distribution", "import_name")}
    values["allow_empty"] = not package.strict
    values["allow_unmatched"] = (
        package.rpath if package.strict else (*package.include, *package.exclude, *package.rpath)
    )
    return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}


class BazelCheckout(Checkout):
    """A checkout that Bazel builds."""

    def __init__(self, project: Workspace, variable: str, folder: Path, sdk: Sdk) -> None:
        """Lay the artifacts out."""
        super().__init__(folder, sdk, Cache())
        self.project, self.variable = project, variable

    @property
    def is_watched(self) -> bool:
        """Whether no wrapper tells Bazel of changes."""
        return self.variable != "ROCM_ARTIFACTS_DIR"

    def edit(self, after: Sdk) -> None:
        """Change the artifacts; where the documentation says that nobody would see it, in another directory."""
        before = sorted(surface(self.artifacts))
        super().edit(after)
        if self.is_watched and sorted(surface(self.artifacts)) == before:
            self.move()

    def move(self) -> None:
        """Have the artifacts in another directory; a watched one stays where it is."""
        before = self.artifacts
        self.moves += 1
        if self.is_watched:
            shutil.copytree(before, self.artifacts, symlinks=True)
        else:
            before.rename(self.artifacts)

    def wheels(self) -> dict[str, Path] | str:
        """Build; return the wheels by package, or what Bazel printed that refused."""
        (self.project.directory / "BUILD.bazel").write_text(build_file(self.sdk.packages))
        build = self.project.build("//:dist", options=(f"--repo_env={self.variable}={self.artifacts}",))
        if not build.succeeded:
            return build.output
        dist = self.project.directory / "bazel-bin/dist"
        found = {one.name: one.distribution.replace("-", "_") for one in self.sdk.packages}
        return {name: next(dist.glob(f"{distribution}-1.0*.whl")) for name, distribution in found.items()}


def members(wheel: Path) -> Mapping[str, tuple[int, bytes]]:
    """Return mode and content of what a wheel has; of a launcher, what it starts."""
    found: dict[str, tuple[int, bytes]] = {}
    with zipfile.ZipFile(wheel) as archive:
        for info in archive.infolist():
            data = archive.read(info)
            if ".dist-info/" not in info.filename and not info.filename.endswith("/__init__.py"):
                target = re.search(rb"\0([^\0]+)\0{100}", data[64:]) if b".launcher.target\0" in data else None
                found[info.filename] = info.external_attr >> 16, target[1] if target else data
    return found


def step(checkout: BazelCheckout, known: dict[str, Mapping[str, Mapping[str, tuple[int, bytes]]] | str]) -> str:
    """Build a checkout, and compare it with a build from nothing; return what came. Raises FindingError."""
    came, key = checkout.wheels(), repr(checkout.sdk)
    if key not in known:
        with tempfile.TemporaryDirectory(dir=SCRATCH) as scratch:
            fresh = made(checkout.sdk, Path(scratch) / "fresh")
            judged(checkout.sdk, Path(scratch) / "judged", fresh)
            known[key] = fresh if isinstance(fresh, str) else {n: members(w.file) for n, w in fresh.wheels.items()}
    fresh_one = known[key]
    if isinstance(came, str) or isinstance(fresh_one, str):
        if type(came) is not type(fresh_one) and not (isinstance(came, str) and isinstance(fresh_one, str)):
            raise FindingError("Bazel: refused, or not", f"{fresh_one!s:.2000}\n but Bazel: {came!s:.6000}")
        if not any(re.search(words, str(came)) for words in REFUSALS):
            raise FindingError("Bazel: fails otherwise", f"{came!s:.6000}")
        return "refused"
    for name, wheel in came.items():
        found = members(wheel)
        if wrong := sorted(path for path in {*found, *fresh_one[name]} if found.get(path) != fresh_one[name].get(path)):
            raise FindingError("Bazel: other content", f"{name}: {wrong[0]}: {found.get(wrong[0])!s:.200}")
    return "built"


def normal(sdk: Sdk) -> Sdk:
    """Return an SDK as both checkouts can have it: no settings, no links to directories, for which less is promised."""
    with tempfile.TemporaryDirectory(dir=SCRATCH) as scratch:
        laid = Checkout(Path(scratch), sdk, Cache()).artifacts
        artifacts = []
        for one in sdk.artifacts:
            kept = {
                base: {
                    path: node for path, node in nodes.items() if not leads_to_directory(laid / one.name / base / path)
                }
                for base, nodes in one.bases.items()
            }
            artifacts.append(replace(one, bases=kept))
    return replace(sdk, artifacts=tuple(artifacts), settings=Settings())


def live(history: History, projects: list[Workspace], place: Path) -> Counter[str]:
    """Live a history in both checkouts; raises FindingError."""
    first, came = normal(history.sdk), Counter[str]()
    known: dict[str, Mapping[str, Mapping[str, tuple[int, bytes]]] | str] = {}
    pairs = zip(projects, VARIABLES, ("one", "two"), strict=True)
    checkouts = [BazelCheckout(project, variable, place / name, first) for project, variable, name in pairs]
    for number, edit in enumerate((Edit(0, first), Edit(1, first), *history.steps)):
        assert isinstance(edit, Edit)
        checkout = checkouts[edit.checkout]
        try:
            if edit.moves:
                checkout.move()
            if number > 1:
                checkout.edit(normal(edit.sdk))
            came[step(checkout, known)] += 1
        except FindingError as error:
            error.add_note(f"step {number} in checkout {edit.checkout}")
            raise
    return came


def make_projects(scratch: Path) -> list[Workspace]:
    """Make both checkouts of the project."""
    projects = []
    for number, variable in enumerate(VARIABLES):
        directory = scratch / f"project-{number}"
        directory.mkdir(parents=True, exist_ok=True)
        (directory / "MODULE.bazel").write_text(MODULE.format(workspace=WORKSPACE, variable=variable))
        (directory / "bazelw").write_text(f'#!/bin/sh\nexec {WORKSPACE}/bazelw "$@"\n')
        (directory / "bazelw").chmod(0o755)
        (directory / "README.md").write_text(README)
        (directory / "glue.py").write_text('"""Glue."""\n')
        startup = (f"--output_base={scratch / f'base-{number}'}",)
        projects.append(Workspace(directory, startup=startup, options=(f"--disk_cache={scratch / 'cache'}",)))
    return projects


def drawn(number: int) -> History:
    """Return the history of a seed."""
    found: list[History] = []
    strategy = histories(5, 7, what=st.just("edit")).filter(lambda one: one.sdk.settings.machine == c.EM_X86_64)

    @seed(number)
    @settings(ONLY_FRESH, max_examples=2)  # The first that hypothesis draws is always the simplest.
    @given(strategy)
    def draw(history: History) -> None:
        found.append(history)

    draw()
    return found[-1]


def tried(number: int, projects: list[Workspace], scratch: Path) -> str:
    """Live the history of a seed; print a finding, and return of which kind it is, if there was one."""
    history = drawn(number)
    # Bazel calls the file system inconsistent from when a directory that it watches is gone: so all stay.
    place = scratch / "artifacts" / f"{number}-{time.time_ns()}"
    try:
        print(dict(live(history, projects, place)), end=" ")
    except Exception as error:
        notes = "\n".join(getattr(error, "__notes__", []))
        print(f"\nFINDING (seed {number}) {type(error).__name__}: {error}\n{notes}\n{history!r}\n", flush=True)
        return kind_of(error)
    return ""


def main(argv: list[str]) -> int:
    """Live histories, and say what was found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--histories", type=int, default=300, help="how many to live, one for each seed")
    parser.add_argument("--seed", type=int, default=1, help="where to begin")
    parser.add_argument("--scratch", type=Path, required=True, help="directory for all that is made, and the state")
    args = parser.parse_args(argv)
    os.umask(0o022)
    state, projects = args.scratch / "state.txt", make_projects(args.scratch)
    done = {int(line.split()[0]) for line in state.read_text().splitlines()} if state.exists() else set()
    found, start = Counter[str](), time.monotonic()
    for number in range(args.seed, args.seed + args.histories):
        if number not in done:
            kind = tried(number, projects, args.scratch)
            found += Counter([kind] if kind else [])
            with state.open("a") as lines:
                lines.write(f"{number} {kind}\n")
            print(f"seed {number}: {time.monotonic() - start:.0f} s; findings: {dict(found)}", flush=True)
    for project in projects:
        project.run("shutdown")
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
