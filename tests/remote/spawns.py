"""What a build ran, and where: read from Bazel's execution log.

The option `--execution_log_json_file=PATH` makes Bazel write it; `read_spawns(PATH)` reads it.
"""

import json
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Spawn:
    """One action's command, as it was executed or found in a cache."""

    mnemonic: str
    label: str
    #: Where it ran: `linux-sandbox`, `remote`, `remote cache hit`, `disk cache hit`, …
    runner: str
    cache_hit: bool
    #: Path of each output in the execution root -> its SHA-256 and its size in bytes.
    outputs: dict[str, tuple[str, int]]


def read_spawns(path: Path) -> list[Spawn]:
    """Read an execution log, JSON objects one after the other, in the order of their outputs."""
    text, at, decoder, found = path.read_text(encoding="utf-8"), 0, json.JSONDecoder(), []
    while text[at:].lstrip():
        at += len(text[at:]) - len(text[at:].lstrip())
        spawn, at = decoder.raw_decode(text, at)
        digests = {output["path"]: output.get("digest", {}) for output in spawn.get("actualOutputs", ())}
        outputs = {name: (digest.get("hash", ""), int(digest.get("sizeBytes", 0))) for name, digest in digests.items()}
        found.append(
            Spawn(
                mnemonic=spawn.get("mnemonic", ""),
                label=spawn.get("targetLabel", ""),
                runner=spawn.get("runner", ""),
                cache_hit=spawn.get("cacheHit", False),
                outputs=outputs,
            )
        )
    return sorted(found, key=lambda spawn: (spawn.mnemonic, sorted(spawn.outputs)))


def count_by(spawns: list[Spawn]) -> dict[str, dict[str, int]]:
    """Count spawns by mnemonic and runner."""
    counted: dict[str, dict[str, int]] = {}
    for spawn in spawns:
        runners = counted.setdefault(spawn.mnemonic, {})
        runners[spawn.runner] = runners.get(spawn.runner, 0) + 1
    return dict(sorted(counted.items()))
