"""A seeded share of random SDKs: what the documentation says holds, and nothing but the SDK decides the bytes.

`python3 -B -m tests.pipeline.run_many` tries many more.
"""

import pytest
from hypothesis import HealthCheck, given, settings

from tests.pipeline.properties import VARIATIONS, holds, is_reproducible
from tests.pipeline.run import Variation
from tests.pipeline.sdk import Sdk, sdks

SHARE = settings(
    max_examples=150, deadline=None, database=None, derandomize=True, suppress_health_check=list(HealthCheck)
)


@SHARE
@given(sdks())
def test_packages_are_as_documented(sdk: Sdk) -> None:
    holds(sdk)


@pytest.mark.parametrize("variation", VARIATIONS, ids=str)
@settings(SHARE, max_examples=30)
@given(sdk=sdks())
def test_nothing_else_decides_the_bytes(sdk: Sdk, variation: Variation) -> None:
    is_reproducible(sdk, variation)
