"""A seeded share of random SDKs: what the documentation says holds, and nothing but the SDK decides the bytes.

`python3 -B -m tests.pipeline.run_many` tries many more.
"""

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from tests.pipeline.artifacts import Variation
from tests.pipeline.drawing import ONLY_FRESH
from tests.pipeline.histories import History, histories, live
from tests.pipeline.properties import VARIATIONS, holds, is_reproducible, second_run_is_fresh
from tests.pipeline.random_sdks import sdks, sdks_and_changes
from tests.pipeline.sdk import Sdk

SHARE = settings(ONLY_FRESH, max_examples=100, derandomize=True, phases=(Phase.generate, Phase.shrink))


@pytest.mark.parametrize("kind", ["usual", "thin"])
@SHARE
@given(data=st.data())
def test_packages_are_as_documented(kind: str, data: st.DataObject) -> None:
    holds(data.draw(sdks(kind)))


@settings(SHARE, max_examples=40)
@given(sdks_and_changes())
def test_a_second_run_gives_what_a_fresh_one_gives(pair: tuple[Sdk, Sdk]) -> None:
    second_run_is_fresh(*pair)


@pytest.mark.parametrize("variation", VARIATIONS, ids=str)
@settings(SHARE, max_examples=20)
@given(sdk=sdks())
def test_nothing_else_decides_the_bytes(sdk: Sdk, variation: Variation) -> None:
    is_reproducible(sdk, variation)


@settings(SHARE, max_examples=10)
@given(histories())
def test_a_past_changes_nothing(history: History) -> None:
    live(history)
