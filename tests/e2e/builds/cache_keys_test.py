"""What is part of an action's key: each setting, the environment, the interpreter; and for which kinds of actions.

    .ci/run cache-keys

A setting that is missing in a key gives stale packages; one too many builds without need. Keys are read from `aquery`,
so nothing is executed. What depends on files (content, modes, names) is in actions_test.
"""

import json
import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import pytest

from tests.e2e.testing.builds import WORKSPACE, Workspace
from tests.hermetic.declarations import FURTHER, MNEMONICS, PACKAGING

TARGETS = "//packaging:dist + //packaging:layers_gfx942_devel"
#: What has the kinds of actions that no package of this project needs.
OTHERS = (
    "//tests/mini/requiring_wheel:requiring + //tests/mini/split_wheel:whole + //tests/mini/windows:acme_libraries"
    " + //packaging:provenance"
)
#: What runs again after each kind of action, because it reads what that writes.
LINKED = {"RocmLink", "RocmIndex"}
LAYERS = {"RocmLayer"}
PACKED = {"RocmPack", "RocmSbom", *LINKED}
PLATFORM_TAG = {"RocmPlatformTag", *LINKED}
VERSION = {"RocmSbom", "RocmSdist", "RocmStaticWheel", *LINKED, *LAYERS}
#: What has a date, from the one variable that an action sees: SOURCE_DATE_EPOCH.
DATED = {"RocmSbom", "RocmSdist", "RocmStaticWheel", "RocmLink", "RocmIndex", *LAYERS}


@dataclass(frozen=True)
class Change:
    """One thing that is other than in the first build."""

    options: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    wrapper: tuple[str, ...] = ()


def option(text: str) -> Change:
    """Give one option."""
    return Change((text,))


#: What is changed -> the kinds of actions that are to run again for it.
CHANGES: dict[str, tuple[Change, set[str]]] = {
    "nothing": (Change(), set()),
    "who builds, where, in which language": (
        Change(
            environment={
                "LANG": "de_DE.UTF-8",
                "LC_ALL": "C",
                "PATH": "/nowhere:/usr/bin:/bin",
                "PYTHONHASHSEED": "1",
                "PYTHONPATH": "/nowhere",
                "TZ": "Asia/Tokyo",
                "USER": "somebody",
            }
        ),
        set(),
    ),
    "the umask": (Change(wrapper=("sh", "-c", 'umask 077; exec "$@"', "-")), set()),
    "how Bazel executes": (Change(("--jobs=3", "--spawn_strategy=local", "--verbose_failures")), set()),
    "the interpreter": (option("--extra_toolchains=//tests/e2e/builds:python_toolchain"), PACKAGING),
    "//hip:device_copt": (option("--//hip:device_copt=-ffast-math"), set()),
    "//hip:enabled": (option("--//hip:enabled=false"), set()),
    "//hip:host_copt": (option("--//hip:host_copt=-ffast-math"), set()),
    "//rules/settings:compression": (option("--//rules/settings:compression=small"), PACKED | LAYERS),
    "//rules/settings:devel_archive": (option("--//rules/settings:devel_archive=tar"), LINKED | LAYERS),
    "//packaging:image_install_scheme": (option("--//packaging:image_install_scheme=//examples/packages:venv"), LAYERS),
    "//packaging:issues_url": (option("--//packaging:issues_url=https://example.com"), VERSION),
    "//packaging:platform_tag": (option("--//packaging:platform_tag=manylinux_2_28_x86_64"), PLATFORM_TAG | LAYERS),
    "//packaging:windows_platform_tag": (option("--//packaging:windows_platform_tag=win_arm64"), PLATFORM_TAG),
    "//packaging:version": (option("--//packaging:version=9.9"), VERSION),
    "//packaging:version_kind": (option("--//packaging:version_kind=release"), VERSION),
    "//packaging:version_serial": (option("--//packaging:version_serial=efed3c3b10a5"), VERSION),
    "//packaging:wheel_variants": (option("--//packaging:wheel_variants"), {"RocmStaticWheel", "RocmIndex"}),
}


@dataclass(frozen=True)
class Step:
    """One action as `aquery` tells it: what its own key is made of, and the files that it reads and writes."""

    mnemonic: str
    label: str
    own: str
    inputs: frozenset[str]
    outputs: tuple[str, ...]


class Graph:
    """The actions of a build, each with a key of all that it depends on."""

    def __init__(self, text: str) -> None:
        """Read what `aquery --output=jsonproto` printed: analysis_v2.proto's ActionGraphContainer."""
        self.read: dict[str, Any] = json.loads(text)
        self.fragments = {one["id"]: one for one in self.read["pathFragments"]}
        self.files = {one["id"]: self._path(one["pathFragmentId"]) for one in self.read["artifacts"]}
        self.sets = {one["id"]: one for one in self.read["depSetOfFiles"]}
        labels = {one["id"]: one["label"] for one in self.read["targets"]}
        self.steps = [self._step(one, labels) for one in self.read["actions"]]
        self.makers = {output: step for step in self.steps for output in step.outputs}
        self.key = cache(self._key)

    def _path(self, identity: int) -> str:
        one = self.fragments[identity]
        return f"{self._path(one['parentId'])}/{one['label']}" if "parentId" in one else str(one["label"])

    def _set(self, identity: int) -> frozenset[str]:
        one = self.sets[identity]
        below = (self._set(other) for other in one.get("transitiveDepSetIds", ()))
        return frozenset(self.files[file] for file in one.get("directArtifactIds", ())).union(*below)

    def _step(self, one: dict[str, Any], labels: dict[int, str]) -> Step:
        environment = sorted((pair["key"], pair.get("value", "")) for pair in one.get("environmentVariables", ()))
        return Step(
            one["mnemonic"],
            labels[one["targetId"]],
            f"{one['actionKey']} {environment}",
            frozenset().union(*(self._set(identity) for identity in one.get("inputDepSetIds", ()))),
            tuple(sorted(self.files[identity] for identity in one["outputIds"])),
        )

    def _key(self, step: Step) -> int:
        """Return the key of a step: its own, the names of its files, and the keys of those that make its inputs."""
        inputs = ((path, self.key(self.makers[path]) if path in self.makers else 0) for path in sorted(step.inputs))
        return hash((step.own, step.outputs, tuple(inputs)))

    def keys(self, *, alone: bool = False) -> dict[tuple[str, str], list[int]]:
        """Give the keys of all actions by mnemonic and label; `alone` without what makes their inputs."""
        found = defaultdict(list)
        for step in self.steps:
            found[step.mnemonic, step.label].append(hash(step) if alone else self.key(step))
        return {identity: sorted(keys) for identity, keys in found.items()}


def graph(change: Change, targets: str = TARGETS) -> Graph:
    """Ask for the actions of a build."""
    workspace = Workspace(environment=change.environment, wrapper=change.wrapper)
    options = ("--output=jsonproto", "--ui_event_filters=-info", "--noshow_progress", *change.options)
    result = workspace.run("aquery", *options, f"deps({targets})")
    assert result.returncode == 0, result.stdout
    return Graph(result.stdout[result.stdout.index("{") :])


def check(first: Graph, change: Change, expected: set[str], *, alone: bool = False) -> None:
    """Compare which kinds of actions have other keys than before."""
    before, after = first.keys(alone=alone), graph(change).keys(alone=alone)
    changed = {one[0] for one in before.keys() | after.keys() if before.get(one) != after.get(one)} & MNEMONICS
    assert changed == expected, f"missing {expected - changed}, too much {changed - expected}"


@pytest.fixture(scope="module")
def first() -> Graph:
    """Ask for the actions of the build that all others are compared with.

    Of a compilation that has run, Bazel tells only the headers that it read. Another configuration makes it forget.
    """
    graph(option("--action_env=ANY=1"))
    return graph(Change())


@pytest.mark.parametrize("name", CHANGES)
def test_keys(name: str, first: Graph) -> None:
    """Each change concerns the kinds of actions of the table, and no other kind."""
    change, expected = CHANGES[name]
    check(first, change, expected)


def test_environment_of_actions(first: Graph) -> None:
    """A variable for actions reaches those alone that read a date. Bazel compiles C with all of them."""
    check(first, option("--action_env=SOURCE_DATE_EPOCH=1700000000"), DATED, alone=True)


def test_what_actions_ask_of_where_they_run() -> None:
    """None needs the network; FURTHER has the kinds that leave the sandbox, run in workers or stay out of caches."""
    read = graph(Change(), f"{TARGETS} + {OTHERS}").read
    asked: dict[str, set[frozenset[str]]] = {}
    for one in read["actions"]:
        if one["mnemonic"].startswith("Rocm"):
            requirements = frozenset(info["key"] for info in one.get("executionInfo", ()))
            asked.setdefault(one["mnemonic"], set()).add(requirements)
    kinds = MNEMONICS - {"PyTool"}
    assert asked == {kind: {frozenset({"block-network"} | FURTHER.get(kind, set()))} for kind in kinds}
    # Actions of HIP programs are for others: hip.tests.e2e.programs.
    texts = [file.read_text(encoding="utf-8") for file in sorted((WORKSPACE / "rules").rglob("*.bzl"))]
    assert {name for text in texts for name in re.findall(r'mnemonic = "(Rocm\w+)"', text)} == kinds


def test_every_setting_is_in_the_table() -> None:
    """A new setting has to say what depends on it."""
    query = 'kind("^(?!config_).*_(flag|setting) rule|sdk_version", //rules/... + //packaging:all)'
    result = Workspace().run("query", query, "--output=label", "--ui_event_filters=-info", "--noshow_progress")
    settings = {line for line in result.stdout.splitlines() if line.startswith("//")}
    assert len(settings) > 5, result.stdout
    assert settings - CHANGES.keys() == set()
