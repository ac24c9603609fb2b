"""Collects which symbols and labels of `@local_config_rocm` a checkout of XLA or JAX uses.

    python3 -m tests.e2e.hip.xla_consumer.collect NAME=COMMIT=DIRECTORY... > tests/e2e/hip/xla_consumer/uses.json

What the checkout uses to write that repository, in `third_party/gpus`, does not count.
"""

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

_REPOSITORY = "@local_config_rocm"
_LOAD = re.compile(rf'load\(\s*"{_REPOSITORY}//rocm:build_defs\.bzl",(.*?)\)', re.DOTALL)
_SYMBOL = re.compile(r'"(\w+)"')
_LABEL = re.compile(rf"{_REPOSITORY}//[\w/.:-]+")
_SUFFIXES = (".bazel", ".bazelrc", ".bzl")


def _files(checkout: Path) -> Iterator[Path]:
    for path in sorted(checkout.rglob("*")):
        is_read = path.name == "BUILD" or path.suffix in _SUFFIXES
        if is_read and path.is_file() and "third_party/gpus" not in path.as_posix():
            yield path


def collect(checkout: Path) -> dict[str, list[str]]:
    """Return the symbols and labels that BUILD files, .bzl files and .bazelrc files use, sorted."""
    symbols: set[str] = set()
    labels: set[str] = set()
    for path in _files(checkout):
        text = path.read_text(encoding="utf-8", errors="replace")
        symbols.update(symbol for load in _LOAD.findall(text) for symbol in _SYMBOL.findall(load))
        labels.update(label.rstrip(".:") for label in _LABEL.findall(text))
    return {"labels": sorted(labels), "symbols": sorted(symbols)}


def main(argv: list[str]) -> int:
    """Print the uses of all checkouts as JSON."""
    uses = {}
    for name, commit, directory in (one.split("=", 2) for one in argv):
        uses[name] = {"commit": commit, **collect(Path(directory))}
    print(json.dumps(uses, indent=1, sort_keys=True))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
