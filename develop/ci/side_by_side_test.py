"""Tests of the order in which checks begin, and of those that run side by side."""

from pathlib import Path
from threading import Barrier, Thread

from develop.ci.check import ALL, BUILD, Check
from develop.ci.checks import CHECKS
from develop.ci.results import Count
from develop.ci.run import perform_all
from develop.ci.side_by_side import Schedule


def check(name: str, holds: str = BUILD) -> Check:
    return Check(name, f"what {name} shows", lambda _: None, holds=holds)


def taken(schedule: Schedule) -> Check:
    found = schedule.take()
    assert found
    return found


def test_one_after_the_other_in_their_order() -> None:
    schedule = Schedule([check("one"), check("two"), check("three")])
    names = []
    while found := schedule.take():
        names.append(found.name)
        schedule.give_back(found)
    assert names == ["one", "two", "three"]


def test_those_that_hold_the_same_do_not_run_side_by_side() -> None:
    schedule = Schedule([check("first"), check("second"), check("apart", ""), check("apart too", "")])
    first = taken(schedule)
    assert [first.name, taken(schedule).name, taken(schedule).name] == ["first", "apart", "apart too"]
    schedule.give_back(first)
    assert taken(schedule).name == "second"
    assert schedule.take() is None


def test_a_check_that_holds_all_runs_alone() -> None:
    schedule = Schedule([check("apart", ""), check("alone", ALL), check("after", "")])
    apart = taken(schedule)
    begun: list[str] = []
    waiting = [Thread(target=lambda: begun.append(taken(schedule).name)) for _ in range(2)]
    for thread in waiting:
        thread.start()
    waiting[0].join(0.05)
    assert begun == [], "what comes after does not overtake it"
    schedule.give_back(apart)
    while not begun:
        waiting[0].join(0.01)
    assert begun == ["alone"]
    schedule.give_back(check("alone", ALL))
    for thread in waiting:
        thread.join(10)
    assert begun == ["alone", "after"]


def test_two_run_at_a_time(tmp_path: Path) -> None:
    """Each waits for the other: one after the other they would not end."""
    together = Barrier(2, timeout=10)

    def meet(_: object) -> None:
        together.wait()

    checks = [Check(name, name, meet, holds=holds) for name, holds in (("here", BUILD), ("apart", ""))]
    assert perform_all(checks, tmp_path, is_ci=False) == Count(passed=2)


def test_what_a_new_machine_does_first_runs_alone() -> None:
    """The README's commands, and what measures them."""
    alone = [one.name for one in CHECKS if one.holds == ALL]
    assert alone[:2] == [one.name for one in CHECKS[:2]] == ["all-wheels", "tests"]
