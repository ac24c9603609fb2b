r"""Compares images of these rules with images of the same wheels that `RUN pip install` makes.

    python3 -m tests.benchmark.pip_images --artifacts DIR --root ROOT.tar [--buildah "buildah --storage-driver=vfs"]

Run it as root from the top of the workspace, by a Python that has leather and pyelftools. ROOT.tar is a root file
system with Python and pip: `mmdebstrap --variant=minbase --include=python3-pip sid ROOT.tar`. `--buildah` says what to
call, such as buildah in another root.

The first table has what images cost when the wheels are there: the image for each `--target`, then all images. The
rules make one for each GPU, of layers that images share; pip makes one image with all wheels. The second table has what
the image for the last `--target` costs after a library has changed, and the bytes of layers that registries and users
do not have yet. No number contains the root file system. //tests/benchmark:packages says what the other columns count.
"""

import argparse
import shlex
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tests.benchmark import report
from tests.benchmark.artifacts import change_library, copy_artifacts, find_library
from tests.benchmark.buildah import Buildah
from tests.benchmark.cost import Cost
from tests.benchmark.scenarios import measure_build
from tests.benchmark.scratch import scratch_workspace
from tests.e2e.testing.builds import Workspace, built
from tools.actions.image.base import Base, read_base

WHEELS, ALL_GPUS = "//packaging:dist", "all GPUs"
HEAD = ("made by", "wall s", "CPU s", "written GB")


@dataclass(frozen=True)
class Made:
    """Images that were made."""

    cost: Cost
    #: Sizes of their layers, in bytes, by digest.
    layers: dict[str, int]


#: Makes images, which are named by the rules' targets.
Maker = Callable[[Sequence[str]], Made]


def _read(layout: Path) -> Base:
    return read_base(str(layout), "amd64")


def _packaging(workspace: Workspace) -> Path:
    return Path(workspace.info("bazel-bin"), "packaging")


def by_rules(workspace: Workspace, images: Sequence[str]) -> Made:
    """Build images by the rules."""
    cost = measure_build(workspace, tuple(f"//packaging:{image}" for image in images), ())
    layouts = [_read(_packaging(workspace) / image) for image in images]
    return Made(cost, {layer.sha256: layer.size for layout in layouts for layer in layout.layers})


def by_pip(workspace: Workspace, buildah: Buildah, images: Sequence[str]) -> Made:
    """Make one image with the wheels that images of the rules have."""
    folder = _packaging(workspace)
    history = [entry["created_by"] for image in images for entry in _read(folder / image).config["history"]]
    names = list(dict.fromkeys(history))
    dist = {path.name: path for path in (folder / "dist").rglob("*.whl")}
    cost, layout = buildah.install(images[0] if len(images) == 1 else "all", [dist[name] for name in names])
    layers = _read(layout).layers[1:]  # without the root file system
    shutil.rmtree(layout)
    return Made(cost, {layer.sha256: layer.size for layer in layers})


def row(what: str, maker: str, made: Made, before: Made | None = None) -> list[str]:
    """Return the row of a table; the last column has the layers that were not there before."""
    known = before.layers if before else {}
    new = sum(size for digest, size in made.layers.items() if digest not in known)
    cost = made.cost
    numbers = [f"{cost.seconds:.1f}", f"{cost.cpu:.1f}", f"{cost.written / 1e9:.2f}", f"{new / 1e9:.3f}"]
    return [what, maker, *numbers]


def images_of(workspace: Workspace) -> list[str]:
    """Return the names of the images without development files."""
    artifacts = f"--repo_env=ROCM_ARTIFACTS_DIR={workspace.artifacts}"
    settings = [option for option in workspace.options if option.startswith("--repo_env=")]
    query = ('kind("image_layout rule", //packaging:all)', artifacts, *settings, "--noshow_progress")
    lines = workspace.run("query", *query).stdout.splitlines()
    names = [line.removeprefix("//packaging:") for line in lines if line.startswith("//packaging:image_")]
    return [name for name in names if not name.endswith("_devel")]


def compare(workspace: Workspace, makers: Mapping[str, Maker], targets: Sequence[str], libraries: Sequence[str]) -> str:
    """Make images, change libraries, and make the last image again; return both tables."""
    assert workspace.artifacts
    built(workspace.build(WHEELS))
    wanted = {target: [f"image_{target}"] for target in targets} | {ALL_GPUS: images_of(workspace)}
    made = {(what, name): make(images) for what, images in wanted.items() for name, make in makers.items()}
    table = report.markdown(["image", *HEAD, "size GB"], [row(*key, one) for key, one in made.items()])
    rows = []
    for number, prefix in enumerate(libraries, 1):
        library = find_library(workspace.artifacts, prefix)
        if not library:
            raise SystemExit(f"--library={prefix}: the artifacts have no such library")
        change_library(library, number)
        built(workspace.build(WHEELS))
        for name, make in makers.items():
            before, after = made[targets[-1], name], make(wanted[targets[-1]])
            rows.append(row(library.name, name, after, before))
            made[targets[-1], name] = after
    return table + "\n" + report.markdown(["changed", *HEAD, "pushed and pulled GB"], rows)


def main() -> int:
    """Parse the arguments and compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--artifacts", type=Path, required=True, help="artifacts directory")
    parser.add_argument("--root", type=Path, required=True, help="tar of a root file system with pip")
    parser.add_argument("--buildah", type=shlex.split, default=["buildah"], help="command and global options")
    parser.add_argument("--target", action="append", help="GPU target or family (default: gfx1030 and gfx942)")
    parser.add_argument("--library", action="append", help="how a name begins (default: libamdhip64, librocfft)")
    parser.add_argument("--repo_env", action="append", default=[], help="NAME=VALUE for the build, such as the layout")
    parser.add_argument("--scratch", type=Path, help="folder for builds and images (default: a temporary one)")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="rocm-pip-images-", dir=args.scratch) as folder:
        artifacts = copy_artifacts(args.artifacts, Path(folder, "artifacts"))
        buildah = Buildah(tuple(args.buildah), Path(folder))
        repo_env = (f"--repo_env={one}" for one in args.repo_env)
        with scratch_workspace(Path(folder), artifacts, *repo_env) as workspace:
            makers = {
                "sdk_image_layout": partial(by_rules, workspace),
                "RUN pip install": partial(by_pip, workspace, buildah),
            }
            buildah.make_base(args.root)
            targets, libraries = args.target or ["gfx1030", "gfx942"], args.library or ["libamdhip64", "librocfft"]
            print(compare(workspace, makers, targets, libraries))
    return 0


if __name__ == "__main__":
    sys.exit(main())
