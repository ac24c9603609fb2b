"""A second checkout with an HTTP cache builds nothing again, and damage in the cache never reaches a wheel.

    python3 -m tests.remote.cache [--artifacts DIR] [--runs N]

Run it from the top of the workspace. nginx is the cache. The first checkout fills it; a second one in another place,
with an empty output base, builds the same. With `--runs`, the second checkout is also built so many times from nothing
without the cache and with it, repositories fetched beforehand: prints how long both took, and the ratio of the medians.
"""

import argparse
import statistics
import sys
import tempfile
from pathlib import Path

from tests.e2e.builds import built
from tests.e2e.nginx import put_nginx_on_path
from tests.remote.checkouts import TARGET, Checkout, Outcome, check_out
from tests.remote.http_cache import http_cache
from tests.remote.spawns import count_by

#: What takes time or moves bulk data: of these no second checkout may run one.
CACHED = ("RocmInspect", "RocmPack", "RocmPlan")


def check_second(first: Outcome, second: Outcome) -> None:
    """Assert that the second checkout took everything from the cache, and got the same bytes."""
    missed = [spawn for spawn in second.spawns if spawn.mnemonic in CACHED and not spawn.cache_hit]
    assert not missed, f"executed again: {missed[:3]}"
    assert {spawn.mnemonic for spawn in second.spawns} >= set(CACHED), count_by(second.spawns)
    assert first.distributions, first.build.output
    assert second.distributions == first.distributions


def damage(store: Path, first: Outcome, checkout: Checkout) -> None:
    """Corrupt and cut off the biggest blob of a pack action; what is built must be right, or an error."""
    outputs = {
        sha: size for spawn in first.spawns if spawn.mnemonic == "RocmPack" for sha, size in spawn.outputs.values()
    }
    largest = store / "cas" / max(outputs, key=lambda sha: outputs[sha])
    whole = largest.read_bytes()
    middle = len(whole) // 2
    damaged = {
        "a flipped bit": whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :],
        "cut off": whole[:middle],
        "empty": b"",
    }
    for kind, content in damaged.items():
        largest.write_bytes(content)
        checkout.clean()
        # Segments are fetched for this: with the distributions in the cache nobody would look at them.
        outcome = checkout.build("--remote_download_outputs=all")
        said = "succeeded" if outcome.build.succeeded else "failed"
        print(f"{kind}, in a segment of {len(whole)} bytes: the build {said}")
        right = outcome.distributions == first.distributions
        assert right if outcome.build.succeeded else largest.name in outcome.build.output, outcome.build.output
    largest.write_bytes(whole)


def measure(checkout: Checkout, runs: int) -> None:
    """Build from nothing without the cache and with it, in turn; all that is kept is what was fetched."""
    seconds: dict[str, list[float]] = {"--remote_cache=": [], "": []}
    for _ in range(runs):
        for option, taken in seconds.items():
            checkout.clean()
            checkout.workspace.run("shutdown")
            checkout.fetch()
            build = checkout.workspace.build(TARGET, options=("--symlink_prefix=/", *filter(None, [option])))
            taken.append(built(build).seconds)
            print(f"{'no cache' if option else 'cache'}: {taken[-1]:.1f} s", flush=True)
    cold, second = (statistics.median(taken) for taken in seconds.values())
    print(f"medians: {cold:.1f} s without the cache, {second:.1f} s with it, {second / cold:.3f} of the time")


def run(artifacts: Path | None, runs: int, folder: Path) -> None:
    """Build in two checkouts, and then with a cache that is damaged."""
    put_nginx_on_path(folder / "nginx")
    with http_cache(folder / "cache") as cache:
        options = ("--config=remote_cache", f"--remote_cache={cache.url}")
        places = (folder / "first", folder / "elsewhere/second")
        checkouts = [check_out(place, artifacts, options) for place in places]
        store = folder / "cache/store"
        try:
            for checkout in checkouts:
                checkout.fetch()
            first = checkouts[0].build().succeeded()
            stored = sum(path.stat().st_size for path in (store / "cas").iterdir())
            print(f"first checkout: {first.build.seconds:.1f} s; the cache holds {stored / 1e6:.0f} MB", flush=True)
            cache.requests()
            second = checkouts[1].build().succeeded()
            fetched = sum(request.sent for request in cache.requests() if request.method == "GET")
            print(f"second checkout: {second.build.seconds:.1f} s, {fetched / 1e6:.1f} MB fetched", flush=True)
            print(count_by(second.spawns))
            check_second(first, second)
            assert not checkouts[1].outputs("*.seg"), "segments came down, too"
            damage(store, first, checkouts[1])
            if runs:
                measure(checkouts[1], runs)
        finally:
            for checkout in checkouts:
                checkout.remove()


def main() -> int:
    """Parse the arguments and run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--artifacts", type=Path, help="artifacts directory; without it, the embedded SDK")
    parser.add_argument("--runs", type=int, default=0, help="measure so many times")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="rocm-remote-") as folder:
        run(args.artifacts, args.runs, Path(folder))
    print("a second checkout built nothing again")
    return 0


if __name__ == "__main__":
    sys.exit(main())
