"""Implements the commands of `rocm-sdk`: each takes the parsed arguments, prints, and returns the exit status.

Each command imports what it needs itself, so that the others start fast.
"""

from __future__ import annotations

import sys

from .errors import RocmSdkError
from .output import complain, say, terminal_width

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

# What `path --NAME` prints, below the root of the development tree.
PATHS = {"root": "", "bin": "bin", "cmake": "lib/cmake", "include": "include", "lib": "lib"}
# What `env --shell` knows; the same as `environment.SHELLS`, which is not imported for the help.
SHELLS = ("bash", "fish", "json")


def run_path(arguments: argparse.Namespace) -> int:
    """Print a directory of the development tree, or all of them as JSON."""
    from .devel import devel_root

    root = devel_root()
    if arguments.name == "json":
        _print_json({name: str(root / below) for name, below in PATHS.items()})
    else:
        say(str(root / PATHS[arguments.name]))
    return 0


def run_version(arguments: argparse.Namespace) -> int:
    """Print the version of the packages."""
    from .version import read_version

    version = read_version()
    if arguments.json:
        _print_json({"version": version})
    else:
        say(version)
    return 0


def run_targets(arguments: argparse.Namespace) -> int:
    """Print the targets as builds of PyTorch take them, or the choice among them."""
    from .target_report import describe, target_facts, target_list

    if arguments.json:
        _print_json(target_facts(detect=arguments.detect))
    elif arguments.why or arguments.detect:
        say(describe(target_facts(detect=arguments.detect)))
    else:
        say(";".join(target_list()))
    return 0


def run_init(arguments: argparse.Namespace) -> int:
    """Make the development tree, and say if the packages were chosen for another machine."""
    from .devel import devel_root
    from .errors import TargetError
    from .mismatch import mismatch_here

    root = devel_root(verify=True)
    if not arguments.quiet:
        say(f"The development tree is ready: {root}")
        try:
            fault: object = mismatch_here()
        except TargetError as error:
            fault = error
        if fault:
            complain(f"warning: {fault}")
    return 0


def run_env(arguments: argparse.Namespace) -> int:
    """Print the variables for building against ROCm."""
    import os

    from .devel import devel_root
    from .environment import build_variables, environment_prefix, format_variables

    say(format_variables(build_variables(devel_root(), environment_prefix(), os.environ), arguments.shell))
    return 0


def run_init_py(arguments: argparse.Namespace) -> int:
    """Write `_rocm_init.py`, and say on standard error what cannot be preloaded."""
    from pathlib import Path

    from .init_py import init_py_text, preload_names, unlisted_names
    from .libraries import listed_libraries
    from .process import split_list

    try:
        wanted = {name for text in arguments.preload for name in split_list(text)}
        wanted |= {name for file in arguments.from_extension for name in preload_names(file)}
        known = listed_libraries()
        order = [name for name in known if name in wanted] + sorted(wanted - set(known))
        text = init_py_text(order, _version_pattern(arguments.check_version), arguments.fail_on_mismatch)
        for file in arguments.from_extension:
            for name in unlisted_names(file, _shipped()):
                complain(f"warning: {file} needs {name}, which has no short name. {_UNLISTED}")
        if arguments.output is not None:
            Path(arguments.output).write_text(text, "utf-8")
    except (ValueError, OSError) as error:
        raise RocmSdkError(str(error)) from error
    if arguments.output is None:
        say(text, end="")
    return 0


_UNLISTED = "It is loaded if a preloaded library needs it; else give the extension an RPATH."


def _version_pattern(wanted: str) -> str | None:
    """Return the pattern that `--check-version` stands for; None for `none`."""
    from .distributions import load_distributions

    version = load_distributions().version
    minor = ".".join([*version.split(".")[:2], "*"])
    return {"exact": version, "minor": minor, "none": None}.get(wanted, wanted)


def _shipped() -> list[str]:
    from .distributions import load_distributions
    from .libraries import library_directories
    from .library_table import LIBRARY_GLOB

    return [path.name for place in library_directories(load_distributions()) for path in place.glob(LIBRARY_GLOB)]


def run_test(arguments: argparse.Namespace) -> int:
    """Check the installation; results are printed as they come, in the fixed order."""
    from .selfcheck.run import as_json, run_checks, summarize

    results = []
    for result in run_checks(arguments.pattern, arguments.quick):
        results.append(result)
        if not arguments.json:
            say(result.describe())
            sys.stdout.flush()
    counts = summarize(results)
    say(as_json(results) if arguments.json else ", ".join(f"{count} {outcome}" for outcome, count in counts.items()))
    if not results:
        complain(f"error: no check has {arguments.pattern!r} in its name. `rocm-sdk test` names them all.")
    return 1 if counts["failed"] or not results else 0


def run_doctor(arguments: argparse.Namespace) -> int:
    """Print what was found on this machine."""
    from .doctor import format_findings
    from .doctor.examine import examine

    findings = examine()
    say(format_findings(findings, as_json=arguments.json, width=terminal_width()))
    return 1 if any(finding.severity == "problem" for finding in findings) else 0


def _print_json(document: object) -> None:
    import json

    say(json.dumps(document, indent=2))
