"""Tests of how programs read what rules tell them."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import pytest

from lib.common.arguments import read_arguments, run_program
from lib.common.program import ToolError


@dataclass(frozen=True)
class Arguments:
    """One field of each type."""

    label: str
    license_pattern: list[str]
    parts: tuple[int, ...]
    folder: Path | None
    edit: dict[str, str]
    file: dict[str, Path]
    verbose: bool
    kind: Literal["runtime", "devel"] = "runtime"
    threads: int = 1
    names: list[str] = field(default_factory=lambda: ["a"])


def read(*argv: str) -> Arguments:
    return read_arguments(Arguments, ["--label=//:a", *argv])


def test_what_is_absent() -> None:
    assert read() == Arguments("//:a", [], (), None, {}, {}, verbose=False)


@pytest.mark.parametrize(
    ("argv", "name", "value"),
    [
        (
            ["--license-pattern=a=b", "--license-pattern", "c d", "--license-pattern="],
            "license_pattern",
            ["a=b", "c d", ""],
        ),
        (["--license-pattern", "--label=x"], "license_pattern", ["--label=x"]),
        (["--parts=2", "--parts=1"], "parts", (2, 1)),
        (["--folder=a/b"], "folder", Path("a/b")),
        (["--edit=a=b=c", "--edit", "d=", "--edit=e"], "edit", {"a": "b=c", "d": "", "e": ""}),
        (["--file=a=b/c"], "file", {"a": Path("b/c")}),
        (["--verbose"], "verbose", True),
        (["--kind=devel"], "kind", "devel"),
        (["--threads=8"], "threads", 8),
        (["--names=b"], "names", ["b"]),
    ],
)
def test_types(argv: list[str], name: str, value: Any) -> None:
    assert getattr(read(*argv), name) == value


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["x=y"], "x=y: is for no field; expected one of label, license_pattern, "),
        (["--lab=//:a"], "--lab=//:a: is for no field; "),
        (["--verbose=1"], "verbose: is '1'; expected no value of a flag"),
        (["--verbose", "--verbose"], "verbose: is given 2 times; expected once"),
        (["--label=//:b"], "label: is given 2 times; expected once"),
        (["--folder=a", "--folder=a"], "folder: is given 2 times; expected once"),
        (["--threads=many"], "threads: is 'many'; expected int"),
        (["--parts="], "parts: is ''; expected int"),
        (["--kind=other"], "kind: is 'other'; expected one of runtime, devel"),
        (["--folder"], "folder: expected a value after the last argument"),
    ],
)
def test_what_fits_no_field_is_a_bug_of_the_rule(argv: list[str], message: str) -> None:
    with pytest.raises(ToolError) as caught:
        read(*argv)
    assert str(caught.value).startswith(f"{Arguments.__module__}: {message}")
    assert str(caught.value).endswith(". This is a bug of the rule that runs the program: report it")


def test_a_field_without_a_default_is_required() -> None:
    with pytest.raises(ToolError, match="label: is not given; expected a value"):
        read_arguments(Arguments, ["--verbose"])


def test_a_key_that_is_given_twice() -> None:
    message = "^a: is given twice, as one and as two; expected one file. Give one of them another path$"
    with pytest.raises(ToolError, match=message):
        read("--edit=a=one", "--edit=b=one", "--edit=a=two")


def test_arguments_come_from_a_params_file_one_a_line(tmp_path: Path) -> None:
    """They hold names of files, whatever bytes these have, and `@` has no meaning there."""
    params, empty = tmp_path / "params", tmp_path / "empty"
    params.write_bytes("--license-pattern\n@ï x\n--edit=a\x0b=b".encode() + b"\xff\n")
    empty.touch()
    read_in = read(f"@{empty}", f"@{params}")
    assert (read_in.license_pattern, read_in.edit) == (["@ï x"], {"a\x0b": "b\udcff"})


def test_errors_name_the_target(capsys: pytest.CaptureFixture[str]) -> None:
    def work(args: Arguments) -> None:
        if args.verbose:
            raise ToolError("x: expected y. Do z")

    assert run_program(Arguments, ["--label=//:a"], work) == 0
    assert run_program(Arguments, ["--label=//:a", "--verbose"], work) == 1
    assert run_program(Arguments, ["--threads=many", "--label=//:a"], work) == 1
    assert run_program(Arguments, [], work) == 1
    errors = capsys.readouterr().err.splitlines()
    assert errors[0] == "ERROR: //:a: x: expected y. Do z"
    assert errors[1].startswith(f"ERROR: //:a: {Arguments.__module__}: threads: is 'many'; expected int. This is a bug")
    assert errors[2].startswith(f"ERROR: {Arguments.__module__}: {Arguments.__module__}: label: is not given")
