"""Every command has the same exit codes: 0 if all is well, 1 for findings, 2 if it cannot run; its help says so."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from develop.testing.fat_wheel import FAT
from develop.testing.framework_wheel import EXPECTS, sdk
from develop.testing.wheel_sample import Sample
from hip.tools import compile_commands
from lib.common.command import CANNOT_RUN, FOUND, OK
from tools.fetch.lock import tool as lock
from wheels import command as rocm_wheels

COMMANDS: dict[str, Callable[[list[str]], int]] = {
    "compile_commands": compile_commands.main,
    "lock": lock.main,
    "rocm-wheels": rocm_wheels.main,
}
NAMES = (
    "compile_commands",
    "lock",
    *(f"rocm-wheels {name}" for name in ("code list", "channel add", "require-sdk", "split", "verify")),
)
PAGES = {"index.html": b"<p>", "simple/acme/index.html": b"<p>"}


def call(name: str, arguments: Sequence[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """Call a command; return its exit code and all that it says."""
    try:
        program, *words = name.split(" ")
        code: int | str | None = COMMANDS[program]([*words, *arguments])
    except SystemExit as exit_:
        code = exit_.code
    assert isinstance(code, int)
    said = capsys.readouterr()
    return code, said.out + said.err


class Places:
    """Files that the commands are given."""

    def __init__(self, folder: Path) -> None:
        """Write them."""
        self.folder = folder
        self.sdk = sdk(folder)
        self.fat = self._write("in", FAT.filename, FAT.build())
        self.user = self._write("in", EXPECTS.filename, EXPECTS.build())
        self.plain = self._write("in", Sample().filename, Sample().build())
        self.half = self._write("half", FAT.filename, FAT.build()[:-40])
        self.absent = folder / "absent" / FAT.filename
        for path, content in PAGES.items():
            self._write("dist", path, content)
        self.dist = self._write("dist", Sample().filename, Sample().build()).parent
        self.taken = self._write("taken", Sample().filename, Sample().build() + bytes(1)).parent
        self.channel, self.full = folder / "channel", folder / "full"
        for channel in (self.channel, self.full):
            rocm_wheels.main(["channel", "init", f"--channel={channel}", "--stream=nightly"])
        rocm_wheels.main(["channel", "add", f"--channel={self.full}", "--stream=nightly", str(self.dist)])
        self.out = folder / "out"

    def _write(self, place: str, name: str, content: bytes) -> Path:
        path = self.folder / place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        return path


@pytest.fixture(name="at")
def _places(tmp_path: Path) -> Places:
    return Places(tmp_path)


REQUIRE, CHANNEL = "rocm-wheels require-sdk", "rocm-wheels channel"
#: Command, its exit code, a part of what it says, its arguments.
Case = tuple[str, int, str, Callable[[Places], list[object]]]
CASES: tuple[Case, ...] = (
    ("rocm-wheels split", OK, "acme-1.0+gfx942", lambda at: [at.fat, "--targets=gfx942", f"--output={at.out}"]),
    ("rocm-wheels split", FOUND, "no device code", lambda at: [at.plain, "--targets=gfx942", f"--output={at.out}"]),
    ("rocm-wheels split", FOUND, "not a whole zip", lambda at: [at.half, "--targets=gfx942", f"--output={at.out}"]),
    ("rocm-wheels split", CANNOT_RUN, "no such file", lambda at: [at.absent, "--targets=gfx942", f"--output={at.out}"]),
    ("rocm-wheels split", CANNOT_RUN, "is not a wheel", lambda at: [at.dist, "--targets=gfx942", f"--output={at.out}"]),
    ("rocm-wheels split", CANNOT_RUN, "is a file", lambda at: [at.fat, "--targets=gfx942", f"--output={at.plain}"]),
    ("rocm-wheels split", CANNOT_RUN, "not a GPU target", lambda at: [at.fat, "--targets=gfx", f"--output={at.out}"]),
    (REQUIRE, OK, "acme-1.0+sdk", lambda at: [at.user, f"--sdk={at.sdk}", f"--output={at.out}"]),
    (REQUIRE, FOUND, "none of its", lambda at: [at.plain, f"--sdk={at.sdk}", f"--output={at.out}"]),
    (REQUIRE, CANNOT_RUN, "no such file", lambda at: [at.absent, f"--sdk={at.sdk}", f"--output={at.out}"]),
    (REQUIRE, CANNOT_RUN, "no such file", lambda at: [at.user, f"--sdk={at.absent}", f"--output={at.out}"]),
    (
        REQUIRE,
        CANNOT_RUN,
        "expected a version specifier",
        lambda at: [at.user, f"--sdk={at.sdk}", f"--output={at.out}", "--specifier=x"],
    ),
    (f"{CHANNEL} init", OK, "make   stable/", lambda at: [f"--channel={at.out}", "--stream=stable"]),
    (f"{CHANNEL} init", CANNOT_RUN, "or s3://BUCKET", lambda at: ["--channel=s3://", "--stream=stable"]),
    (f"{CHANNEL} init", CANNOT_RUN, "expected a directory", lambda at: ["--channel=", "--stream=stable"]),
    (f"{CHANNEL} init", CANNOT_RUN, "is not a directory", lambda at: [f"--channel={at.plain}", "--stream=stable"]),
    (f"{CHANNEL} add", OK, "add    sample", lambda at: [f"--channel={at.channel}", "--stream=nightly", at.dist]),
    (f"{CHANNEL} add", FOUND, "other bytes", lambda at: [f"--channel={at.full}", "--stream=nightly", at.taken]),
    (f"{CHANNEL} add", CANNOT_RUN, "no such stream", lambda at: [f"--channel={at.channel}", "--stream=x", at.dist]),
    (f"{CHANNEL} add", CANNOT_RUN, "is not a channel", lambda at: [f"--channel={at.out}", "--stream=x", at.dist]),
    (
        f"{CHANNEL} promote",
        CANNOT_RUN,
        "no such stream",
        lambda at: [f"--channel={at.full}", "1.0", "--from=x", "--to=y"],
    ),
    (
        f"{CHANNEL} withdraw",
        CANNOT_RUN,
        "no such stream",
        lambda at: [f"--channel={at.full}", "1", "--stream=x", "--undo"],
    ),
    (f"{CHANNEL} check", OK, "0 complaints", lambda at: [f"--channel={at.full}"]),
    ("lock", CANNOT_RUN, "expected a URL", lambda at: ["--base-url=x", "--run-id=1"]),
    ("lock", CANNOT_RUN, "expected a URL", lambda at: [f"--base-url={at.absent.as_uri()}", "--run-id=1"]),
    ("rocm-wheels verify", OK, "", lambda at: ["--no-set", at.plain]),
    ("rocm-wheels verify", FOUND, "W101", lambda at: ["--no-set", at.half]),
    ("rocm-wheels verify", CANNOT_RUN, "no such file", lambda at: [at.absent]),
    ("rocm-wheels code list", OK, "gfx942", lambda at: [at.fat]),
    ("rocm-wheels code list", CANNOT_RUN, "expected a whole wheel", lambda at: [at.half]),
    ("rocm-wheels code list", CANNOT_RUN, "No such file", lambda at: [at.absent]),
    ("rocm-wheels nothing", CANNOT_RUN, "no such command", lambda at: []),
    ("compile_commands", CANNOT_RUN, "bazel run", lambda at: [f"--index={at.absent}"]),
)


@pytest.mark.parametrize(("name", "code", "part", "arguments"), CASES)
def test_exit_codes(
    name: str,
    code: int,
    part: str,
    arguments: Callable[[Places], list[object]],
    at: Places,
    capsys: pytest.CaptureFixture[str],
) -> None:
    found, said = call(name, [str(one) for one in arguments(at)], capsys)
    assert (found, part in said) == (code, True), said
    assert "Traceback" not in said


@pytest.mark.parametrize("name", NAMES)
def test_help_says_what_the_exit_codes_mean(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, said = call(name, ["--help"], capsys)
    assert code == OK
    assert "exit code:\n  0  " in said
    assert "\n  2  the command line is wrong, or what it names cannot be read or written" in said
    assert f"usage: {'bazel run' if name == 'lock' else name} " in said
    has_findings = {case for case, found, *_ in CASES if found == FOUND}
    assert ("\n  1  " in said) == (name in has_findings or name == "lock")


@pytest.mark.parametrize("name", NAMES)
def test_an_unknown_option(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, said = call(name, ["--no-such-option"], capsys)
    assert code == CANNOT_RUN
    assert "tool.py" not in said
