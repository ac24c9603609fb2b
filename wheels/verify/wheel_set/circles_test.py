"""Circles are found, and nothing else is called one."""

from wheels.verify.wheel_set.closure import circles


def test_what_has_none() -> None:
    assert list(circles({"a": ["b", "c"], "b": ["c"], "c": [], "d": ["a", "b"]})) == []


def test_each_is_given_in_the_order_of_needing() -> None:
    graph = {"a": ["b"], "b": ["c"], "c": ["a", "d"], "d": ["d"]}
    found = list(circles(graph))
    assert sorted(map(sorted, found)) == [["a", "b", "c"], ["d"]]
    for circle in found:
        assert all(after in graph[one] for one, after in zip(circle, [*circle[1:], circle[0]], strict=True))
