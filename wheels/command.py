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
    "verify": ("verify.tool", "check wheels before you publish them, each alone and all together"),
    "split": ("split.tool", "make small wheels, one per GPU, out of a wheel for many GPUs"),
    "require-sdk": ("require_sdk.rocm", "let a wheel use an SDK's packages instead of bundled copies"),
    "channel": ("channel.tool", "publish builds in streams; each stream is an index for pip and uv"),
    "rebuild": ("rebuild.tool", "build a wheel again from what its statement says, and compare"),
    "code": ("code.tool", "list the GPU code in wheels and libraries"),
}
USAGE: Final = "usage: rocm-wheels COMMAND …"
EXAMPLES: Final = """examples:
  rocm-wheels verify dist/
  rocm-wheels split acme-1.0-*.whl --targets gfx942,gfx1100 --output thin

`rocm-wheels COMMAND --help` explains a command.
`rocm-wheels --version` prints the version."""


def help_text() -> str:
    """Return what `--help` prints."""
    lines = [USAGE, "", "Checks, splits and publishes wheels that have GPU code or share libraries.", ""]
    lines += ["commands:", *(f"  {name:<12} {summary}" for name, (_, summary) in COMMANDS.items())]
    return "\n".join([*lines, "", EXAMPLES])


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
