"""Tries random SDKs: `python3 -B -m tests.pipeline.run_many --cases 1000`.

It prints how far it is, and each finding, shrunk, with the SDK that shows it.
Of a kind that was found it goes on without: what else there is shall show, too.
Exits with 1 if there was a finding.
"""

import argparse
import sys
import time
import traceback
from collections import Counter
from dataclasses import dataclass, field

from hypothesis import Phase, given, seed, settings
from hypothesis import strategies as st

from tests.pipeline.drawing import ONLY_FRESH
from tests.pipeline.package_reader import FindingError
from tests.pipeline.properties import VARIATIONS, holds, is_reproducible, judged, second_run_is_fresh
from tests.pipeline.random_sdks import KINDS, sdks_and_changes
from tests.pipeline.sdk import Sdk

#: SDKs that one run of hypothesis tries.
CHUNK = 250
#: Of so many SDKs, one is built in another variation as well, and one is changed and built again.
VARIED = 8


def kind_of(error: Exception) -> str:
    """Return by what findings are told apart; of an error that nobody expected, where it was raised."""
    if isinstance(error, FindingError):
        return error.kind
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__} in {frame.name}, line {frame.lineno}"


@dataclass
class Search:
    """How far the search is."""

    known: set[str] = field(default_factory=set)
    kind: str = "all"
    seen: Counter[str] = field(default_factory=Counter)
    came: Counter[str] = field(default_factory=Counter)
    cases: int = 0

    def trial(self, sdk: Sdk, after: Sdk, turn: int) -> None:
        """Try one SDK, and by its turn another variation, or what it is after a change; raises what is new."""
        self.cases += 1
        try:
            variation, what = divmod(turn, VARIED)
            if what == VARIED - 1:
                came = is_reproducible(sdk, VARIATIONS[variation], judged)
            elif what == VARIED - 2:
                came, hits = second_run_is_fresh(sdk, after, judged)
                self.came["actions that a second run did not repeat"] += hits
            else:
                came = holds(sdk)
            self.came[came] += 1
        except Exception as error:
            kind = kind_of(error)
            self.seen[kind] += 1
            if kind not in self.known:
                raise

    def run(self, number: int, cases: int, *, shrink: bool) -> None:
        """Try some SDKs of one seed; print a finding."""
        phases = (Phase.generate, Phase.shrink) if shrink else ONLY_FRESH.phases

        @seed(number)
        @settings(ONLY_FRESH, max_examples=cases, phases=phases)
        @given(sdks_and_changes(self.kind), st.integers(0, VARIED * len(VARIATIONS) - 1))
        def trial(pair: tuple[Sdk, Sdk], turn: int) -> None:
            self.last = pair
            self.trial(*pair, turn)

        try:
            trial()
        except Exception as error:
            self.known.add(kind_of(error))
            print(f"\nFINDING (seed {number}) {type(error).__name__}: {error}\n {self.last!r}\n", flush=True)


def main(argv: list[str]) -> int:
    """Search, and say what was found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=10000, help="how many SDKs to try")
    parser.add_argument("--seed", type=int, default=1, help="where to begin")
    parser.add_argument("--known", action="append", default=[], help="a kind of finding not to stop for")
    parser.add_argument("--no-shrink", action="store_true", help="print findings as they come")
    parser.add_argument("--kind", choices=KINDS, default="all", help="which SDKs")
    args = parser.parse_args(argv)
    search, start, number = Search(set(args.known), args.kind), time.monotonic(), args.seed
    tried = 0
    while tried < args.cases:
        before, count = search.cases, min(CHUNK, args.cases - tried)
        search.run(number, count, shrink=not args.no_shrink)
        tried += min(count, search.cases - before)
        number += 1
        rate = search.cases / (time.monotonic() - start)
        print(f"{tried} of {args.cases} cases, {rate:.1f} a second; findings: {dict(search.seen)}", flush=True)
    print(*(f"{count:8} {what}" for what, count in search.came.most_common()), sep="\n")
    return 1 if search.seen else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
