"""The command line `rocm-sdk`: its commands, their options and their help.

`main` is the entry point of the console script and of `python -m rocm_sdk`. What a command does is in `commands`, which
loads the rest only when it runs: `rocm-sdk version` is to answer at once.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable, Sequence

from . import commands
from .errors import RocmSdkError
from .output import WRITE_ERRORS, complain, discard_output, is_closed_pipe, open_closed_streams, say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _typeshed import SupportsWrite

    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]
    Run = Callable[[argparse.Namespace], int]

EXAMPLES = """\
  rocm-sdk test                is the installation whole?
  rocm-sdk doctor              does anything on this machine get in its way?
  eval "$(rocm-sdk env)"       build against ROCm in this shell
  rocm-sdk COMMAND --help      what a command does, with examples"""

# What shells return for a process that a signal ended: 128, and the number of SIGINT or SIGPIPE, which Windows lacks.
_INTERRUPTED = 128 + 2
_PIPE_CLOSED = 128 + 13


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command in `argv` (the process's own arguments by default) and return the exit status.

    0: done, and nothing wrong; 1: an error, a failed check or a problem; 2: the command line is wrong. A program that
    is ended by Ctrl-C, or because nobody reads its output, returns what shells do for that signal: 130 and 141.
    """
    open_closed_streams()
    warnings.formatwarning = lambda message, *_: f"rocm-sdk: warning: {message}\n"
    try:
        try:
            arguments = make_parser().parse_args((sys.argv[1:] if argv is None else argv) or ["--help"])
            status: int = arguments.run(arguments)
        finally:
            sys.stdout.flush()
    except RocmSdkError as error:
        complain(f"error: {error}")
        return 1
    except KeyboardInterrupt:
        complain("interrupted")
        return _INTERRUPTED
    except OSError as error:
        return _report(error)
    return status


def _report(error: OSError) -> int:
    """Say what the system refused, and return the exit status. An error without a file's name is of the output."""
    if error.filename is not None or error.errno not in WRITE_ERRORS:
        complain(f"error: {error}")
        return 1
    discard_output()
    if is_closed_pipe(error):
        return _PIPE_CLOSED  # Whoever read the output has had enough.
    complain(f"error: standard output cannot be written: {error.strerror}. Send it to another file, or free space.")
    return 1


def make_parser() -> argparse.ArgumentParser:
    """Return the parser; each command's `run` takes the parsed arguments."""
    parser: argparse.ArgumentParser = _Parser(
        prog="rocm-sdk",
        description="The ROCm SDK that is installed in this Python environment.",
        epilog=f"examples:\n{EXAMPLES}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action=_PrintVersion, nargs=0, help="print the version of these packages")
    subparsers = parser.add_subparsers(metavar="COMMAND", required=True)
    _add_informing(subparsers)
    _add_building(subparsers)
    _add_init_py(subparsers)
    _add_checking(subparsers)
    return parser


class _Parser(argparse.ArgumentParser):
    """A parser whose help cannot get lost: argparse ignores that it could not be written."""

    def print_help(self, file: SupportsWrite[str] | None = None) -> None:
        if file is None:
            say(self.format_help(), end="")
        else:
            super().print_help(file)


class _PrintVersion(argparse.Action):
    """The option `--version`; unlike argparse's own, it reads the version only if it is asked for."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from .version import read_version

        say(f"{parser.prog} {read_version()}")
        parser.exit()


def _add(
    subparsers: Subparsers, name: str, run: Run, summary: str, details: str, examples: str
) -> argparse.ArgumentParser:
    """Add a command; `summary` is its line in the list of commands, the rest is for its own help."""
    parser = subparsers.add_parser(
        name,
        help=summary,
        description=f"{summary[0].upper()}{summary[1:]}.\n{details}".strip(),
        epilog=f"examples:\n{examples}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=run)
    return parser


def _add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON, for programs")


def _add_informing(subparsers: Subparsers) -> None:
    """Add the commands that tell what is installed."""
    version = _add(
        subparsers, "version", commands.run_version, "print the version of these packages", "", "  rocm-sdk version"
    )
    _add_json(version)

    targets = _add(
        subparsers,
        "targets",
        commands.run_targets,
        "list the GPU targets, or say which one was chosen and why",
        "Prints all targets in one line, with `;` between them, for CMake and PyTorch.\n"
        "--why names the target that was chosen when `rocm` was installed. --detect\n"
        "chooses again, changes nothing, and prints what each source said: the\n"
        "environment variable ROCM_SDK_TARGET_FAMILY, the kernel driver, offload-arch,\n"
        "rocm_agent_enumerator, clinfo.",
        '  cmake -DCMAKE_HIP_ARCHITECTURES="$(rocm-sdk targets)" ...\n'
        "  rocm-sdk targets --why\n"
        "  rocm-sdk targets --detect --json\n"
        "  ROCM_SDK_TARGET_FAMILY=gfx942 rocm-sdk targets --detect",
    )
    targets.add_argument("--why", action="store_true", help="say which target was chosen, and why")
    targets.add_argument("--detect", action="store_true", help="look at this machine and the environment variable now")
    _add_json(targets)


def _add_building(subparsers: Subparsers) -> None:
    """Add the commands about the development tree."""
    path = _add(
        subparsers,
        "path",
        commands.run_path,
        "print a directory of the development tree; makes the tree if necessary",
        "Needs rocm[devel].",
        '  cmake -DCMAKE_PREFIX_PATH="$(rocm-sdk path --root)" ...\n  ls "$(rocm-sdk path --include)"',
    )
    choice = path.add_mutually_exclusive_group(required=True)
    for name, below in commands.PATHS.items():
        words = f"its {below} directory" if below else "its root, the install prefix of ROCm"
        choice.add_argument(f"--{name}", dest="name", action="store_const", const=name, help=words)
    choice.add_argument(
        "--json", dest="name", action="store_const", const="json", help="print all as JSON, for programs"
    )

    env = _add(
        subparsers,
        "env",
        commands.run_env,
        "print shell commands that set variables for building against ROCm",
        "Sets ROCM_PATH, HIP_PLATFORM, CMAKE_PREFIX_PATH and others. In search paths,\n"
        "ROCm comes first, then this Python environment, then the system. Doing it twice\n"
        "changes nothing. It does not set LD_LIBRARY_PATH: programs find the libraries\n"
        "by RPATH, or by rocm_sdk.initialize_process. Needs rocm[devel].",
        '  eval "$(rocm-sdk env)"               # bash, zsh and other POSIX shells\n'
        "  rocm-sdk env --shell fish | source\n"
        "  rocm-sdk env --shell json            # for programs",
    )
    env.add_argument(
        "--shell", choices=commands.SHELLS, default="bash", help="shell that reads the commands; json for programs"
    )

    init = _add(
        subparsers,
        "init",
        commands.run_init,
        "make, repair or update the development tree",
        "Other commands make the tree when they first need it. Run this while you build\n"
        "an image, if nobody can write to the environment later.",
        "  rocm-sdk init --quiet",
    )
    init.add_argument("--quiet", action="store_true", help="print nothing but errors")


def _add_init_py(subparsers: Subparsers) -> None:
    parser = _add(
        subparsers,
        "init-py",
        commands.run_init_py,
        "write _rocm_init.py, which loads ROCm for the extensions of a wheel",
        "The package calls _rocm_init.initialize() before it imports its first extension\n"
        "module, and requires rocm[libraries] in its metadata. Its wheel then needs no\n"
        "LD_LIBRARY_PATH and no copy of ROCm.",
        "  rocm-sdk init-py --from-extension build/_C.so -o mypackage/_rocm_init.py\n"
        "  rocm-sdk init-py --preload amdhip64,hipblas --check-version '7.10.*'",
    )
    parser.add_argument(
        "--from-extension",
        action="append",
        default=[],
        metavar="FILE",
        help="preload the libraries that this extension module needs (DT_NEEDED); may be repeated",
    )
    parser.add_argument(
        "--preload",
        action="append",
        default=[],
        metavar="NAMES",
        help="preload these libraries, by short names with commas between them",
    )
    parser.add_argument(
        "--check-version",
        default="exact",
        metavar="V",
        help="`exact`: the installed version (default); `minor`: any with its first two numbers; `none`; or a version, "
        "in which `*` stands for any characters",
    )
    parser.add_argument(
        "--fail-on-mismatch", action="store_true", help="raise RuntimeError for another version, instead of a warning"
    )
    parser.add_argument("-o", "--output", metavar="FILE", help="write this file, not to standard output")


def _add_checking(subparsers: Subparsers) -> None:
    """Add the commands that look for faults."""
    test = _add(
        subparsers,
        "test",
        commands.run_test,
        "check the installation, file by file; needs no GPU",
        "Checks versions and RECORD, loads each library, starts each console script,\n"
        "preloads, and checks the development tree, which it makes if necessary.",
        "  rocm-sdk test\n  rocm-sdk test -k library:\n  rocm-sdk test --quick --json",
    )
    test.add_argument("-k", dest="pattern", default="", metavar="TEXT", help="only checks whose name contains TEXT")
    test.add_argument("--quick", action="store_true", help="compare sizes with RECORD, not hashes")
    _add_json(test)

    doctor = _add(
        subparsers,
        "doctor",
        commands.run_doctor,
        "find what keeps the packages from working here, and say what to do",
        "Finds missing or changed files, packages of different versions, a compiler or\n"
        "libraries that do not start, GPUs that this user cannot open, that variables\n"
        "hide or that no package has code for, an LD_LIBRARY_PATH that hides these\n"
        "libraries, another ROCm, and frameworks for CUDA. Nothing is changed. The\n"
        "exit status is 1 if there is a problem, 0 if there are only warnings and notes.",
        "  rocm-sdk doctor\n  rocm-sdk doctor --json | jq '.findings[].remedy'",
    )
    _add_json(doctor)
