r"""Measures what images cost: beside the wheels that they are made of, and beside the work that cannot be avoided.

    bazel run //tests/benchmark:images -- --artifacts DIR

An image's config names each layer by the SHA-256 of the inflated archive. So every layer is inflated and digested once,
and `inflate and SHA-256 alone` does just that, with the same inflater, in a process per core. `layers` builds the
images' layers when //packaging:dist is there. The other two rows are builds from nothing but the tools. In
parentheses are the ratios to the first row of each table; //tests/benchmark:packages says what the columns count.
"""

import argparse
import hashlib
import os
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path

from lib.deflate.library import OUT_BYTES, inflate
from lib.wheel.deflated_run import Run
from tests.benchmark import report
from tests.benchmark.cost import Cost, Meter
from tests.benchmark.scenarios import cold, measure_build
from tests.benchmark.scratch import scratch_workspace
from tests.e2e.testing.builds import Workspace, built
from tools.actions.layer.tool import GZIP_HEADER

#: Bytes of a gzip member's CRC-32 and size.
TRAILER_BYTES = 8
DIST, IMAGES = "//packaging:dist", "//packaging:images"
PURE, LAYERS, BOTH = "inflate and SHA-256 alone", "layers", "dist and images"


def inflated_sha256(layer: Path) -> str:
    """Return the SHA-256, in hex, of what a layer of one gzip member inflates to."""
    length = layer.stat().st_size - len(GZIP_HEADER) - TRAILER_BYTES
    deflated = Run(length, 0, 0, segment=str(layer), offset=len(GZIP_HEADER))
    sha256 = hashlib.sha256()
    for piece in inflate(deflated.chunks(), length, OUT_BYTES):
        sha256.update(piece)
    return sha256.hexdigest()


def layer_file(workspace: Workspace, label: str) -> Path:
    """Return the file of a layer that was built."""
    return Path(workspace.info("bazel-bin"), "packaging", f"{label.rpartition(':')[2]}.tar.gz")


def layers_of_images(workspace: Workspace) -> tuple[str, ...]:
    """Return the labels of the layers that the images have, of the largest first; they have to be there.

    In another order, the largest one could be made last, on one core.
    """
    artifacts = f"--repo_env=ROCM_ARTIFACTS_DIR={workspace.artifacts}"
    result = workspace.run("query", artifacts, f"kind(sdk_layer, deps({IMAGES}))")
    if result.returncode:
        raise RuntimeError(f"bazelw query: exit code {result.returncode}\n{result.stdout}")
    labels = [line for line in result.stdout.split() if line.startswith("//")]
    return tuple(sorted(labels, key=lambda label: layer_file(workspace, label).stat().st_size, reverse=True))


def measure_alone(layers: list[Path]) -> Cost:
    """Inflate and digest layers, in this order, on all cores."""
    with Meter(os.getpid()) as meter, ProcessPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        list(pool.map(inflated_sha256, layers))
    return meter.cost


def from_nothing(workspace: Workspace) -> None:
    """Forget all that was built but the tools, and have a new server."""
    cold(workspace)
    built(replace(workspace, artifacts=None).build(IMAGES))


def measure(workspace: Workspace, runs: int) -> report.Costs:
    """Measure everything in each of so many rounds."""
    costs: report.Costs = {name: [] for name in (DIST, BOTH, PURE, LAYERS)}
    built(workspace.build(DIST, IMAGES))
    labels = layers_of_images(workspace)
    for number in range(runs):
        from_nothing(workspace)
        costs[DIST].append(measure_build(workspace, (DIST,), ()))
        costs[LAYERS].append(measure_build(workspace, labels, ()))
        costs[PURE].append(measure_alone([layer_file(workspace, label) for label in labels]))
        from_nothing(workspace)
        costs[BOTH].append(measure_build(workspace, (DIST, IMAGES), ()))
        seconds = ", ".join(f"{name}: {found[-1].seconds:.1f} s" for name, found in costs.items())
        print(f"run {number + 1} of {runs}: {seconds}", file=sys.stderr, flush=True)
    return costs


def main() -> int:
    """Parse the arguments and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--artifacts", type=Path, required=True, help="artifacts directory")
    parser.add_argument("--runs", type=int, default=3, help="how often each is measured (default: %(default)s)")
    parser.add_argument("--scratch", type=Path, help="folder for builds (default: a temporary one)")
    args = parser.parse_args()
    with (
        tempfile.TemporaryDirectory(prefix="rocm-images-", dir=args.scratch) as folder,
        scratch_workspace(Path(folder), args.artifacts) as workspace,
    ):
        costs = measure(workspace, args.runs)
    for base, other in ((PURE, LAYERS), (DIST, BOTH)):
        print(report.costs_table({name: costs[name] for name in (base, other)}, base))
    return 0


if __name__ == "__main__":
    sys.exit(main())
