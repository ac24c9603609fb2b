"""Tests of .ci/run: which checks are run, what is skipped, what is printed, and that what checks need is made once."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from develop.ci.check import Check, Requirement
from develop.ci.checks import CHECKS, SCHEDULED
from develop.ci.machine import FailedError, Machine, locked
from develop.ci.results import Count
from develop.ci.run import main, perform_all, select
from develop.ci.steps import AMD, DEBIAN


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    with (tmp_path / "log").open("a+b", buffering=0) as log:
        yield Machine(tmp_path, log)


def check(name: str = "one", run: Callable[[Machine], Count | None] = lambda _: None, *needs: Requirement) -> Check:
    return Check(name, f"what {name} shows", run, needs)


def lacking(*, is_optional: bool = False) -> Requirement:
    return Requirement(lambda: "needs a thing", is_optional)


def names(*wanted: str) -> list[str]:
    return [one.name for one in select(CHECKS, wanted)]


def test_all_checks_have_names_and_sentences() -> None:
    assert len({one.name for one in CHECKS}) == len({one.sentence for one in CHECKS}) == len(CHECKS)
    assert all(one.name == one.name.lower() and " " not in one.name for one in CHECKS)


def test_no_name_selects_what_every_change_needs_or_the_rest() -> None:
    scheduled = [one.name for one in select(CHECKS, (), is_scheduled=True)]
    assert set(scheduled) == SCHEDULED, "each is the name of a check"
    assert sorted([*names(), *scheduled]) == sorted(one.name for one in CHECKS)


def test_a_whole_name_selects_one() -> None:
    assert names("channel") == ["channel"]
    assert names("installers") == ["installers"], "not installers-debian13, which begins with it"


def test_the_beginning_of_names_selects_several_in_the_order_of_the_table() -> None:
    remote = ["remote-cache", "remote-cache-rocm7", "remote-execution"]
    remote += ["remote-tests", "remote-hip"]
    assert names("remote", "elf") == [*remote, "elf"]
    found = names("elf", "thin")
    assert found[0] == "thin-actions"
    assert {"elf", "thin-rocm5-build", "thin-rocm7-code"} < set(found)


def test_a_name_that_means_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["chanel"])
    assert "chanel: there is no such check; did you mean channel?" in capsys.readouterr().err


def test_list(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--list", "page", "no-"]) == 0
    assert capsys.readouterr().out == (
        "no-shell  no action has a shell\n"
        "no-op     a second build has nothing to do\n"
        "page      the landing page, in Chromium\n"
    )


def test_what_passes_and_what_fails(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Only a failing check's output is shown, all of it, and how full the disk is."""

    def fail(machine: Machine) -> None:
        machine.say("said before")
        machine.run("sh", "-c", "echo printed; exit 3")

    space = ", ".join(f"{one}: " for one in (tmp_path, Path.home()) if one.is_dir())
    checks = [check("good", lambda machine: machine.run("echo", "quiet")), check("bad", fail), check("last")]
    assert perform_all(checks, tmp_path, is_ci=False) == Count(2, 1, 0)
    assert re.sub(r"[0-9.]+ GB free", "", re.sub(r"\(\d+ s\)", "(0 s)", capfd.readouterr().out)) == (
        "passed: good: what good shows (0 s)\n"
        f"said before\nprinted\nsh -c echo printed; exit 3: exit code 3\n{space}\n"
        "FAILED: bad: what bad shows (0 s)\n"
        "passed: last: what last shows (0 s)\n"
        "2 passed, 1 failed, 0 skipped\n"
    )


def test_a_program_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert perform_all([check(run=lambda machine: machine.run("/nowhere/tool"))], tmp_path, is_ci=False).failed == 1
    assert "No such file or directory: '/nowhere/tool'" in capsys.readouterr().out


def test_a_check_that_breaks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The others run all the same, and the run has its closing line."""
    assert perform_all([check(run=lambda _: Count(1 // 0)), check("two")], tmp_path, is_ci=False) == Count(1, 1, 0)
    said = capsys.readouterr().out
    assert "ZeroDivisionError" in said
    assert said.endswith("1 passed, 1 failed, 0 skipped\n")


def test_a_check_that_counts_tests_of_its_own(tmp_path: Path) -> None:
    assert perform_all([check(run=lambda _: Count(40, 2)), check("two")], tmp_path, is_ci=False) == Count(41, 2, 0)


def test_what_is_skipped_says_why(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert perform_all([check("one", lambda _: None, lacking())], tmp_path, is_ci=False) == Count(0, 0, 1)
    assert capsys.readouterr().out == "SKIPPED: one: what one shows: needs a thing\n0 passed, 0 failed, 1 skipped\n"


def test_a_skip_is_a_failure_of_ci(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert perform_all([check("one", lambda _: None, lacking())], tmp_path, is_ci=True) == Count(0, 1, 0)
    assert capsys.readouterr().out.startswith("FAILED: one: what one shows: needs a thing\n")


def test_an_optional_input_may_be_absent(tmp_path: Path) -> None:
    assert perform_all([check("one", lambda _: None, lacking(is_optional=True))], tmp_path, is_ci=True).skipped == 1


def test_an_input_that_is_named_must_be_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ROCM_THEROCK", "/nowhere")
    assert perform_all([check("one", lambda _: None, AMD)], tmp_path, is_ci=False) == Count(0, 1, 0)
    assert "ROCM_THEROCK=/nowhere: there is no such directory" in capsys.readouterr().out
    monkeypatch.delenv("ROCM_THEROCK")
    assert AMD.missing() == "needs ROCM_THEROCK in the environment"


def test_other_users_make_no_roots(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    assert DEBIAN.missing() == "needs root on Debian or Ubuntu, to make roots of other releases"


class Recorder(Machine):
    """Runs nothing; keeps what it was told to run."""

    def run(self, *command: object) -> None:
        """Keep a command; the second word may say that it fails."""
        self.say(" ".join(str(word) for word in command))
        if "sid" in command:
            raise FailedError("no network")


@pytest.fixture
def recorder(machine: Machine) -> Recorder:
    return Recorder(machine.scratch, machine.log)


def said(machine: Machine) -> list[str]:
    machine.log.seek(0)
    return machine.log.read().decode().splitlines()


def test_what_is_needed_is_made_once(recorder: Recorder) -> None:
    assert recorder.rocm7 == recorder.rocm7 == recorder.scratch / "rocm7"
    assert len(said(recorder)) == 1
    again = Recorder(recorder.scratch, recorder.log)
    assert again.rocm7 == recorder.rocm7
    assert len(said(recorder)) == 1, "a scratch directory that was kept has it"


def test_packages_are_never_those_of_an_earlier_run(recorder: Recorder) -> None:
    assert recorder.newer == recorder.newer
    builds = len(said(recorder))
    assert Recorder(recorder.scratch, recorder.log).newer == recorder.newer
    assert len(said(recorder)) == 2 * builds


def test_what_cannot_be_made_is_tried_once(recorder: Recorder) -> None:
    for _ in range(2):
        with pytest.raises(FailedError, match="sid could not be made: no network"):
            assert recorder.sid
    assert len(said(recorder)) == 2, "rm, and the one attempt"


def test_packages_are_built_again_only_if_others_were(recorder: Recorder, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each check can be run alone, and the whole run builds once for all checks of the same packages."""
    by_name = {one.name: one for one in CHECKS}
    monkeypatch.setattr("develop.ci.machine.PACKAGES", recorder.scratch)
    (recorder.scratch / "dist").mkdir()
    for name in ("split-build", "split-verify", "validators", "family-verify", "split-verify"):
        by_name[name].run(recorder)
    builds = [line for line in said(recorder) if line.startswith("./bazelw build //packaging:dist")]
    layouts = [line.rpartition("/")[2] for line in builds]
    assert layouts == ["split", "family", "split"]
    (recorder.scratch / "dist").rmdir()
    (recorder.scratch / "dist").mkdir()
    by_name["split-verify"].run(recorder)
    assert len([line for line in said(recorder) if "//packaging:dist" in line]) == 4, "another build replaced them"


def test_locked() -> None:
    lock = "a==1 \\\n    --hash=sha256:1\nab==2 \\\n    --hash=sha256:2 \\\n    --hash=sha256:3\n    # via a\nb==3\n"
    assert locked(("ab",), lock) == "ab==2 \\\n    --hash=sha256:2 \\\n    --hash=sha256:3\n"
    with pytest.raises(ValueError, match="expected c with hashes"):
        locked(("c",), lock)
