"""The command `rocm-wheels`: checks, splits and publishes wheels, and makes them use the packages of an SDK.

Each sub-command is a module of its own, which is imported when it is called: the command starts at once.
"""

import os
import sys
from collections.abc import Sequence
from importlib import import_module, metadata
from typing import Final

#: Sub-command -> the module whose `main(argv)` it is, relative to this package, and what it does.
COMMANDS: Final = {
    "verify": ("verify.tool", "check wheels before they are published, each alone and all together"),
    "split": ("split.tool", "make small wheels for some GPUs out of a wheel for many"),
    "require-sdk": ("require_sdk.rocm", "let a wheel use an SDK's packages instead of its own copies"),
    "channel": ("channel.tool", "keep builds in streams, each an index, over one store of files"),
    "code": ("code.tool", "list the GPU code in wheels and libraries, or take it out"),
}
USAGE: Final = "usage: rocm-wheels COMMAND …"


def help_text() -> str:
    """Return what `--help` prints."""
    lines = [USAGE, "", "Works on wheels with GPU code, and on sets of wheels that share libraries.", "", "commands:"]
    lines += [f"  {name:<12} {summary}" for name, (_, summary) in COMMANDS.items()]
    lines += ["", "`rocm-wheels COMMAND --help` explains a command. `rocm-wheels --version` prints the version."]
    return "\n".join(lines)


def version() -> str:
    """Return the version of the installed distribution."""
    try:
        return metadata.version("rocm-wheels")
    except metadata.PackageNotFoundError:
        return "unknown: run from its sources"


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit status: 2 for a command that does not exist."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    first = arguments[0] if arguments else "--help"
    if first in ("-h", "--help"):
        print(help_text())
        return 0
    if first == "--version":
        print(f"rocm-wheels {version()}")
        return 0
    if first not in COMMANDS:
        print(f"rocm-wheels: {first}: no such command; expected {', '.join(COMMANDS)}\n{USAGE}", file=sys.stderr)
        return 2
    module = import_module(f"{__package__}.{COMMANDS[first][0]}")
    status: int = module.main(arguments[1:])
    return status


if __name__ == "__main__":
    os.chdir(os.environ.get("BUILD_WORKING_DIRECTORY", "."))  # Where `bazel run` was typed.
    __package__ = "wheels"
    sys.exit(main())
