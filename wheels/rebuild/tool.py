"""Builds distributions again from their statements, and compares the bytes.

`WHEEL.provenance` beside a distribution has its signed statement, as a channel
lists it. Runs Bazel in the clone, with the options after `--`.
"""

import json
import os
import subprocess
import sys
import tempfile
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

from lib.common.command import FOUND, OK, CannotRunError, CommandParser, FoundError, exit_codes, run_command
from lib.common.digest import file_sha256
from lib.index.simple_api import PROVENANCE_SUFFIX
from lib.provenance.statement import COMMIT, Material, Statement, parse_statement
from lib.provenance.statement import SUFFIX as STATEMENT_SUFFIX
from wheels.common.attestation import verified_statement
from wheels.common.keys import load_public_key
from wheels.common.members import read_members

EXAMPLE: Final = """example:
  rocm-wheels rebuild dist/*.whl --trust KEY.pub --artifacts DIR -- --jobs=4

"""
_EPOCH: Final = "SOURCE_DATE_EPOCH"
#: The descriptor: standard output is for the result.
_STDERR: Final = 2


@dataclass(frozen=True)
class Clone:
    """A workspace that distributions are built in."""

    directory: Path
    artifacts: Path | None = None
    """Directory of artifacts; None for the workspace's own."""
    options: tuple[str, ...] = ()
    """Further options of Bazel."""

    @property
    def bazel(self) -> str:
        """The command that starts Bazel: the clone's `bazelw`, if it has one."""
        wrapper = self.directory.absolute() / "bazelw"
        return str(wrapper) if wrapper.exists() else "bazel"

    def command(self, statement: Statement, events: str) -> list[str]:
        """Return the command that builds what a statement is of; Bazel writes what it has built to `events`."""
        variables = {name: value for name, value in statement.environment.items() if name != _EPOCH}
        if self.artifacts:
            if not statement.artifacts_variable:
                raise CannotRunError("--artifacts: the statement names no variable for it. Name options behind `--`")
            variables[statement.artifacts_variable] = str(self.artifacts.absolute())
        epoch = statement.environment.get(_EPOCH)
        return [
            self.bazel,
            "build",
            f"--build_event_json_file={events}",
            f"--output_groups={statement.filename}",
            *(f"--repo_env={name}={value}" for name, value in sorted(variables.items())),
            *([f"--action_env={_EPOCH}={epoch}"] if epoch else []),
            *(f"--{label}={value}" for label, value in sorted(statement.settings.items())),
            *self.options,
            statement.provenance,
        ]

    def build(self, statement: Statement) -> tuple[Path, Path]:
        """Build a distribution and its statement; return where they are. Raises CannotRunError if that fails."""
        with tempfile.TemporaryDirectory(prefix="rocm-wheels-") as scratch:
            events = Path(scratch, "events.json")
            command = self.command(statement, str(events))
            environment = {name: value for name, value in os.environ.items() if name != _EPOCH}
            try:
                done = subprocess.run(command, cwd=self.directory, env=environment, stdout=_STDERR, check=False)
            except OSError as error:
                raise CannotRunError(f"{error.filename}: {error.strerror}; expected Bazel and a clone") from None
            if done.returncode:
                raise CannotRunError(f"{self.directory}: Bazel ended with {done.returncode}: see its errors above")
            files = {path.name: path for path in _outputs(events.read_text(encoding="utf-8").splitlines())}
        names = statement.filename, statement.filename + STATEMENT_SUFFIX
        if missing := [name for name in names if name not in files]:
            where = f"{self.directory}: {statement.provenance}"
            raise CannotRunError(f"{where} does not write {missing[0]}. Check out the commit of the statement")
        return files[names[0]], files[names[1]]

    def other_sources(self, statement: Statement) -> str:
        """Return what to do if the clone is not as the commit of a statement is, else nothing."""
        wanted = next((one.digest[COMMIT] for one in statement.materials if COMMIT in one.digest), "")
        found = self._git("rev-parse", "HEAD")
        remedy = f"git -C {self.directory}"
        if not wanted or not found:
            return ""
        if wanted != found:
            return f"{self.directory}: is at the commit {found}; expected {wanted}: {remedy} checkout {wanted}"
        if self._git("status", "--porcelain", "--untracked-files=no"):
            return f"{self.directory}: has changes that are not committed; put them away: {remedy} stash"
        return ""

    def _git(self, *arguments: str) -> str:
        try:
            ask = ["git", "-C", str(self.directory), *arguments]
            return subprocess.run(ask, capture_output=True, text=True, check=False).stdout.strip()
        except OSError:
            return ""


def _outputs(events: Sequence[str]) -> Iterator[Path]:
    """Yield the files that Bazel says it has built (Build Event Protocol)."""
    for event in map(json.loads, events):
        for file in event.get("namedSetOfFiles", {}).get("files", ()):
            url = urlsplit(file.get("uri", ""))
            if url.scheme == "file":
                yield Path(unquote(url.path))


def compare_members(given: Path, built: Path) -> list[str]:
    """Return a line for each member that differs; RECORD, which follows from others, is the last.

    Raises ToolError if an archive cannot be read.
    """
    there, again = read_members(given), read_members(built)
    lines = []
    for name in sorted(there.keys() | again.keys(), key=lambda one: (one.endswith(".dist-info/RECORD"), one)):
        one, other = there.get(name), again.get(name)
        if one is None or other is None:
            lines.append(f"{name}: only in the {'rebuilt' if one is None else 'given'} distribution")
        elif one.sha256 != other.sha256:
            lines.append(f"{name}: expected sha256 {one.sha256}, built {other.sha256}")
        elif one != other:
            lines.append(f"{name}: same content, but another mode, date or compression")
    return lines or ["same members, but in another order or with other bytes between them"]


def compare_inputs(expected: Statement, found: Statement) -> list[str]:
    """Return a line for each material, setting and variable that differs between two statements."""
    ours, theirs = ({one.name: one for one in statement.materials} for statement in (expected, found))
    lines = [_material(name, ours.get(name), theirs.get(name)) for name in sorted(ours.keys() | theirs.keys())]
    lines += _differing("setting", expected.settings, found.settings)
    lines += _differing("variable", expected.environment, found.environment)
    return [line for line in lines if line]


def _material(name: str, expected: Material | None, found: Material | None) -> str:
    if expected is None or found is None:
        return f"{name}: {'was no input' if expected is None else f'expected {expected.shown}, found nothing'}"
    return "" if expected.equals(found) else f"{name}: expected {expected.shown}, found {found.shown}"


def _differing(kind: str, expected: Mapping[str, str], found: Mapping[str, str]) -> list[str]:
    names = sorted(name for name in expected.keys() | found.keys() if expected.get(name) != found.get(name))
    return [f"{kind} {name}: expected {expected.get(name)!r}, found {found.get(name)!r}" for name in names]


def parser() -> CommandParser:
    """Make the command line parser."""
    codes = exit_codes("the same bytes", "other bytes, or a statement that cannot be trusted")
    result = CommandParser("rocm-wheels rebuild", description=__doc__, epilog=EXAMPLE + codes)
    result.add_argument("files", nargs="+", type=Path, metavar="WHEEL", help="a wheel, or an sdist")
    result.add_argument("--trust", required=True, type=Path, metavar="KEY.pub", help="public key that signs statements")
    text = "clone of the workspace that built it (default: the current directory)"
    result.add_argument("--workspace", type=Path, default=Path(), metavar="CLONE", help=text)
    result.add_argument("--artifacts", type=Path, metavar="DIR", help="directory of artifacts")
    return result


def _rebuild(path: Path, statement: Statement, clone: Clone) -> bool:
    """Build one distribution again and print what that gives; return whether it has the same bytes."""
    if said := clone.other_sources(statement):
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
        print(
            "These inputs differ:"
            if not is_same
            else "These inputs differ, but in nothing that this distribution contains:"
        )
        print("\n".join(f"  {line}" for line in causes))
        if not is_same and statement.artifacts_variable and not clone.artifacts:
            print("The workspace's own artifacts were used: name the directory of the release's with --artifacts")
    elif not is_same:
        print("All inputs are equal, so the build depends on something else. Report it, with both files")
    return is_same


def _verified(path: Path, given: Namespace) -> Statement:
    """Return the statement of a distribution. Raises FoundError if it is not signed, or of another file."""
    where = path.with_name(path.name + PROVENANCE_SUFFIX)
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
    clone = Clone(given.workspace, given.artifacts, tuple(options))
    statements = {path: _verified(path, given) for path in given.files}
    same = [_rebuild(path, statement, clone) for path, statement in statements.items()]
    print(f"{sum(same)} of {len(same)} have the same bytes")
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
