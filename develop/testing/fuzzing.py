"""Runs a fuzzer: makes cases, checks them, and reports findings. The fuzzer brings only its damage and its check.

    def fuzzer(files: Sequence[bytes]) -> Fuzzer[bytes]:
        return Fuzzer(make=lambda rng: …, check=lambda case: "read", content=bytes, suffix=".whl")

    sys.exit(main(fuzzer, __doc__, count=50_000))

A round makes a case by chance, and checks the answer to it: the outcome's name, or an exception, which is a finding. It
depends on nothing but the seed and its number, so that every finding can be repeated.
"""

import argparse
import random
import resource
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

#: No answer takes longer, in seconds of processor time.
MAX_SECONDS = 1.0
#: Memory that a program may take beyond what it has when it begins, in bytes.
MAX_MEMORY = 256 << 20

Case = TypeVar("Case")


class FindingError(AssertionError):
    """An answer that should not be."""


@dataclass(frozen=True)
class Fuzzer(Generic[Case]):
    """One thing to be fuzzed."""

    make: Callable[[random.Random], Case]
    """Make a case."""
    check: Callable[[Case], str]
    """Give it to the program; return what came of it. Whatever it raises is a finding."""
    content: Callable[[Case], bytes]
    """The bytes of a case, to be kept."""
    suffix: str = ""
    """Of the files that are kept."""

    def answer(self, case: Case) -> str:
        """Give a case to the program; return what came of it. Raises what `check` raises, and FindingError if slow."""
        started = time.process_time()
        outcome = self.check(case)
        if (took := time.process_time() - started) > MAX_SECONDS:
            raise FindingError(f"took {took:.1f} s")
        return outcome

    def run(self, seed: int, numbers: range, save: Path | None = None) -> Counter[str]:
        """Go through the rounds; returns how often there was which outcome."""
        outcomes: Counter[str] = Counter()
        for number in numbers:
            case = self.make(random.Random(f"{seed}-{number}"))
            try:
                outcomes[self.answer(case)] += 1
            except Exception as error:
                outcomes[f"FOUND {type(error).__name__}"] += 1
                print(f"seed {seed}, round {number}: {type(error).__name__}: {error}", file=sys.stderr)
                if save is not None:
                    (save / f"{seed}-{number}{self.suffix}").write_bytes(self.content(case))
        return outcomes


def limit_memory() -> None:
    """Let this process have MAX_MEMORY more than it has, and no more."""
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    resource.setrlimit(resource.RLIMIT_AS, (used + MAX_MEMORY, used + MAX_MEMORY))


def parser(description: str | None, count: int) -> argparse.ArgumentParser:
    """Describe the command line of a fuzzer that makes `count` cases unless told otherwise."""
    result = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    result.add_argument("--count", type=int, default=count, help="how many cases (default: %(default)s)")
    result.add_argument("--start", type=int, default=0, help="the number of the first one, to repeat a finding")
    result.add_argument("--seed", type=int, default=1)
    result.add_argument("--save", type=Path, metavar="FOLDER", help="where to keep the cases that found something")
    result.add_argument("files", nargs="*", type=Path, metavar="FILE", help="whole files to damage, beside the samples")
    return result


def main(make: Callable[[Sequence[bytes]], Fuzzer[Case]], description: str | None, count: int) -> int:
    """Run the command line; `make` gets the content of the files named. Returns 1 if anything was found."""
    arguments = parser(description, count).parse_args()
    fuzzer = make([path.read_bytes() for path in arguments.files])
    limit_memory()
    outcomes = fuzzer.run(arguments.seed, range(arguments.start, arguments.start + arguments.count), arguments.save)
    print(", ".join(f"{name}: {count}" for name, count in sorted(outcomes.items())))
    return int(any(name.startswith("FOUND") for name in outcomes))
