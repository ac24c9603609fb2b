"""Builds distributions again from their statements, and compares the bytes.

`WHEEL.provenance` beside a distribution has its signed statement, as a channel
lists it. Runs Bazel in the clone, with the options after `--`.
"""

import sys
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from lib.common.command import FOUND, OK, CannotRunError, CommandParser, FoundError, exit_codes, run_command
from lib.common.digest import file_sha256
from lib.index.simple_api import PROVENANCE_SUFFIX
from lib.provenance.statement import Statement, parse_statement
from wheels.rebuild.bazel import Clone
from wheels.rebuild.compare import compare_inputs, compare_members
from wheels.trust.attestation import verified_statement
from wheels.trust.keys import load_public_key

EXAMPLE: Final = """example:
  rocm-wheels rebuild dist/*.whl --trust KEY.pub --artifacts DIR -- --jobs=4

"""


def parser() -> CommandParser:
    """Make the command line parser."""
    codes = exit_codes("the same bytes", "other bytes, or a statement that cannot be trusted")
    result = CommandParser("rocm-wheels rebuild", description=__doc__, epilog=EXAMPLE + codes)
    result.add_argument("files", nargs="+", type=Path, metavar="WHEEL", help="a wheel, or an sdist")
    result.add_argument("--trust", required=True, type=Path, metavar="KEY.pub", help="public key that signs statements")
    result.add_argument("--statement", type=Path, metavar="FILE", help="of one WHEEL (default: WHEEL.provenance)")
    text = "clone of the workspace that built it (default: the current directory)"
    result.add_argument("--workspace", type=Path, default=Path(), metavar="CLONE", help=text)
    result.add_argument("--artifacts", type=Path, metavar="DIR", help="directory of artifacts")
    return result


def _rebuild(path: Path, statement: Statement, clone: Clone) -> bool:
    """Build one distribution again and print what that gives; return whether it has the same bytes."""
    if said := clone.other_commit(statement):
        print(f"NOTE: {said}", file=sys.stderr)
    built, stated = clone.build(statement)
    found = parse_statement(stated.read_bytes(), str(stated))
    causes = compare_inputs(statement, found)
    is_same = file_sha256(built) == statement.sha256
    if is_same:
        print(f"{path.name}: the same bytes, sha256 {statement.sha256}, of {len(found.materials)} materials")
    else:
        print(f"{path.name}: other bytes; these members differ:")
        print("\n".join(f"  {line}" for line in compare_members(path, built)))
    if causes:
        print("These inputs differ:" if not is_same else "These inputs differ, which has changed nothing:")
        print("\n".join(f"  {line}" for line in causes))
    elif not is_same:
        print("All inputs are equal, so the build depends on something else. Report it, with both files")
    return is_same


def _verified(path: Path, given: Namespace) -> Statement:
    """Return the statement of a distribution. Raises FoundError if it is not signed, or of another file."""
    where = given.statement or path.with_name(path.name + PROVENANCE_SUFFIX)
    if not path.is_file() or not where.is_file():
        missing = path if not path.is_file() else where
        raise CannotRunError(
            f"{missing}: no such file; expected a file, and the {PROVENANCE_SUFFIX} that its index lists"
        )
    statement = verified_statement(where.read_bytes(), load_public_key(given.trust), str(where))
    sha256 = file_sha256(path)
    if (statement.filename, statement.sha256) != (path.name, sha256):
        raise FoundError(
            f"{path}: has the sha256 {sha256}; its statement is of {statement.filename} with {statement.sha256}. "
            "Somebody has changed or mixed them: fetch both again"
        )
    return statement


def _work(given: Namespace, options: Sequence[str]) -> int:
    if given.statement and len(given.files) > 1:
        raise CannotRunError(f"--statement={given.statement}: is of one file; {len(given.files)} are given")
    clone = Clone(given.workspace, given.artifacts, tuple(options))
    statements = {path: _verified(path, given) for path in given.files}
    same = [_rebuild(path, statement, clone) for path, statement in statements.items()]
    return OK if all(same) else FOUND


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    own, options = arguments, []
    if "--" in arguments:
        place = arguments.index("--")
        own, options = arguments[:place], arguments[place + 1 :]
    given = parser().parse_args(own)
    return run_command("rocm-wheels rebuild", lambda: _work(given, options), otherwise=FOUND)


if __name__ == "__main__":
    sys.exit(main())
