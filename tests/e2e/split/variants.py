"""The reference implementation of wheel variants reads ours, and chooses for each kind of machine the one we expect.

    python3 -m tests.e2e.split.variants

`.ci/run wheel-variants` does that in an environment that `environment.py` makes.

Run it from the top of the workspace, in an environment with packaging, and with the libraries of CONTRIBUTING.md
("Tests without Bazel"). pip fetches what variants.txt locks. The program prints a table, which
docs/wheels/wheel-variants.md sums up.

It splits a small wheel. variantlib, the reference implementation of the drafts, asks rocm-bootstrap for the GPUs, which
ROCM_BOOTSTRAP_FORCE_GFX_ARCH names.
"""

import json
import shutil
import subprocess
import sys
import tempfile
import venv
from collections.abc import Iterator
from pathlib import Path

from develop.testing.fat_wheel import MACHINES, VARIANTS, WORDS, written
from tests.e2e.testing.commands import attempt, run

LOCK = Path(__file__).with_name("variants.txt")
INDEX = f"{VARIANTS.name}-{VARIANTS.version}-variants.json"
#: Ranks the variants of an index's file. variantlib adds the null variant, which stands for what suits every machine.
RANK = """
import json, sys
from variantlib.api import get_variants_by_priority
found = get_variants_by_priority(variants_json=json.load(open(sys.argv[1])))
print(json.dumps([variant.label for variant in found]))
"""
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


def main() -> None:
    """Go through the machines; ends the program for the first that does not get what it should."""
    with tempfile.TemporaryDirectory(prefix="rocm-variants-") as name:
        scratch = Path(name)
        python, thin = environment(scratch / "venv"), split(scratch)
        read_again(python, thin / INDEX, scratch)
        print("| GPUs | wheel |\n|---|---|", *select(python, thin), sep="\n")


if __name__ == "__main__":
    main()
