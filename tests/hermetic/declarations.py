"""What the actions of a build ask of where they run, as `aquery` tells it, and what they ought to.

    problems(read_actions(text))      # what `bazel aquery --output=jsonproto //packaging:dist` printed

One line for each action that asks for more or less.
"""

import json
from dataclasses import dataclass
from typing import Any

#: Every kind of action of the rules, and the action that makes their tools; `prove.py` holds the list against rules/.
MNEMONICS = {
    "PyTool",
    "RocmCoverage",
    "RocmCoverageCheck",
    "RocmDescribe",
    "RocmImage",
    "RocmIndex",
    "RocmInitPy",
    "RocmInspect",
    "RocmLayer",
    "RocmLink",
    "RocmPack",
    "RocmPlan",
    "RocmPlatformTag",
    "RocmRequireSdk",
    "RocmRuntime",
    "RocmSbom",
    "RocmSdist",
    "RocmSplitWheel",
    "RocmStaticWheel",
}
#: The kinds behind this project's own packages: the others are for a framework's wheel, or for another SDK.
PACKAGING = MNEMONICS - {"RocmDescribe", "RocmInitPy", "RocmRequireSdk", "RocmRuntime", "RocmSplitWheel"}
#: What an action says that may run in a persistent worker.
_WORKER = {"requires-worker-protocol", "supports-workers"}
#: What is asked besides `block-network`, by mnemonic. Actions that are many and short run in workers. RocmIndex and
#: RocmImage give their directories links to files, and no link leads out of a sandbox. What RocmLink makes is put
#: together from segments, which a cache has anyway, and what the other three make from that.
FURTHER = {
    "RocmImage": {"no-cache", "no-sandbox"},
    "RocmIndex": {"no-cache", "no-sandbox"},
    "RocmInspect": _WORKER,
    "RocmLayer": {"no-remote-cache-upload"} | _WORKER,
    "RocmLink": {"no-remote-cache-upload"} | _WORKER,
    "RocmPack": _WORKER,
    "RocmPlan": _WORKER,
    "RocmPlatformTag": _WORKER,
    "RocmSbom": _WORKER,
}


@dataclass(frozen=True)
class Declared:
    """An action of the build."""

    mnemonic: str
    label: str
    #: Tags that say what an action needs of its executor.
    requirements: frozenset[str]


def read_actions(text: str) -> list[Declared]:
    """Read what `aquery --output=jsonproto` printed: analysis_v2.proto's ActionGraphContainer."""
    graph: dict[str, Any] = json.loads(text)
    labels = {target["id"]: target["label"] for target in graph["targets"]}
    return [
        Declared(
            action["mnemonic"],
            labels[action["targetId"]],
            frozenset(one["key"] for one in action.get("executionInfo", ())),
        )
        for action in graph["actions"]
    ]


def problems(actions: list[Declared]) -> list[str]:
    """Say which actions of this project's rules ask for more or less than they ought to."""
    found = []
    for action in actions:
        if action.mnemonic.startswith("Rocm"):
            expected = {"block-network"} | FURTHER.get(action.mnemonic, set())
            if action.requirements != expected:
                what = f"{action.mnemonic} of {action.label} asks for {sorted(action.requirements)}"
                found.append(f"{what}; expected {sorted(expected)}: see run_tool.bzl")
    return found
