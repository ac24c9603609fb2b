"""Which wheel variant of `rocm` each machine gets, and that installers that do not choose one install as without them.

    python3 -m tests.e2e.index.wheel_variants [--dist DIR --plain DIR] [--installers DIR]

Run it from the top of the workspace. Without `--dist`, the packages of the mini SDK are built, with wheel variants and
without. pip fetches what tests/e2e/split/variants.txt locks, and pip 23, the newest pip and the newest uv; the
installers into `--installers` if that is given. The program prints tables, which docs/wheels/wheel-variants.md sums up.

variantlib, the reference implementation of the drafts, reads the wheels and ranks the variants. It asks rocm-bootstrap
for the GPUs, which ROCM_BOOTSTRAP_FORCE_GFX_ARCH names; the sdist reads this variable, too. Installers get both indexes
from a server.
"""

import argparse
import json
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from email import message_from_bytes
from pathlib import Path

from packaging.requirements import Requirement

from lib.variants.variant_format import DRAFT, INDEX_SUFFIX, split_label
from tests.e2e.install.environment import Installer
from tests.e2e.install.installers import fetch, installers
from tests.e2e.split.variants import RANK, environment, forced, read_again, served
from tests.e2e.testing.builds import Workspace, built
from tests.e2e.testing.commands import attempt, run

#: GPUs of machines; "" for none. rocm-bootstrap does not know the last one.
MACHINES = ("gfx942", "gfx1100", "", "gfx1299")
UNKNOWN = "gfx1299"
WANTED = "rocm[libraries,device]"
#: Places below the served directory: what pip and uv call the index, and the flat page.
SIMPLE, PAGE = "simple/", "find-links.html"
#: What uv says of a provider that is not built into it.
UV_SKIPS = "Skipping unsupported wheel variant provider"


def build(scratch: Path) -> tuple[Path, Path]:
    """Build the packages of the mini SDK; returns copies of the directories with wheel variants and without."""
    places = ("tests/mini/variants/split_wheel_variants", "tests/mini/split/dist")
    workspace = Workspace()
    built(workspace.build("//tests/mini/variants:split_wheel_variants", "//tests/mini/split:dist"))
    copies = [scratch / "dist", scratch / "plain"]
    for place, copy in zip(places, copies, strict=True):
        shutil.copytree(workspace.directory / "bazel-bin" / place, copy)
    return copies[0], copies[1]


def required(dist: Path, label: str) -> set[str]:
    """Return what a wheel variant with the two extras requires: the names of the distributions."""
    [path] = (path for path in dist.glob("rocm-*.metadata") if split_label(path.stem)[1] == label)
    requirements = map(Requirement, message_from_bytes(path.read_bytes()).get_all("Requires-Dist", []))
    wanted = ("", "libraries", "device")
    return {
        one.name
        for one in requirements
        if one.marker is None or any(one.marker.evaluate({"extra": extra}) for extra in wanted)
    }


def ranked(python: Path, dist: Path, gpus: str) -> list[str]:
    """Return the labels that suit a machine, best first. Ends the program for an error that is not expected."""
    [index] = dist.glob(f"*{INDEX_SUFFIX}")
    done = attempt(python, "-I", "-c", RANK, index, **forced(gpus))
    if not done.returncode:
        # variantlib adds the null variant, which stands here for the sdist.
        labels: list[str] = json.loads(done.stdout)
        return [label for label in labels if label != "null"]
    if gpus != UNKNOWN or "Unknown GFX target" not in done.stderr:
        sys.exit(f"{gpus or 'no GPU'}: variantlib fails: {done.stderr}")
    return []


def select(python: Path, dist: Path, expected: Mapping[str, set[str]]) -> Iterator[str]:
    """Compare what the best variant requires with what the sdist made of itself; yields rows of a table."""
    for gpus in MACHINES:
        labels = ranked(python, dist, gpus)
        if bool(labels) != (gpus in ("gfx942", "gfx1100")):
            sys.exit(f"{gpus or 'no GPU'}: variantlib ranks {labels}")
        brings = required(dist, labels[0]) if labels else expected[gpus]
        if not brings <= expected[gpus] or len(brings) < 3:
            sys.exit(f"{gpus}: the variant {labels} requires {brings}; the sdist brings {expected[gpus]}")
        device = ", ".join(f"`{one}`" for one in sorted(brings) if "device" in one)
        fails = ": the provider fails" if gpus == UNKNOWN else ""
        yield f"| {gpus or 'none'} | {f'`{labels[0]}`' if labels else f'none{fails}'} | {device} |"


def command(installer: Installer, place: str) -> list[object]:
    """Return the command that installs from an index, or from a page."""
    own: list[object] = [installer.program, "pip", "install", "--no-cache", f"--python={sys.executable}"]
    if not installer.is_uv:
        own = [sys.executable, installer.program, "install", "--no-cache-dir", "--disable-pip-version-check"]
    if place.endswith(".html"):
        return [*own, "--no-index", f"--find-links={place}"]
    return [*own, f"--default-index={place}" if installer.is_uv else f"--index-url={place}"]


def install(title: str, command: list[object], gpus: str, scratch: Path) -> tuple[set[str], str]:
    """Install on a machine; returns the names of what came, and what was said. Ends the program for a variant."""
    with tempfile.TemporaryDirectory(dir=scratch) as folder:
        done = attempt(
            *command,
            f"--target={folder}",
            "--pre" if "uv" not in title else "--prerelease=allow",
            WANTED,
            **forced(gpus),
        )
        if done.returncode:
            sys.exit(f"{title}, {gpus}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
        if list(Path(folder).glob("rocm-*.dist-info/variant.json")):
            sys.exit(f"{title}, {gpus}: installed a wheel variant")
        names = {path.name.partition("-")[0].replace("_", "-") for path in Path(folder).glob("*.dist-info")}
    return names - {"rocm"}, done.stdout + done.stderr


def use_installers(urls: tuple[str, str], wheels: Path, scratch: Path) -> Iterator[tuple[str, dict[str, set[str]]]]:
    """Install from both indexes, which has to come out the same; yields each installer, and what it brings."""
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    fetch(wheels, version)
    for installer in installers(wheels, version):
        options: dict[str, list[object]] = {installer.title: []}
        if installer.is_uv:
            options[f"{installer.title}, wheel variants"] = ["--preview-features=wheel-variants", "-v"]
        for title, more in options.items():
            brought: dict[str, set[str]] = {}
            for gpus in MACHINES:
                for place in (SIMPLE, PAGE) if gpus == "gfx942" else (SIMPLE,):
                    found, said = install(title, [*command(installer, urls[0] + place), *more], gpus, scratch)
                    plain, _ = install(title, [*command(installer, urls[1] + place), *more], gpus, scratch)
                    if found != plain or brought.setdefault(gpus, found) != found:
                        sys.exit(f"{title}, {gpus}, {place}: brings {found}; without wheel variants {plain}")
                    if more and UV_SKIPS not in said:
                        sys.exit(f"{title}: expected `{UV_SKIPS}`: {said}")
            yield title, brought


def lock(python: Path, url: str, scratch: Path) -> str:
    """Let Poetry resolve against an index on a machine with a gfx942; returns its lock file without the address."""
    project = Path(tempfile.mkdtemp(dir=scratch))
    (project / "pyproject.toml").write_text(f"""\
[project]
name = "project"
version = "1"
requires-python = ">=3.11"
[tool.poetry]
package-mode = false
[tool.poetry.dependencies]
rocm = {{ version = "*", extras = ["libraries", "device"], allow-prereleases = true }}
[[tool.poetry.source]]
name = "rocm"
url = "{url}{SIMPLE}"
""")
    settings = {"POETRY_CACHE_DIR": f"{project / 'cache'}", "POETRY_VIRTUALENVS_CREATE": "false", **forced("gfx942")}
    run(python, "-m", "poetry", "lock", "--no-interaction", f"--directory={project}", **settings)
    lines = (project / "poetry.lock").read_text().replace(url, "").splitlines()
    return "\n".join(line for line in lines if not line.startswith("content-hash"))  # It is taken of the address, too.


def use_poetry(python: Path, urls: tuple[str, str], scratch: Path) -> Iterator[str]:
    """Compare Poetry's lock files of both indexes; yields a row of the table."""
    locks = [lock(python, url, scratch) for url in urls]
    if locks[0] != locks[1] or "rocm-sdk-device-gfx942" not in locks[0]:
        sys.exit(f"poetry: with wheel variants:\n{locks[0]}\nwithout:\n{locks[1]}")
    yield f"| {run(python, '-m', 'poetry', '--version').strip()} | the sdist |"


def main() -> None:
    """Go through installers and machines; ends the program for the first that is not as it should be."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dist", type=Path, help="directory of an index with wheel variants, of the split layout")
    parser.add_argument("--plain", type=Path, help="directory of the same index without them")
    parser.add_argument("--installers", type=Path, metavar="DIR", help="directory of the installers' wheels")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="rocm-variants-") as name:
        scratch = Path(name)
        given = arguments.dist and arguments.plain
        dist, plain = (arguments.dist, arguments.plain) if given else build(scratch)
        python = environment(scratch / "venv")
        [index] = dist.glob(f"*{INDEX_SUFFIX}")
        read_again(python, index, scratch)
        with served(dist) as page, served(plain) as other:
            urls = (page.removesuffix(PAGE), other.removesuffix(PAGE))
            print(f"| installer | `rocm` ({DRAFT}) |\n|---|---|")
            found: dict[str, set[str]] = {}
            for title, brought in use_installers(urls, arguments.installers or scratch / "installers", scratch):
                if found and brought != found:
                    sys.exit(f"{title}: brings {brought}; other installers {found}")
                found = brought
                print(f"| {title} | the sdist |", flush=True)
            print(*use_poetry(python, urls, scratch), sep="\n")
            print("| GPUs | variant | brings |\n|---|---|---|", *select(python, dist, found), sep="\n")


if __name__ == "__main__":
    main()
