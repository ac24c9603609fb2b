"""Changes SDKs in random steps, and checks each step.

It prints its progress, and each finding with the shortest history that shows
it; it prints each kind of finding once. The exit code is 1 if there was a
finding. With --state it writes a line for each seed that is done, of CHUNK
histories, and the next call continues there.

Bugs that it finds when they are put back, with the number of the history for
seeds 1, 2 and 3:

    every directory is watched by its listing alone          14, 3, 11
    ROCm's unpacker removes the user's files with the tree   6, 3, 11
    devel_tree.py returns the old tree after an upgrade,
      and RECORD lists nothing                               2, 2, 2
    a library's name that a file needs is dropped            not in 286 (seed 1)

What it found itself: a user's directory, or link, in the place of a link of the
devel tree (seed 205); a link to an empty directory that an installer left (seed
2056); a file of one package where another has a directory (seed 2157); a file
that moved to another package of its tree, which pip loses in an upgrade (seed
7155). It cannot find bugs of `rocm-wheels verify`, which it does not call.
"""

import argparse
import json
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from hypothesis import Phase, given, seed, settings

from tests.pipeline.drawing import ONLY_FRESH
from tests.pipeline.histories import History, histories, live
from tests.pipeline.run_many import kind_of

#: Histories of one seed.
CHUNK = 50


@dataclass
class Search:
    """How far the search is."""

    known: set[str] = field(default_factory=set)
    seen: Counter[str] = field(default_factory=Counter)
    came: Counter[str] = field(default_factory=Counter)
    last: History | None = None

    def trial(self, history: History) -> None:
        """Live one history; raises what is new."""
        self.last = history
        try:
            self.came += live(history)
            self.came["histories"] += 1
        except Exception as error:
            self.seen[kind_of(error)] += 1
            if kind_of(error) not in self.known:
                raise

    def run(self, number: int, count: int, *, shrink: bool) -> None:
        """Live the histories of a seed; print a finding."""
        phases = (Phase.generate, Phase.shrink) if shrink else ONLY_FRESH.phases
        trial = seed(number)(settings(ONLY_FRESH, max_examples=count, phases=phases)(given(histories())(self.trial)))
        try:
            trial()
        except Exception as error:
            self.known.add(kind_of(error))
            notes = "\n".join(getattr(error, "__notes__", []))
            print(f"\nFINDING (seed {number}) {type(error).__name__}: {error}\n{notes}\n{self.last!r}\n", flush=True)


def main(argv: list[str]) -> int:
    """Search, and say what was found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--histories", type=int, default=1000, help="how many to live")
    parser.add_argument("--seed", type=int, default=1, help="where to begin")
    parser.add_argument("--state", type=Path, help="file of the seeds that are done")
    parser.add_argument("--known", action="append", default=[], help="a kind of finding not to stop for")
    parser.add_argument("--no-shrink", action="store_true", help="print findings as they come")
    args = parser.parse_args(argv)
    text = args.state.read_text("utf-8") if args.state and args.state.exists() else ""
    done = {int(line.split()[0]) for line in text.splitlines()}
    search, start = Search(set(args.known)), time.monotonic()
    for number in range(args.seed, args.seed + -(-args.histories // CHUNK)):
        if number in done:
            continue
        before = Counter(search.seen)
        search.run(number, CHUNK, shrink=not args.no_shrink)
        if args.state:
            with args.state.open("a", encoding="utf-8") as state:
                state.write(f"{number} {json.dumps(dict(search.seen - before))}\n")
        rate = search.came["histories"] / (time.monotonic() - start)
        print(f"seed {number}: {search.came['histories']}, {rate:.1f} a second; {dict(search.seen)}", flush=True)
    print(*(f"{count:8} {what}" for what, count in search.came.most_common()), sep="\n")
    return 1 if search.seen else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
