"""Compiles a HIP source, and fails if it includes files that no target declares.

Bazel compiles again what a changed input belongs to. A file that the compiler finds by itself is no input: by an
absolute path, or where no sandbox hides what lies beside the source. `headers` lists what targets declare, one path a
line. Headers of the compiler and of the C++ library, below `system`, need no target.

`unused` gets the declared headers that were not read. Their changes compile nothing again.

clang lists what it read as a rule of make: the files that the source includes, those that it only looks for
(`__has_include`), and the source itself. Paths are as the compiler found them, relative to the execution root or
absolute.

If clang fails with a message whose cause is in a BUILD file, the program says what to do there.
"""

import os
import posixpath
import re
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from lib.common.arguments import run_program
from lib.common.program import ToolError, end_with_parent

#: What the rule is for. The name of an output would need escapes of its own.
TARGET = "dependencies"
#: An inclusion as clang shows it (`-H`): how deep it is, in dots, and the file.
_INCLUSION = re.compile(r"^(\.+) (.+)$", re.MULTILINE)
#: Directives of inline assembly that read files.
_DIRECTIVE = re.compile(rb"\.inc(?:bin|lude)\b")
#: Parts of a rule: a line that goes on, a blank or `#` with backslashes before it, a dollar, the end, and the rest.
_PART = re.compile(r"\\\n|\\+ |\\#|\$\$|[ \n]|[^\\$ \n]+|.", re.DOTALL)


def read_rule(text: str) -> list[str]:
    """Return the prerequisites of the first rule of a makefile that clang wrote. Raises ToolError if there is none."""
    before, colon, rest = text.partition(f"{TARGET}:")
    if before or not colon:
        raise ToolError(
            f"expected a list of dependencies of clang, which begins with {TARGET}:, and found {text[:40]!r}. Remove "
            "options about dependency files"
        )
    names, name = [], ""
    for part in _PART.findall(rest):
        backslashes = len(part) - 1
        if part in (" ", "\n", "\\\n") or (part.endswith("\\ ") and backslashes % 2 == 0):
            names.append(name + "\\" * (backslashes // 2 if part[-1] == " " else 0))
            name = ""
            if part == "\n":
                break
        elif part.endswith("\\ "):
            name += "\\" * (backslashes // 2) + " "
        else:
            name += part[1:] if part in ("\\#", "$$") else part
    return [one for one in (*names, name) if one]


def place_of(path: str, root: str) -> str:
    """Return the path that a file has as an input: without `.` and `..`, and relative if it is below the root.

    `..` behind a link to a directory leads elsewhere than the text says: then the file's real path counts.
    """
    place = posixpath.normpath(path)
    if ".." in path.split("/") and not (Path(place).exists() and Path(place).samefile(path)):
        place = os.path.realpath(path)
    place = re.sub("^//+", "/", place)
    # A worker of remote execution may make the execution root its `/`, and put the machine's own files there, too.
    return place if root == "/" else place.removeprefix(f"{root}/")


def read_includers(text: str, root: str) -> dict[str, str]:
    """Return which header includes another one, by what clang shows of inclusions (`-H`)."""
    stack: list[str] = []
    found: dict[str, str] = {}
    for dots, path in _INCLUSION.findall(text):
        stack[len(dots) - 1 :] = [place_of(path, root)]
        if len(stack) > 1:
            found.setdefault(stack[-1], stack[-2])
    return found


@dataclass(frozen=True)
class Declared:
    """The headers that targets declare, and the directories whose headers need no target."""

    #: In their order. Directories end with `/`.
    headers: Sequence[str]
    system: Sequence[str]

    @classmethod
    def read(cls, listed: Path, system: Iterable[str]) -> "Declared":
        """Read a list of headers, one a line."""
        lines = os.fsdecode(listed.read_bytes()).split("\n")
        return cls([line for line in lines if line], [posixpath.normpath(one) for one in system])

    def undeclared(self, used: Iterable[str]) -> list[str]:
        """Return the files that no target declares, sorted."""
        headers = frozenset(self.headers)
        directories = [one for one in self.headers if one.endswith("/")]
        allowed = (*directories, *(f"{one}/" for one in self.system))
        return sorted(one for one in used if one not in headers and not one.startswith(allowed))

    def unused(self, source: str, used: Iterable[str]) -> list[str]:
        """Return the headers of which no change can change what was compiled.

        clang lists a file once that it read by several names, such as links to it, and workers of remote execution may
        keep equal files as one: so headers that are the same file as a used one count as used. It does not list what
        inline assembly reads: if there may be such, all count as used.
        """
        names = frozenset(used)
        included = [header for header in self.headers if header in names]
        if any(_DIRECTIVE.search(Path(name).read_bytes()) for name in (source, *included)):
            return []
        read = {_identity(header) for header in included}
        return [
            header
            for header in self.headers
            # Bazel takes no directories, and strips blanks off the lines of such a list.
            if not header.endswith("/") and header == header.strip() and _identity(header) not in read
        ]


def _identity(path: str) -> tuple[int, int] | str:
    """Return by what a file is told apart from others, whatever its names; its name if there is no such file."""
    try:
        status = os.stat(path)  # noqa: PTH116
    except OSError:
        return path
    return status.st_dev, status.st_ino


_REMEDY = (
    "Expected only declared headers: if another header changed, Bazel would compile nothing again. Add a header of the "
    "workspace to `hdrs` or `srcs`, or the library that has it to `deps`. Declare a library of headers that are "
    "elsewhere; if they belong to the C++ library, name their directory in `cxx_builtin_include_directories` of the "
    "toolchain for C++"
)


@dataclass(frozen=True)
class Hint:
    """A message of clang, and what to do."""

    message: "re.Pattern[str]"
    #: `{}` stands for what the message's group matches.
    remedy: str


HINTS: Final = (
    Hint(
        re.compile(
            r"fatal error: '((?:cuda_\w+|cuda|cublas\w*|cudnn|cufft|curand\w*|cusolver\w+|cusparse|nccl|nvrtc)\.h)' "
            "file not found"
        ),
        "{} is a header of CUDA; expected HIP's, such as hip/hip_runtime.h. Convert the source with hipify-perl or "
        "hipify-clang",
    ),
    Hint(
        re.compile(r"undefined (?:hidden |protected )?symbol: (.+)"),
        "device code calls {}, which its source does not define; expected it in the same source. If another source "
        "defines it, set `relocatable = True` in the targets of both",
    ),
)


_MISSING: Final = re.compile(r"fatal error: '(([^'/]+)/[^']+)' file not found")


def hint(messages: str, headers: Mapping[str, str]) -> str:
    """Return what to do about the first message of clang that needs an explanation, empty if none does.

    `headers` has the label of the SDK's library for each directory of headers.
    """
    if (missing := _MISSING.search(messages)) and missing[2] in headers:
        return f"{missing[1]} is a header of the SDK; expected its library, {headers[missing[2]]}, in `deps`. Add it"
    for one in HINTS:
        if found := one.message.search(messages):
            return one.remedy.format(found[1])
    return ""


def dependency_options(file: Path) -> list[str]:
    """Return the options that make clang list what it reads: `-MD` does so for the host alone, these for GPUs, too."""
    options = ("-dependency-file", str(file), "-sys-header-deps", "-MT", TARGET)
    return [word for option in options for word in ("-Xclang", option)]


@dataclass(frozen=True)
class Compiler:
    """A command that compiles a source, and its environment variables."""

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


@dataclass(frozen=True)
class Arguments:
    """Arguments from the rule. A `str` is the path of a file, unless its comment says otherwise."""

    label: str
    source: str  #: What is compiled.
    output: Path  #: What the compiler writes.
    headers: Path  #: List of the declared headers.
    unused: Path  #: List of those that were not used, to write.
    input: list[str]  #: Other declared files that the compiler may read.
    system: list[str]  #: Directories of headers that need no target.
    variable: dict[str, str]  #: The compiler's environment.
    sdk_header: dict[str, str]  #: Libraries of the SDK by their directories of headers, for errors.


def compile_source(args: Arguments, command: Sequence[str]) -> int:
    """Compile, check the headers, and write which of them were not used; return the compiler's exit status."""
    compiler = Compiler(command, args.variable)
    dependencies = args.output.with_name(f"{args.output.name}.d")
    try:
        compiled = compiler.run(*dependency_options(dependencies), stderr=subprocess.PIPE)
        sys.stderr.write(messages := os.fsdecode(compiled.stderr))
        if status := compiled.returncode:
            if explanation := hint(messages, args.sdk_header):
                print(f"ERROR: {args.label}: {args.source}: {explanation}", file=sys.stderr)
            return status if status > 0 else 128 - status  # as a shell says that a signal ended it
        text = os.fsdecode(dependencies.read_bytes()) if dependencies.exists() else ""
        unused = check(text, args.source, args.input, Declared.read(args.headers, args.system), compiler)
        args.unused.write_bytes(os.fsencode("".join(f"{one}\n" for one in unused)))
        return 0
    finally:
        dependencies.unlink(missing_ok=True)


def main(argv: list[str]) -> int:
    """Compile with the command behind `--`; return its exit status, or 1 for headers that no target declares."""
    own, command = argv[: argv.index("--")], argv[argv.index("--") + 1 :]
    statuses: list[int] = []
    return run_program(Arguments, own, lambda args: statuses.append(compile_source(args, command))) or statuses[0]
