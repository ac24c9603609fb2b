"""A second checkout with an HTTP cache builds nothing again, and what the cache loses or damages reaches no wheel.

    python3 -m tests.remote.cache [--artifacts DIR]

Run it from the top of the workspace. nginx is the cache. The first checkout fills it; a second one in another place,
with an empty output base, builds the same. Wheels are not in the cache unless that is asked for; both are tried.
"""

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

from tests.e2e.testing.nginx import Server, put_nginx_on_path
from tests.remote.checkouts import TARGET, Checkout, Outcome, check_out
from tests.remote.http_cache import http_cache
from tests.remote.spawns import count_by

#: What only joins what is there: each build does it again, unless wheels are in the cache as well.
LINKED = ("RocmIndex", "RocmLink")
#: The wheels, and the directory with all of them.
TARGETS = (TARGET, "//packaging:dist")
WITH_WHEELS = "--config=remote_wheels"


def check_second(first: Outcome, second: Outcome, again: tuple[str, ...]) -> None:
    """Assert that the second checkout took everything except those mnemonics from the cache, and got the same bytes."""
    executed = {spawn.mnemonic for spawn in second.spawns if not spawn.cache_hit}
    assert executed == set(again), count_by(second.spawns)
    assert {spawn.mnemonic for spawn in second.spawns} >= {"RocmInspect", "RocmPack", "RocmPlan", "RocmLink"}
    assert first.distributions, first.build.output
    assert second.distributions == first.distributions


def stored(store: Path) -> int:
    """Return how many bytes the cache holds."""
    return sum(path.stat().st_size for path in (store / "cas").iterdir())


def fetched(cache: Server) -> float:
    """Return how many MB were fetched from the cache since it was last asked."""
    return sum(request.sent for request in cache.requests() if request.method == "GET") / 1e6


def evict(store: Path, checkout: Checkout) -> None:
    """Remove all contents from a cache that has outputs which a checkout has not fetched: it makes them anew."""
    shutil.rmtree(store)
    store.mkdir()
    outcome = checkout.build("--//packaging:version=7.10.0.dev1").succeeded()
    print(f"without what the cache had: {outcome.build.seconds:.1f} s", flush=True)
    assert "do not exist remotely" in outcome.build.output, outcome.build.output


def with_wheels(checkouts: list[Checkout], store: Path, cache: Server, first: Outcome) -> None:
    """Put the wheels into the cache, too: then nothing but distributions comes down."""
    checkouts[0].clean()
    checkouts[0].build(WITH_WHEELS, targets=TARGETS).succeeded()
    print(f"with wheels the cache holds {stored(store) / 1e6:.1f} MB", flush=True)
    checkouts[1].clean()
    cache.requests()
    second = checkouts[1].build(WITH_WHEELS, targets=TARGETS).succeeded()
    print(f"second checkout, with wheels: {second.build.seconds:.1f} s, {fetched(cache):.1f} MB fetched", flush=True)
    check_second(first, second, ("RocmIndex",))  # It only links.
    assert not checkouts[1].outputs("*.seg"), "segments came down, too"


def damage(store: Path, first: Outcome, checkout: Checkout) -> None:
    """Corrupt and cut off the biggest blob of a pack action; the wheel of it must be right, or an error."""
    packed = [
        (spawn, *output) for spawn in first.spawns if spawn.mnemonic == "RocmPack" for output in spawn.outputs.values()
    ]
    spawn, sha256, _ = max(packed, key=lambda one: one[2])
    largest, target = store / "cas" / sha256, f"{spawn.label}_wheel"
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
        outcome = checkout.build(targets=(target,))
        said = "succeeded" if outcome.build.succeeded else "failed"
        print(f"{kind}, in a segment of {len(whole)} bytes: the build {said}")
        right = bool(outcome.distributions) and outcome.distributions.items() <= first.distributions.items()
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
            for checkout in checkouts:
                checkout.fetch()
            first = checkouts[0].build(targets=TARGETS).succeeded()
            print(
                f"first checkout: {first.build.seconds:.1f} s; the cache holds {stored(store) / 1e6:.1f} MB", flush=True
            )
            wheels = [sha for name, sha in first.distributions.items() if name.endswith(".whl")]
            kept = [sha for sha in wheels if (store / "cas" / sha).exists()]
            assert len(kept) == 1, f"expected the static wheel alone, which nothing is linked of: {kept}"
            cache.requests()
            second = checkouts[1].build(targets=TARGETS).succeeded()
            print(f"second checkout: {second.build.seconds:.1f} s, {fetched(cache):.1f} MB fetched", flush=True)
            print(count_by(second.spawns))
            check_second(first, second, LINKED)
            evict(store, checkouts[1])
            with_wheels(checkouts, store, cache, first)
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
