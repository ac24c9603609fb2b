"""The model of a service, on graphs whose answer is known."""

import json

import pytest

from tests.benchmark.action_graph import (
    Service,
    copies,
    critical_path,
    documents,
    from_documents,
    graph,
    on_cores,
    schedule,
)
from tests.remote.spawns import Spawn


def spawn(name: str, seconds: float, inputs: dict[str, int]) -> Spawn:
    return Spawn(name, "//a", "linux-sandbox", False, {f"{name}.out": ("", 10)}, inputs, seconds)


#: `last` waits for `first` and `second`; all read one tool.
SPAWNS = [
    spawn("last", 1.0, {"first.out": 10, "second.out": 10, "tool": 1000}),
    spawn("first", 2.0, {"source1": 100, "tool": 1000}),
    spawn("second", 3.0, {"source2": 100, "tool": 1000}),
]
FAST = 1e12


def test_an_action_stands_behind_those_that_it_waits_for() -> None:
    actions = graph(SPAWNS)
    assert [(action.mnemonic, action.after) for action in actions] == [("first", ()), ("second", ()), ("last", (0, 1))]


def test_a_graph_is_read_back_as_it_was_written() -> None:
    actions = graph(SPAWNS)
    assert from_documents(json.loads(json.dumps(documents(actions)))) == actions


def test_the_critical_path_is_the_longest_chain() -> None:
    assert critical_path(graph(SPAWNS)) == pytest.approx(4.0)
    assert critical_path(graph(SPAWNS), overhead=0.5) == pytest.approx(5.0)


@pytest.mark.parametrize(("workers", "seconds"), [(1, 6.0), (2, 4.0), (9, 4.0)])
def test_workers_share_what_can_run_at_the_same_time(workers: int, seconds: float) -> None:
    assert schedule(graph(SPAWNS), Service(workers, FAST, 0.0))[0] == pytest.approx(seconds)


def test_what_has_waited_longest_begins_first() -> None:
    longest = spawn("third", 5.0, {"tool": 1000})
    assert schedule(graph([*SPAWNS, longest]), Service(2, FAST, 0.0))[0] == pytest.approx(7.0)


def test_an_overhead_counts_for_each_action() -> None:
    assert schedule(graph(SPAWNS), Service(1, FAST, 1.0))[0] == pytest.approx(9.0)


def test_a_worker_fetches_a_file_once_and_not_what_it_made() -> None:
    _, moved = schedule(graph(SPAWNS), Service(1, FAST, 0.0))
    assert moved == 1000 + 100 + 100 + 3 * 10
    _, moved = schedule(graph(SPAWNS), Service(2, FAST, 0.0))
    assert moved == 2 * 1000 + 100 + 100 + 3 * 10 + 10


def test_bytes_take_their_time() -> None:
    seconds, moved = schedule(graph(SPAWNS), Service(1, 100.0, 0.0))
    assert seconds == pytest.approx(6.0 + moved / 100.0)


def test_copies_share_the_tools_alone() -> None:
    actions = copies(graph(SPAWNS), 3)
    assert len(actions) == 9
    seconds, moved = schedule(actions, Service(1, FAST, 0.0))
    assert seconds == pytest.approx(18.0)
    assert moved == 1000 + 3 * (100 + 100 + 3 * 10)
    assert critical_path(actions) == pytest.approx(4.0)


@pytest.mark.parametrize(
    ("mnemonic", "cores", "seconds"),
    [
        ("RocmPack", 1, 8.0),
        ("RocmPack", 2, 5.0),
        ("RocmPack", 4, 3.5),
        ("RocmPack", 64, 2.75),
        ("RocmLink", 64, 5.0),
        ("RocmPlan", 64, 8.0),
    ],
)
def test_threads_share_what_two_cores_save(mnemonic: str, cores: int, seconds: float) -> None:
    on_one, on_two = [graph([spawn(mnemonic, taken, {})]) for taken in (8.0, 5.0)]
    assert [action.seconds for action in on_cores(on_one, on_two, cores)] == [pytest.approx(seconds)]


def test_an_action_that_two_cores_do_not_help_takes_as_long_with_more() -> None:
    on_one, on_two = [graph([spawn("RocmPack", taken, {})]) for taken in (1.0, 1.1)]
    assert [action.seconds for action in on_cores(on_one, on_two, 16)] == [1.0]
