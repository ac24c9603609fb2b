"""The command line `rocm-sdk`: paths, version, targets, the development tree, and a check of the installation.

`main` is the entry point of the console script and of `python -m rocm_sdk`. Each command returns the exit status.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import warnings
from collections.abc import Sequence

from .errors import RocmSdkError

# What `path --NAME` prints, below the root of the development tree.
PATHS = {"root": "", "bin": "bin", "cmake": "lib/cmake", "include": "include", "lib": "lib"}


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command in `argv` (the process's own arguments by default) and return the exit status."""
    arguments = make_parser().parse_args(argv)
    warnings.formatwarning = lambda message, *_: f"rocm-sdk: warning: {message}\n"
    try:
        status: int = arguments.run(arguments)
    except RocmSdkError as error:
        print(f"rocm-sdk: error: {error}", file=sys.stderr)
        return 1
    return status


def make_parser() -> argparse.ArgumentParser:
    """Return the parser; each command's `run` takes the parsed arguments."""
    parser = argparse.ArgumentParser(prog="rocm-sdk", description="The ROCm SDK installed in this Python environment.")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)

    path = commands.add_parser("path", help="print a directory of the development tree, which is made if need be")
    choice = path.add_mutually_exclusive_group(required=True)
    for name, below in PATHS.items():
        words = f"its {below} directory" if below else "its root"
        choice.add_argument(f"--{name}", dest="name", action="store_const", const=name, help=words)
    path.set_defaults(run=_run_path)

    version = commands.add_parser("version", help="print the version of these packages")
    version.set_defaults(run=_run_version)

    targets = commands.add_parser("targets", help="list the GPU targets, and which one was chosen and why")
    targets.add_argument("--detect", action="store_true", help="look at this machine and the environment variable now")
    targets.add_argument("--json", action="store_true", help="print JSON")
    targets.set_defaults(run=_run_targets)

    init = commands.add_parser("init", help="make, repair or update the development tree")
    init.add_argument("--quiet", action="store_true", help="print nothing but errors")
    init.set_defaults(run=_run_init)

    test = commands.add_parser("test", help="check the installation")
    test.add_argument("-k", dest="pattern", default="", metavar="TEXT", help="only checks whose name contains TEXT")
    test.add_argument("--json", action="store_true", help="print JSON")
    test.set_defaults(run=_run_test)
    return parser


def _run_path(arguments: argparse.Namespace) -> int:
    from .devel import devel_root

    print(devel_root() / PATHS[arguments.name])
    return 0


def _run_version(_: argparse.Namespace) -> int:
    from .distributions import load_distributions

    print(load_distributions().version)
    return 0


def _run_targets(arguments: argparse.Namespace) -> int:
    from .distributions import load_distributions, load_selection

    known = load_distributions()
    facts: dict[str, object] = {
        "available": list(known.targets),
        "layout": known.layout,
        "default": known.default_target,
        "selected": load_selection(),
    }
    if arguments.detect:
        facts["detected"] = _detect()
    print(json.dumps(facts, indent=2) if arguments.json else _describe_targets(facts))
    return 0


def _detect() -> dict[str, object]:
    """Return what a fresh installation would select here, as JSON data."""
    from dataclasses import asdict

    from .detect import detect_gpus
    from .distributions import load_distributions
    from .targets import select_target

    known = load_distributions()
    gpus = detect_gpus()
    selection = select_target(known.targets, known.default_target, os.environ, gpus)
    return {"gpus": [asdict(gpu) for gpu in gpus], **asdict(selection)}


def _describe_targets(facts: dict[str, object]) -> str:
    available, selected, detected = facts["available"], facts["selected"], facts.get("detected")
    lines = [f"available: {' '.join(available) if isinstance(available, list) else available}"]
    if isinstance(selected, dict):
        lines.append(f"selected:  {selected['target']} (when rocm was installed: {selected['reason']})")
    else:
        lines.append(f"selected:  {facts['default']} (the default)")
    if isinstance(detected, dict):
        lines.append(f"now:       {detected['target']} ({detected['reason']})")
    return "\n".join(lines)


def _run_init(arguments: argparse.Namespace) -> int:
    from .devel import devel_root

    root = devel_root(verify=True)
    if not arguments.quiet:
        print(f"The development tree is ready: {root}")
    return 0


def _run_test(arguments: argparse.Namespace) -> int:
    from .selfcheck import report, run_checks

    results = run_checks(arguments.pattern)
    print(report(results, as_json=arguments.json))
    return 1 if any(result.outcome == "failed" for result in results) or not results else 0
