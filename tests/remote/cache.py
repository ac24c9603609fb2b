"""A second checkout with an HTTP cache builds nothing again, and damage in the cache never reaches a wheel.

    python3 -m tests.remote.cache [--artifacts DIR]

Run it from the top of the workspace. nginx is the cache. The first checkout fills it; a second one in another place,
with an empty output base, builds the same. Prints what was fetched, and how long both took.
"""

import argparse
import sys
import tempfile
from pathlib import Path

from tests.e2e.nginx import put_nginx_on_path
from tests.remote.checkouts import Checkout, Outcome, check_out
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


def run(artifacts: Path | None, folder: Path) -> None:
    """Build in two checkouts, and then with a cache that is damaged."""
    put_nginx_on_path(folder / "nginx")
    with http_cache(folder / "cache") as cache:
        options = ("--config=remote_cache", f"--remote_cache={cache.url}")
        places = (folder / "first", folder / "elsewhere/second")
        checkouts = [check_out(place, artifacts, options) for place in places]
        store = folder / "cache/store"
        try:
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
        finally:
            for checkout in checkouts:
                checkout.remove()


def main() -> int:
    """Parse the arguments and run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--artifacts", type=Path, help="artifacts directory; without it, the embedded SDK")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="rocm-remote-") as folder:
        run(args.artifacts, Path(folder))
    print("a second checkout built nothing again")
    return 0


if __name__ == "__main__":
    sys.exit(main())
