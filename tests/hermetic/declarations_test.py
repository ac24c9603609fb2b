"""Actions that ask for more or less than they ought to are found in what `aquery` prints."""

import json

from tests.hermetic.declarations import problems, read_actions


def printed(mnemonic: str, *requirements: str) -> str:
    return json.dumps(
        {
            "actions": [
                {
                    "executionInfo": [{"key": one, "value": ""} for one in requirements],
                    "mnemonic": mnemonic,
                    "targetId": 1,
                }
            ],
            "targets": [{"id": 1, "label": "//packaging:core"}],
        }
    )


def test_an_action_without_a_network() -> None:
    assert problems(read_actions(printed("RocmCoverage", "block-network"))) == []


def test_an_action_that_asks_for_nothing() -> None:
    document = json.loads(printed("RocmCoverage"))
    del document["actions"][0]["executionInfo"]
    assert problems(read_actions(json.dumps(document))) == [
        "RocmCoverage of //packaging:core asks for []; expected ['block-network']: see run_tool.bzl"
    ]


def test_an_action_that_may_run_in_a_worker() -> None:
    worker = ("requires-worker-protocol", "supports-workers")
    assert problems(read_actions(printed("RocmPack", "block-network", *worker))) == []
    (problem,) = problems(read_actions(printed("RocmPack", "block-network")))
    assert f"expected {['block-network', *worker]}" in problem


def test_an_action_that_leaves_the_sandbox() -> None:
    assert problems(read_actions(printed("RocmIndex", "block-network", "no-cache", "no-sandbox"))) == []
    (problem,) = problems(read_actions(printed("RocmCoverage", "block-network", "no-sandbox")))
    assert "asks for ['block-network', 'no-sandbox']; expected ['block-network']" in problem


def test_an_index_that_a_cache_would_get_with_all_wheels() -> None:
    (problem,) = problems(read_actions(printed("RocmIndex", "block-network", "no-sandbox")))
    assert "asks for ['block-network', 'no-sandbox']; expected ['block-network', 'no-cache'," in problem


def test_an_action_of_others() -> None:
    assert problems(read_actions(printed("CppCompile"))) == []
