"""The actions behind a target, as the rule `recorded_actions` wrote them down, for tests that run them again.

    for action in read_record(Path(os.environ["ACTIONS"])):
        ...

The tests run where their runfiles are; of those the record names all inputs, and the outputs that Bazel has of them.
"""

import json
import shutil
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any


@dataclass(frozen=True)
class Place:
    """Where a file is: relative to the execution root, and in this test's runfiles."""

    execroot: str
    runfiles: Path

    def copied_to(self, execroot: Path) -> list[Path]:
        """Copy the file, or the files of a directory, to another execution root; return the copies."""
        is_directory = self.runfiles.is_dir()
        files = sorted(path for path in self.runfiles.rglob("*") if path.is_file()) if is_directory else [self.runfiles]
        copies = [
            execroot / self.execroot / (path.relative_to(self.runfiles) if is_directory else "") for path in files
        ]
        for path, copy in zip(files, copies, strict=True):
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copy)
        return copies


@dataclass(frozen=True)
class Recorded:
    """An action as Bazel ran it."""

    mnemonic: str
    argv: list[str]
    #: The variables that the action sets; what a build passes on by `--action_env` is not among them.
    environment: dict[str, str]
    inputs: list[Place]
    outputs: list[Place]

    @property
    def files(self) -> list[Place]:
        """The inputs except the interpreter and its library, which are used from where they really are.

        An interpreter in a folder `bin` has its library beside that. Any other is alone: bazel_tools' script that looks
        for one is an output, below the `bin` that all outputs of its configuration share.
        """
        folder = PurePosixPath(self.argv[0]).parent
        own = folder.parent if folder.name == "bin" else PurePosixPath(self.argv[0])
        # Its digest is taken, too: there it is an input as any other.
        named = [place for place in self.inputs if any(place.execroot in word for word in self.argv[1:])]
        return [
            place for place in self.inputs if place in named or not PurePosixPath(place.execroot).is_relative_to(own)
        ]

    @property
    def interpreter(self) -> str:
        """Path of the interpreter that runs the action, in runfiles or on the machine."""
        return next((str(one.runfiles) for one in self.inputs if one.execroot == self.argv[0]), self.argv[0])


def read_record(path: Path) -> list[Recorded]:
    """Read the record that the rule `recorded_actions` wrote, in the order of the actions' outputs."""

    def places(rows: list[dict[str, str]]) -> list[Place]:
        return [Place(row["execroot"], Path(row["runfiles"]).absolute()) for row in rows]

    rows: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    return [
        Recorded(row["mnemonic"], row["argv"], row["env"], places(row["inputs"]), places(row["outputs"]))
        for row in sorted(rows, key=lambda row: str(row["outputs"][0]["execroot"]))
    ]


def contents(path: Path) -> dict[str, bytes]:
    """Read a file, or all files below a directory, by relative path."""
    files = [path] if path.is_file() else sorted(one for one in path.rglob("*") if one.is_file())
    return {str(one.relative_to(path)): one.read_bytes() for one in files}


def identity(action: Recorded) -> str:
    """Name an action by what it makes."""
    return f"{action.mnemonic}:{action.outputs[0].execroot.partition('/bin/')[2]}"
