"""Checks wheels before they are published: each wheel, and all of them together.

Wheels are read, never unpacked or changed.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from lib.common.command import FOUND, OK, CommandParser, exit_codes, run_command
from wheels.verify import registry, report
from wheels.verify.engine import Outcome, Request, verify
from wheels.verify.exceptions import DeclaredException, make_exceptions
from wheels.verify.finding import Severity
from wheels.verify.settings import Settings, make_settings, read_config

EPILOG: Final = """examples:
  rocm-wheels verify dist/
  rocm-wheels verify --no-set numpy-2.3.0-cp311-cp311-linux_x86_64.whl
  rocm-wheels verify --target gfx942 dist/ --others thin/ torch-2.9.0-*.whl
  rocm-wheels verify dist/ --last-release ~/released/7.1
  rocm-wheels verify --config verify.toml --sarif findings.sarif dist/

""" + exit_codes("there are no findings, or only notes", "there are findings")


def parser() -> CommandParser:
    """Describe the command line."""
    result = CommandParser("rocm-wheels verify", description=__doc__, epilog=EPILOG)
    result.add_argument("paths", nargs="*", type=Path, metavar="PATH", help="a wheel, an sdist, or a directory of them")
    several: dict[str, Any] = {"nargs": "+", "type": Path, "metavar": "PATH", "action": "extend", "default": []}
    result.add_argument(
        "--others",
        **several,
        help="third-party wheels, and directories of them: findings about their form are notes. Name these last",
    )
    result.add_argument(
        "--last-release",
        **several,
        help="distributions of the last release, or directories of them: libraries, symbols, files and requirements "
        "that the new ones lack are findings. Name these last",
    )
    result.add_repeated(
        "--config",
        "FILE",
        "TOML or JSON file with settings and exceptions; may be repeated: exceptions and opened_libraries add up, "
        "and the last value of any other setting counts",
        Path,
    )
    result.add_repeated(
        "--target",
        "GPU",
        "check the set as it is installed on a machine with this GPU target: only with packages for it, and each "
        "library must have code for it; may be repeated",
    )
    result.add_argument("--no-set", action="store_true", help="check each wheel alone, not the set")
    result.add_argument("--all", action="store_true", help="list every file, and findings that exceptions excuse")
    result.add_argument("--sarif", type=Path, metavar="FILE", help="also write the findings as SARIF 2.1.0 (JSON)")
    return result


def make_request(arguments: argparse.Namespace) -> Request:
    """Make a request of the command line and the configuration. Raises ToolError."""
    settings = Settings()
    exceptions: tuple[DeclaredException, ...] = ()
    for path in arguments.config:
        document, origin = read_config(path), str(path)
        settings = make_settings(document.get("settings", {}), origin, settings)
        exceptions += make_exceptions(document.get("exception", []), registry.rules(), origin)
    return Request(
        settings,
        exceptions,
        wheel_set=not arguments.no_set,
        targets=tuple(dict.fromkeys(arguments.target)),
        others=tuple(arguments.others),
        last_release=tuple(arguments.last_release),
    )


def write(outcome: Outcome, arguments: argparse.Namespace) -> None:
    """Print the report, and write the log if it was asked for. Raises OSError."""
    sys.stdout.write(report.render(outcome, everything=arguments.all))
    if arguments.sarif:
        arguments.sarif.write_text(report.render_sarif(outcome, registry.rules()), encoding="utf-8")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    arguments = parser().parse_args(argv)
    if not (arguments.paths or arguments.others):
        parser().error("nothing to verify; expected wheels, sdists, or directories of them")
    if arguments.no_set and arguments.target:
        parser().error("--target is about the set, which --no-set leaves out; leave one of them out")

    def work() -> int:
        outcome = verify(arguments.paths, make_request(arguments))
        write(outcome, arguments)
        return FOUND if any(one.severity is not Severity.NOTE for one in outcome.judged.findings) else OK

    return run_command("rocm-wheels verify", work)


if __name__ == "__main__":
    os.chdir(os.environ.get("BUILD_WORKING_DIRECTORY", "."))  # Where `bazel run` was typed.
    sys.exit(main())
