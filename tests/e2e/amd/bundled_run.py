"""Runs AMD's own tests of its packages, in an environment with packages that take their place.

    python3 -B -m tests.e2e.amd.bundled_run --tests DIR --dist DIR --target GFX

Run it from the top of the workspace, where the packages' libraries find their libc. DIR has AMD's modules
(`build_tools/packaging/python/templates/rocm/src/rocm_sdk/tests` of TheRock). They are put where AMD's package has
them and are not changed. Prints what failed as JSON: `module.test [subtest]` -> the last line of the error.
"""

import argparse
import json
import shutil
import sys
import tempfile
import venv
from pathlib import Path

from tests.e2e.testing.commands import attempt, run

#: Runs in the environment: prints the failures of one module, subtests one by one.
RUNNER = r"""
import importlib, json, re, sys, unittest
found = {}
class Result(unittest.TestResult):
    def note(self, test, error):
        name = ".".join(test.id().split(".")[2:])
        kind, message = error[0].__name__, str(error[1]).strip()
        found[re.sub(r"\(so_path=\S*?/site-packages/([^']*)'\)\)", r"\1", name)] = f"{kind}: {message}"
    def addError(self, test, error): self.note(test, error)
    def addFailure(self, test, error): self.note(test, error)
    def addSubTest(self, test, subtest, error):
        if error: self.note(subtest, error)
result = Result()
unittest.defaultTestLoader.loadTestsFromName("rocm_sdk.tests." + sys.argv[1]).run(result)
with open(sys.argv[2], "w") as file: json.dump([found, result.testsRun], file)
"""
MODULES = ("base_test", "core_test", "libraries_test", "profiler_test", "devel_test")
#: Errors say where the environment is.
LONGEST_MESSAGE = 400


def install(dist: Path, directory: Path, target: str) -> Path:
    """Make an environment with everything for a target in it; return its interpreter."""
    venv.create(directory, symlinks=True, with_pip=False)
    python = directory / "bin" / "python"
    pip = (sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-cache-dir", "--no-index")
    requirement = f"rocm[libraries,devel,profiler,device-{target}]"
    run(*pip, f"--find-links={dist}", requirement, ROCM_SDK_TARGET_FAMILY=target)
    return python


def put(tests: Path, python: Path) -> None:
    """Put AMD's tests into the package, instead of what is there."""
    package = Path(run(python, "-c", "import rocm_sdk; print(rocm_sdk.__path__[0])").strip())
    shutil.rmtree(package / "tests", ignore_errors=True)
    shutil.copytree(tests, package / "tests")


def failures(python: Path, module: str, scratch: Path) -> dict[str, str]:
    """Run one module; return its failures."""
    output = scratch / f"{module}.json"
    said = attempt(python, "-c", RUNNER, module, output, PATH=f"{python.parent}:/usr/bin:/bin")
    if not output.exists():
        return {module: said.stderr.strip().splitlines()[-1]}
    found, ran = json.loads(output.read_text())
    print(f"{module}: {ran} tests, {len(found)} failures", file=sys.stderr)
    place = str(python.parents[1])
    return {name: message.replace(place, "")[:LONGEST_MESSAGE] for name, message in found.items()}


def main() -> int:
    """Run the command line; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tests", type=Path, required=True, help="directory of AMD's modules of tests")
    parser.add_argument("--dist", type=Path, required=True, help="directory of the distributions")
    parser.add_argument("--target", default="gfx90a", help="GPU target to install for (default: %(default)s)")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="rocm-bundled-") as folder:
        python = install(arguments.dist.absolute(), Path(folder) / "environment", arguments.target)
        put(arguments.tests, python)
        found = {name: text for module in MODULES for name, text in failures(python, module, Path(folder)).items()}
    json.dump(found, sys.stdout, indent=1, sort_keys=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
