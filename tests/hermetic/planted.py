"""What no action may do, done by an action: the program behind the rule `planted_action`.

    planted.py FAULT --input=DECLARED --undeclared=FILE --output=FILE

FAULT is the name of a function below. Each also writes the output, so that nothing but the fault tells them apart;
`nothing` has none. Exit code 1 and a message say that the fault could not be done. Whether there is a network, a shell
or a file of the machine, the jail is asked itself. It stands alone, like a tool.
"""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path


def nothing(args: argparse.Namespace) -> str:
    """Read what is declared."""
    return Path(args.input).read_text(encoding="utf-8")


def read_undeclared(args: argparse.Namespace) -> str:
    """Read a file of the workspace that is not among the inputs."""
    return Path(args.undeclared).read_text(encoding="utf-8")


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
    one.__name__: one for one in (nothing, read_undeclared, write_input, write_beside)
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
    except OSError as error:
        print(f"planted: {args.fault}: {error}", file=sys.stderr)
        return 1
    Path(args.output).write_text(seen, encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
