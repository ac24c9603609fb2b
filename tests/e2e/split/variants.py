"""Which wheel variant each kind of machine gets, and that installers that know nothing of variants see the fat wheel.

    python3 -m tests.e2e.split.variants [--installers DIR]

`.ci/run wheel-variants` does that in an environment that `environment.py` makes.

Run it from the top of the workspace, in an environment with packaging, and with the libraries of CONTRIBUTING.md
("Tests without Bazel"). pip fetches what variants.txt locks, pip 23, the newest pip and the newest uv; the installers
into `--installers` if that is given. The program prints tables, which docs/wheels/wheel-variants.md sums up.

It splits a small wheel. variantlib, the reference implementation of the drafts, asks rocm-bootstrap for the GPUs, which
ROCM_BOOTSTRAP_FORCE_GFX_ARCH names. Installers get the directory, and its page from a server.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import venv
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from develop.testing.fat_wheel import MACHINES, VARIANTS, WORDS, written
from lib.variants.variant_format import VARIANT_JSON
from tests.e2e.install.installers import fetch, installers
from tests.e2e.testing.commands import attempt, run
from tests.e2e.testing.servers import served
from wheels.split.write import PAGE

LOCK = Path(__file__).with_name("variants.txt")
INDEX = f"{VARIANTS.name}-{VARIANTS.version}-variants.json"
#: Ranks the variants of an index's file. variantlib adds the null variant, which stands for what suits every machine.
RANK = """
import json, sys
from variantlib.api import get_variants_by_priority
found = get_variants_by_priority(variants_json=json.load(open(sys.argv[1])))
print(json.dumps([variant.label for variant in found]))
"""
#: What uv says of a provider that is not built into it.
UV_SKIPS = "Skipping unsupported wheel variant provider `rocm_bootstrap.variant_provider:AMDVariantPlugin`"
#: A GPU that rocm-bootstrap does not know.
UNKNOWN = "gfx9999"


def environment(folder: Path) -> Path:
    """Make an environment with what is locked; returns its interpreter."""
    venv.create(folder, with_pip=True)
    python = folder / "bin/python"
    options = ("--quiet", "--disable-pip-version-check", "--only-binary=:all:", "--require-hashes", "-r", LOCK)
    subprocess.run([python, "-m", "pip", "install", *options], check=True)
    return python


def split(scratch: Path) -> Path:
    """Split the sample; returns the directory."""
    command = ("-m", "wheels", "split", written(scratch, VARIANTS), f"--targets={WORDS}")
    print(run(sys.executable, "-B", *command, f"--output={scratch / 'thin'}", "--shape=wheel-variants"))
    return scratch / "thin"


def forced(gpus: str) -> dict[str, str]:
    """Return the variables that stand for a machine with these GPUs."""
    return {"ROCM_BOOTSTRAP_FORCE_GFX_ARCH": gpus} if gpus else {"ROCM_BOOTSTRAP_DISABLE_DETECTION": "1"}


def select(python: Path, thin: Path) -> Iterator[str]:
    """Let variantlib select; yields rows of the table. Ends the program for a wheel that is not as expected."""
    for gpus, labels in MACHINES.items():
        ranked = json.loads(run(python, "-I", "-c", RANK, thin / INDEX, **forced(gpus)))
        if ranked != [*labels, "null"]:
            sys.exit(f"{gpus}: variantlib selects {ranked}; expected {labels} and null")
        yield f"| {gpus or 'none'} | {labels[0] if labels else 'the fat wheel'} |"
    failed = attempt(python, "-I", "-c", RANK, thin / INDEX, **forced(UNKNOWN))
    if not failed.returncode or f"Unknown GFX target: '{UNKNOWN}'" not in failed.stderr:
        sys.exit(f"{UNKNOWN}: expected an error of the provider: {failed.stdout}{failed.stderr}")
    yield f"| {UNKNOWN} | none: {failed.stderr.strip().partition('ValueError: ')[2].partition('.')[0]} |"


def read_again(python: Path, index: Path, scratch: Path) -> None:
    """Let variantlib make an index's file of the wheels beside it. Ends the program unless it says the same as ours."""
    wheels = scratch / "wheels"
    wheels.mkdir()
    for wheel in index.parent.glob(f"{index.name.partition('-')[0]}-*.whl"):
        shutil.copy(wheel, wheels)
    run(python.with_name("variantlib"), "generate-index-json", "-d", wheels)
    ours, theirs = (json.loads((folder / index.name).read_bytes()) for folder in (index.parent, wheels))
    del ours["$schema"], theirs["$schema"]  # variantlib 0.2 names the schema of no PEP.
    if ours != theirs:
        sys.exit(f"variantlib writes {theirs}; {index} is {ours}")


def check_fat(title: str, target: Path) -> None:
    """End the program unless the fat wheel is installed."""
    dist_info = target / VARIANTS.dist_info
    library = (target / "acme/lib.so").read_bytes()
    if (dist_info / VARIANT_JSON).exists() or library != VARIANTS.files["acme/lib.so"]:
        sys.exit(f"{title}: installed another wheel than the fat one")


def install(title: str, command: Sequence[object], scratch: Path) -> str:
    """Install on a machine with a gfx942; returns what was said. Ends the program unless the fat wheel came."""
    with tempfile.TemporaryDirectory(dir=scratch) as folder:
        done = attempt(*command, f"--target={folder}", "acme", **forced("gfx942"))
        if done.returncode:
            sys.exit(f"{title}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
        check_fat(title, Path(folder))
    return done.stdout + done.stderr


def use_installers(thin: Path, page: str, wheels: Path, scratch: Path) -> Iterator[str]:
    """Install with pip and uv from the directory and the page."""
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    fetch(wheels, version)
    for installer in installers(wheels, version):
        own: tuple[object, ...] = (installer.program, "pip", "install", "--no-cache", f"--python={sys.executable}")
        if not installer.is_uv:
            own = (sys.executable, installer.program, "install", "--no-cache-dir", "--disable-pip-version-check")
        for place in (thin, page):
            common = (*own, "--no-index", f"--find-links={place}")
            install(installer.title, common, scratch)
        yield f"| {installer.title} | the fat wheel |"
        if installer.is_uv:
            yield from use_uv((*common, "--preview-features=wheel-variants"), thin, installer.title, scratch)


def use_uv(command: Sequence[object], thin: Path, title: str, scratch: Path) -> Iterator[str]:
    """Let uv take variants into account: it asks the providers that are built into it, and no others."""
    said = install(title, (*command, "-v"), scratch)
    if UV_SKIPS not in said:
        sys.exit(f"{title}: expected `{UV_SKIPS}`: {said}")
    yield f"| {title}, wheel variants | the fat wheel: `{UV_SKIPS} for namespace `amd`` |"
    [variant] = thin.glob("*-gfx942.whl")
    refused = attempt(*command, f"--target={scratch / 'refused'}", variant)
    if not refused.returncode:
        sys.exit(f"{title}: installs a variant by its path; say so in docs/wheels/wheel-variants.md")
    yield f"| {title}, wheel variants, given the variant itself | none: {' '.join(refused.stderr.split())} |"


def use_poetry(python: Path, page: str, scratch: Path) -> Iterator[str]:
    """Let Poetry resolve against the page."""
    project = scratch / "project"
    project.mkdir()
    (project / "pyproject.toml").write_text(f"""\
[project]
name = "project"
version = "1"
requires-python = ">=3.11"
dependencies = ["acme"]
[tool.poetry]
package-mode = false
[[tool.poetry.source]]
name = "thin"
url = "{page}"
""")
    settings: Mapping[str, str] = {"POETRY_CACHE_DIR": f"{scratch / 'cache'}", "POETRY_VIRTUALENVS_CREATE": "false"}
    run(python, "-m", "poetry", "lock", "--no-interaction", f"--directory={project}", **settings)
    lock = (project / "poetry.lock").read_text()
    if lock.count(".whl") != 1 or VARIANTS.filename not in lock:
        sys.exit(f"poetry: expected {VARIANTS.filename} and no other wheel\n{lock}")
    yield f"| {run(python, '-m', 'poetry', '--version').strip()} | the fat wheel |"


def main() -> None:
    """Go through machines and installers; ends the program for the first that is not as it should be."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--installers", type=Path, metavar="DIR", help="directory of the installers' wheels")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="rocm-variants-") as name:
        scratch = Path(name)
        python, thin = environment(scratch / "venv"), split(scratch)
        read_again(python, thin / INDEX, scratch)
        print("| GPUs | wheel |\n|---|---|", *select(python, thin), sep="\n")
        with served(thin) as address:
            page = address + PAGE
            print("| installer | wheel |\n|---|---|")
            for row in use_installers(thin, page, arguments.installers or scratch / "installers", scratch):
                print(row, flush=True)
            print(*use_poetry(python, page, scratch), sep="\n")


if __name__ == "__main__":
    main()
