"""What no action may do, done by an action: the program behind the rule `planted_action`.

    planted.py FAULT --input=DECLARED --undeclared=FILE --output=FILE

FAULT is the name of a function below. Each also writes the output, so that nothing but the fault tells them apart;
`nothing` has none. Exit code 1 and a message say that the fault could not be done. It stands alone, like a tool.
"""

import argparse
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

#: TEST-NET-1 (RFC 5737), where nobody is. Connecting a datagram socket sends nothing: it asks whether there is a way.
NOBODY = ("192.0.2.1", 9)
TMP = "/tmp/rules_rocm_python-planted"


def nothing(args: argparse.Namespace) -> str:
    """Read what is declared."""
    return Path(args.input).read_text(encoding="utf-8")


def read_undeclared(args: argparse.Namespace) -> str:
    """Read a file of the workspace that is not among the inputs."""
    return Path(args.undeclared).read_text(encoding="utf-8")


def read_machine(args: argparse.Namespace) -> str:
    """Read a file of the machine."""
    return Path("/etc/passwd").read_text(encoding="utf-8")


def connect(args: argparse.Namespace) -> str:
    """Connect a socket."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        one.connect(NOBODY)
        return str(one.getsockname())


def run_shell(args: argparse.Namespace) -> str:
    """Run what PATH happens to have."""
    return subprocess.run(["sh", "-c", "echo $0"], capture_output=True, text=True, check=True).stdout


def write_home(args: argparse.Namespace) -> str:
    """Write to the home directory."""
    return wrote(Path("~/.planted").expanduser())


def write_root(args: argparse.Namespace) -> str:
    """Write to the root file system."""
    return wrote(Path("/planted"))


def write_tmp(args: argparse.Namespace) -> str:
    """Write to the machine's directory for temporary files."""
    return wrote(Path(TMP))


def write_input(args: argparse.Namespace) -> str:
    """Change what is declared as an input."""
    return wrote(Path(args.input))


def write_beside(args: argparse.Namespace) -> str:
    """Write a file beside the outputs."""
    return wrote(Path(args.output + ".stray"))


def wrote(path: Path) -> str:
    """Write a line to a file."""
    path.write_text("planted\n", encoding="utf-8")
    return f"wrote {path}"


FAULTS: dict[str, Callable[[argparse.Namespace], str]] = {
    one.__name__: one
    for one in (
        nothing,
        read_undeclared,
        read_machine,
        connect,
        run_shell,
        write_home,
        write_root,
        write_tmp,
        write_input,
        write_beside,
    )
}


def main(argv: list[str]) -> int:
    """Do the fault."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("fault", choices=sorted(FAULTS))
    parser.add_argument("--input", required=True)
    parser.add_argument("--undeclared", required=True)
    parser.add_argument("--output", required=True)
    args = parser.parse_args(argv)
    try:
        seen = FAULTS[args.fault](args)
    except (OSError, RuntimeError) as error:  # the latter where there is no home directory
        print(f"planted: {args.fault}: {error}", file=sys.stderr)
        return 1
    Path(args.output).write_text(seen, encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
