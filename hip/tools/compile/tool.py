"""Compiles a HIP source, and fails if it includes files that no target declares.

    tool --label LABEL --source FILE --output FILE --headers FILE --unused FILE
         [--input FILE…] [--system DIRECTORY…] [--variable NAME=VALUE…] [--sdk_header DIRECTORY=LIBRARY…]
         -- COMPILER ARGUMENT…

Bazel compiles again what a changed input belongs to. A file that the compiler finds by itself is no input: by an
absolute path, or where no sandbox hides what lies beside the source. `--headers` lists what targets declare, one path a
line. Headers of the compiler and of the C++ library, below `--system`, need no target.

`--unused` gets the declared headers that were not read. Their changes compile nothing again.
"""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from hip.tools.compile.dependencies import TARGET, Declared, place_of, read_includers, read_rule
from hip.tools.compile.hints import hint
from lib.common.program import ToolError, argument_parser, end_with_parent, file_arguments, report_errors

_REMEDY = (
    "Expected only declared headers: if another header changed, Bazel would compile nothing again. Add a header of the "
    "workspace to `hdrs` or `srcs`, or the library that has it to `deps`. Declare a library of headers that are "
    "elsewhere; if they belong to the C++ library, name their directory in `cxx_builtin_include_directories` of the "
    "toolchain for C++"
)


def dependency_options(file: Path) -> list[str]:
    """Return the options that make clang list what it reads: `-MD` does so for the host alone, these for GPUs, too."""
    options = ("-dependency-file", str(file), "-sys-header-deps", "-MT", TARGET)
    return [word for option in options for word in ("-Xclang", option)]


@dataclass(frozen=True)
class Compiler:
    """A command that compiles a source, and variables of its environment."""

    command: Sequence[str]
    variables: Mapping[str, str]

    def run(self, *options: str, stderr: int | None = None) -> "subprocess.CompletedProcess[bytes]":
        """Run the compiler with further options."""
        # A tool that is killed takes the compiler along: that would write where another build writes by then.
        watch = partial(end_with_parent, os.getpid())
        environment = {**os.environ, **self.variables}
        command = [*self.command, *options]
        return subprocess.run(command, env=environment, preexec_fn=watch, stderr=stderr, check=False)

    def includers(self, root: str) -> dict[str, str]:
        """Return which file includes another one: clang shows that, asked once more."""
        shown = self.run("-E", "-H", "-o", os.devnull, stderr=subprocess.PIPE).stderr
        return read_includers(os.fsdecode(shown), root)


def check(text: str, source: str, inputs: Sequence[str], declared: Declared, compiler: Compiler) -> list[str]:
    """Return the headers that a compilation did not use, by what clang lists.

    Raises ToolError if it read files that no target declares.
    """
    root = os.getcwd()  # noqa: PTH109
    used = {place_of(name, root) for name in read_rule(text)}
    if source not in used:
        raise ToolError(
            f"{source}: clang does not list it among the files that it read; expected one compilation from the source "
            "to the output. Remove options that split it, such as -save-temps"
        )
    if undeclared := declared.undeclared(used.difference([source, *inputs])):
        by = {name: f" (included by '{includer}')" for name, includer in compiler.includers(root).items()}
        names = "".join(f"\n  '{name}'{by.get(name, '')}" for name in undeclared)
        raise ToolError(f"undeclared inclusion(s): {source} includes files that no target declares:{names}\n{_REMEDY}")
    return declared.unused(source, used)


def main(argv: list[str]) -> int:
    """Run the tool; return the exit status."""
    parser = argument_parser(__doc__)
    parser.add_argument("--label", required=True, help="target, for errors")
    parser.add_argument("--source", required=True, help="what is compiled")
    parser.add_argument("--output", type=Path, required=True, help="what the compiler writes")
    parser.add_argument("--headers", type=Path, required=True, help="list of the declared headers")
    parser.add_argument("--unused", type=Path, required=True, help="list of those that were not used")
    parser.add_argument("--input", action="append", default=[], help="another declared file that the compiler may read")
    parser.add_argument("--system", action="append", default=[], help="directory of headers that need no target")
    parser.add_argument("--variable", action="append", default=[], help="variable of the compiler's environment")
    parser.add_argument("--sdk_header", action="append", default=[], help="DIRECTORY=LIBRARY of the SDK, for errors")
    own, command = argv[: argv.index("--")], argv[argv.index("--") + 1 :]
    args = parser.parse_args(own)
    headers = dict(one.split("=", 1) for one in args.sdk_header)
    compiler = Compiler(command, file_arguments(args.variable))
    dependencies = args.output.with_name(f"{args.output.name}.d")

    def work() -> None:
        text = os.fsdecode(dependencies.read_bytes()) if dependencies.exists() else ""
        unused = check(text, args.source, args.input, Declared.read(args.headers, args.system), compiler)
        args.unused.write_bytes(os.fsencode("".join(f"{one}\n" for one in unused)))

    try:
        compiled = compiler.run(*dependency_options(dependencies), stderr=subprocess.PIPE)
        sys.stderr.write(messages := os.fsdecode(compiled.stderr))
        if status := compiled.returncode:
            if explanation := hint(messages, headers):
                print(f"ERROR: {args.label}: {args.source}: {explanation}", file=sys.stderr)
            return status if status > 0 else 128 - status  # as a shell says that a signal ended it
        return report_errors(args.label, work)
    finally:
        dependencies.unlink(missing_ok=True)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
