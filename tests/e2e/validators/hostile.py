"""What pip, uv and the package index say of archives that readers take for different things.

    python3 -m tests.e2e.validators.hostile [--update] [--index-rules FILE]

Run it from the top of the workspace. It installs each kind of `develop/testing/hostile_zips.py` by the pip and the uv
of requirements.txt, from a file and, by uv, from a server, where it reads while it downloads. The answers are in
`wheels/tests/hostile_zips.tsv`; the exit code is 1 if one differs, and `--update` writes them.

Without `--index-rules`, the index's answers stay as they are: that is a copy of Warehouse's
`warehouse/utils/zipfiles.py`, which applies PyPI's published rules (https://docs.pypi.org/archives).
"""

import argparse
import importlib.util
import io
import json
import subprocess
import sys
import tempfile
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

from develop.testing.hostile_zips import KINDS, hostile
from tests.e2e.testing.servers import served
from tests.e2e.validators.tools import make_tools, run
from wheels.tests.hostile_zips import INDEX, INSTALLERS, SAMPLE, VICTIM, read_answers, write_answers

#: Installs many wheels by one pip, which takes longer to start than to install: each in a process of its own.
PIP: Final = """
import json, os, sys
import pip._internal.commands.install
from pip._internal.cli.main import main
codes = []
for line in sys.stdin:
    wheel, target = json.loads(line)
    pid = os.fork()
    if pid == 0:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1), os.dup2(null, 2)
        options = ["--quiet", "--no-deps", "--no-index", "--no-cache-dir", "--no-compile", "--target", target]
        try:
            os._exit(main(["install", *options, wheel]))
        finally:
            os._exit(99)
    codes.append(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
print(json.dumps(codes))
"""


def expected(data: bytes) -> dict[str, bytes] | None:
    """Return what zipfile reads, by place; None if it cannot read all."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = [name for name in archive.namelist() if not name.endswith("/")]
            found = {name: archive.read(name) for name in names}
    except Exception:  # zipfile raises what it finds on its way
        return None
    return {str(Path(name)): content for name, content in found.items() if ".dist-info/" not in name}


def answer(data: bytes, target: Path, code: int) -> str:
    """Return what an installer did."""
    if code:
        return "refuses"
    files = (path for path in target.rglob("*") if path.is_file() and path.name != ".lock")
    found = {str(path.relative_to(target)): path.read_bytes() for path in files}
    found = {name: content for name, content in found.items() if ".dist-info/" not in name}
    return "installs" if found == expected(data) else "differs"


def ask_pip(python: Path, wheels: list[Path], targets: list[Path]) -> list[int]:
    """Return pip's exit codes."""
    lines = "".join(json.dumps([str(wheel), str(target)]) + "\n" for wheel, target in zip(wheels, targets, strict=True))
    done = subprocess.run([python, "-c", PIP], input=lines, stdout=subprocess.PIPE, text=True, check=True)
    codes: list[int] = json.loads(done.stdout)
    return codes


def ask_uv(programs: Path, sources: list[str], targets: list[Path]) -> list[int]:
    """Return uv's exit codes."""
    command: list[object] = [programs / "uv", "pip", "install", "--quiet", "--no-deps", "--no-index", "--no-cache"]
    command += ["--python", programs / "python"]

    def one(source: str, target: Path) -> int:
        return subprocess.run(
            list(map(str, [*command, "--target", target, source])), capture_output=True, check=False
        ).returncode

    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(one, sources, targets))


def ask_index(rules: Path, wheels: list[Path]) -> list[str]:
    """Return what PyPI does."""
    spec = importlib.util.spec_from_file_location("index_rules", rules)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return ["accepts" if _is_accepted(module, wheel) else "refuses" for wheel in wheels]


def _is_accepted(module: Any, wheel: Path) -> bool:
    try:
        with zipfile.ZipFile(wheel) as archive:
            archive.read("acme-1.0.dist-info/WHEEL")
            methods = {info.compress_type for info in archive.infolist()}
        return bool(module.validate_zipfile(str(wheel))[0]) and methods <= {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}
    except Exception:  # a rule that raises refuses
        return False


def ask(scratch: Path, rules: Path | None) -> dict[str, dict[str, str]]:
    """Return all answers."""
    programs = make_tools(scratch / "tools", "pydistcheck.toml").programs
    print(run(programs / "python", "-m", "pip", "--version").strip(), run(programs / "uv", "--version").strip())
    archives = [hostile(kind, SAMPLE.members(), VICTIM) for kind in KINDS]
    wheels = [scratch / "wheels" / str(number) / SAMPLE.filename for number in range(len(archives))]
    for wheel, data in zip(wheels, archives, strict=True):
        wheel.parent.mkdir(parents=True)
        wheel.write_bytes(data)
    targets = {judge: [scratch / judge / str(number) for number in range(len(wheels))] for judge in INSTALLERS}
    for judge in INSTALLERS:
        (scratch / judge).mkdir()
    with served(scratch / "wheels") as address:
        codes = {
            "pip": ask_pip(programs / "python", wheels, targets["pip"]),
            "uv": ask_uv(programs, [str(wheel) for wheel in wheels], targets["uv"]),
            "uv-http": ask_uv(
                programs, [f"acme @ {address}{wheel.parent.name}/{wheel.name}" for wheel in wheels], targets["uv-http"]
            ),
        }
    found = {
        kind: {judge: answer(archives[at], targets[judge][at], codes[judge][at]) for judge in INSTALLERS}
        for at, kind in enumerate(KINDS)
    }
    before = read_answers()
    index = ask_index(rules, wheels) if rules else [before[kind][INDEX] for kind in KINDS]
    return {kind: {**found[kind], INDEX: one} for kind, one in zip(KINDS, index, strict=True)}


def main() -> int:
    """Ask, and compare or write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--update", action="store_true", help="write the answers")
    parser.add_argument("--index-rules", type=Path, metavar="FILE", help="copy of warehouse/utils/zipfiles.py")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="rocm-hostile-") as scratch:
        found = ask(Path(scratch), args.index_rules)
    if args.update:
        write_answers(found)
        return 0
    before = read_answers()
    changed = {kind: answers for kind, answers in found.items() if before.get(kind) != answers}
    for kind, answers in changed.items():
        print(f"{kind}: {answers}; expected {before.get(kind)}")
    print(f"{len(found)} kinds, {len(changed)} answers differ")
    return 1 if changed else 0


if __name__ == "__main__":
    sys.exit(main())
