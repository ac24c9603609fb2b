"""The command: what it prints, what it writes, and its exit codes."""

import json
from pathlib import Path

import pytest

from develop.testing.wheel_fuzz import SAMPLES, check, fuzzer
from develop.testing.wheel_sample import METADATA, Sample
from lib.common.command import CANNOT_RUN, FOUND, OK
from wheels.verify import registry
from wheels.verify.finding import Rule
from wheels.verify.tool import main

CONFIG = '[[exception]]\nid = "W512"\nfile = "tests/**"\nreason = "the name is ours"\n'


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    """Return a wheel with one fault, W512."""
    sample = Sample({"tests/__init__.py": b""})
    path = tmp_path / sample.filename
    path.write_bytes(sample.build())
    return path


def test_a_fault_is_printed_and_makes_the_command_fail(wheel: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(wheel)]) == FOUND
    assert "W512 error" in capsys.readouterr().out


def test_an_exception_with_a_reason_makes_it_pass(wheel: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = wheel.with_name("verify.toml")
    config.write_text(CONFIG)
    assert main([str(wheel), f"--config={config}"]) == OK
    assert capsys.readouterr().out == "1 wheel, 5 files: 0 errors, 0 warnings, 0 notes, 1 excused\n"


MANY = 5000 * "9"


@pytest.mark.parametrize(
    "line",
    [f"Requires-Dist: sample>={MANY}", f"Requires-Dist: other; python_version < '{MANY}'", f"Version: {MANY}"],
    ids=["requirement", "marker", "version"],
)
def test_numbers_too_long_for_python(line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Python reads integers of at most 4300 digits, and raises for more."""
    sample = Sample({}, metadata=METADATA.replace("Summary", f"{line}\nSummary"))
    path = tmp_path / sample.filename
    path.write_bytes(sample.build())
    assert main([str(path)]) == FOUND
    said = capsys.readouterr().out
    assert "W302 error" in said
    assert "a number of more than 4300 digits" in said


def test_notes_do_not_fail(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sample = Sample(metadata=METADATA.partition("\n\n")[0] + "\n")
    (tmp_path / sample.filename).write_bytes(sample.build())
    assert main([str(tmp_path)]) == OK
    assert "W309 note" in capsys.readouterr().out


def test_a_log_for_programs_is_written_besides(wheel: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = wheel.with_name("log.sarif")
    assert main([str(wheel), f"--sarif={log}"]) == FOUND
    assert "W512 error" in capsys.readouterr().out
    assert json.loads(log.read_text())["runs"][0]["results"][0]["ruleId"] == "W512"


def test_what_cannot_be_done_is_said_in_one_line(wheel: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bad = wheel.with_name("verify.toml")
    bad.write_text("[settings]\nmax_paths = 5\n")
    for arguments in (["/nowhere"], [str(wheel), f"--config={bad}"], [str(wheel), "--sarif=/nowhere/x"]):
        assert main(arguments) == CANNOT_RUN
        error = capsys.readouterr().err
        assert error.startswith("rocm-wheels verify: ")
        assert error.count("\n") == 1


@pytest.mark.parametrize("rule", registry.rules().values(), ids=lambda rule: rule.id)
def test_every_rule_says_all_that_it_must(rule: Rule) -> None:
    assert rule.why.endswith(".")
    assert rule.remedy.endswith(".")
    assert not rule.title.endswith(".")


def test_damaged_wheels_give_findings_or_errors(tmp_path: Path) -> None:
    outcomes = fuzzer([], tmp_path).run(seed=0, numbers=range(600))
    assert not [name for name in outcomes if name.startswith("FOUND")]
    assert {"error", "clean"} <= set(outcomes)


def test_the_sample_that_is_fuzzed_is_sound(tmp_path: Path) -> None:
    assert check(SAMPLES[0].build(), tmp_path / SAMPLES[0].filename) == "clean"
