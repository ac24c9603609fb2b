"""How many random values are drawn: fresh ones, fast.

    @settings(ONLY_FRESH, max_examples=1000)

Hypothesis makes five of six values from earlier ones, with a part of these copied to another place, and has special
numbers come more often. SDKs have names from small pools instead, so that parts meet: each is drawn afresh here. What
is found is shrunk as ever.
"""

from hypothesis import HealthCheck, Phase, settings
from hypothesis.internal.conjecture.providers import AVAILABLE_PROVIDERS, HypothesisProvider


class FreshProvider(HypothesisProvider):
    """Draws all integers of a range equally often."""

    def draw_integer(
        self,
        min_value: int | None = None,
        max_value: int | None = None,
        *,
        weights: dict[int, float] | None = None,
        shrink_towards: int = 0,
    ) -> int:
        """Return an integer of a range."""
        if min_value is None or max_value is None or weights:
            return super().draw_integer(min_value, max_value, weights=weights, shrink_towards=shrink_towards)
        assert self._random is not None
        return self._random.randint(min_value, max_value)


AVAILABLE_PROVIDERS["fresh"] = FreshProvider
ONLY_FRESH = settings(
    backend="fresh",
    deadline=None,
    database=None,
    phases=(Phase.generate,),
    print_blob=False,
    suppress_health_check=list(HealthCheck),
    report_multiple_bugs=False,
)
