"""What `--//rules/settings:verbose` makes tools say: how much they did, and how fast."""

import sys
import time


class Stopwatch:
    """Measures from when it is made; says what was done since then if it was asked to."""

    def __init__(self, *, verbose: bool) -> None:
        """Begin to measure."""
        self._verbose = verbose
        self._start = time.monotonic()

    def report(self, work: str, taken: int, made: int) -> None:
        """Print a line to standard error: what was done, bytes that were taken and made, seconds, bytes per second."""
        if self._verbose:
            seconds = max(time.monotonic() - self._start, 1e-6)
            rate = f"{seconds:.2f} s ({taken / 1e6 / seconds:.0f} MB/s)"
            print(f"{work}: {taken / 1e6:.1f} MB to {made / 1e6:.1f} MB in {rate}", file=sys.stderr)
