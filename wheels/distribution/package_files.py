"""Writes the modules of the package `rocm_wheels`: what the repository has in three places, in one package.

In the repository, `lib` and `wheels` are packages that Bazel puts on the path. A distribution must not install such
names beside everybody else's, so it has them inside `rocm_wheels`, and each import names them there. Only import
statements change, and no line moves: a traceback and an editor show the line that the repository has.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from lib.common.arguments import run_program

#: Package of the repository -> package of the distribution.
PACKAGES: Final = {"lib": "rocm_wheels.lib", "rocm_sdk": "rocm_wheels.rocm_sdk", "wheels": "rocm_wheels"}
_IMPORT: Final = re.compile(rf"^(\s*from ){'(' + '|'.join(PACKAGES) + ')'}(?=[. ])", re.MULTILINE)


def rewritten(source: str) -> str:
    """Return a module whose imports name the packages of the distribution."""
    return _IMPORT.sub(lambda match: match[1] + PACKAGES[match[2]], source)


@dataclass(frozen=True)
class Arguments:
    """Arguments from the rule."""

    label: str
    file: dict[str, str]  #: Where to write each file.


def write(args: Arguments) -> None:
    """Write all files: modules with other imports, anything else as it is."""
    for source, output in args.file.items():
        data = Path(source).read_bytes()
        Path(output).write_bytes(rewritten(data.decode()).encode() if source.endswith(".py") else data)


def main(argv: list[str]) -> int:
    """Write all files."""
    return run_program(Arguments, argv, write)
