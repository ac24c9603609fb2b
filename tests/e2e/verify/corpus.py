"""Popular binary wheels from PyPI go through the verifier, and through the checkers that people know.

    python3 -m tests.e2e.verify.corpus

Run it from the top of the workspace. The locked wheels are fetched with pip;
validators/requirements.txt has the checkers. No wheel may make the verifier fail, and
wherever auditwheel, check-wheel-contents or twine reports something, the verifier must have a finding that says so:
`SAME` has which.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.e2e.testing.commands import fetch_locked
from tests.e2e.testing.wheels_command import installed
from tests.e2e.validators.tools import make_tools

#: Locked: what is published tomorrow may have other faults, which is no concern of this project's CI.
LOCK = Path(__file__).with_name("corpus.txt")
#: With fewer wheels, something was not fetched.
FEWEST = 30
#: What a checker says -> the rules that say it here. Empty: it is no fault of a wheel, for the reason beside it.
SAME = {
    "check-wheel-contents W001": (),  # Compiled Python: style, as W003 and W004, which is left to check-wheel-contents.
    "check-wheel-contents W002": (),  # Files of the same content: a matter of size, which the build's report shows.
    "check-wheel-contents W003": (),
    "check-wheel-contents W004": (),
    "check-wheel-contents W004 library": (),  # A library, which is no module: it exports no PyInit function.
    "check-wheel-contents W005": ("W512",),
    "check-wheel-contents W006": (),  # __init__.py at the top: what is left to check-wheel-contents, as empty wheels.
    "check-wheel-contents W007": (),
    "check-wheel-contents W008": (),
    "check-wheel-contents W009": (),  # Several modules at the top: a matter of taste, which wheels of today have.
    "check-wheel-contents W010": (),  # A directory without modules at the top: data, and namespace packages.
    "twine": ("W302", "W309"),
    "auditwheel too-recent": ("W415",),
    "auditwheel libraries": ("S101",),
}


@dataclass(frozen=True)
class Report:
    """What one checker says about one wheel."""

    wheel: str
    kind: str
    text: str


def output(*command: object) -> str:
    """Run a checker and return all that it prints; findings make it fail."""
    return subprocess.run(
        [str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    ).stdout


def reports(wheel: Path, programs: Path) -> Iterator[Report]:
    """Yield what the checkers say about a wheel."""
    said = output(programs / "check-wheel-contents", "--no-config", wheel)
    for code, text in re.findall(r": (W\d{3}): (.*(?:\n  .*)*)", said):
        files = [line.strip() for line in text.splitlines()[1:]]
        is_library = code == "W004" and all(re.search(r"(^|/)lib[^/]*\.so$", file) for file in files)
        yield Report(
            wheel.name, f"check-wheel-contents {code}{' library' if is_library else ''}", " ".join(text.split())
        )
    said = output(programs / "twine", "check", "--strict", wheel)
    if "PASSED" not in said.replace("PASSED with warnings", ""):
        yield Report(wheel.name, "twine", " ".join(said.split()))
    shown = " ".join(output(programs / "auditwheel", "show", wheel).split())
    if "manylinux" in wheel.name:
        promised = min(int(minor) for minor in re.findall(r"manylinux_2_(\d+)", wheel.name) or ["17"])
        consistent = re.search(r'consistent with the following platform tag: "(\w+)"', shown)
        kept = re.search(r"manylinux_2_(\d+)", consistent[1]) if consistent else None
        if kept is None:
            yield Report(wheel.name, "auditwheel libraries", shown)
        elif int(kept[1]) > promised:
            yield Report(wheel.name, "auditwheel too-recent", shown)


def findings(wheel: Path, program: Path) -> set[str]:
    """Verify a wheel by itself and as a set of its own; returns the rules that were broken."""
    with tempfile.NamedTemporaryFile(suffix=".sarif") as report:
        command = (program, "verify", f"--sarif={report.name}", wheel)
        done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
        if done.returncode not in (0, 1) or done.stderr:
            sys.exit(f"{wheel.name}: exit code {done.returncode}\n{done.stderr}")
        document: dict[str, Any] = json.loads(Path(report.name).read_text(encoding="utf-8"))
    return {result["ruleId"] for result in document["runs"][0]["results"] if "suppressions" not in result}


def missed(wheel: Path, found: set[str], said: list[Report]) -> list[Report]:
    """Print what the checkers say, and return what the verifier has no finding for."""
    result = []
    for report in said:
        wanted = SAME.get(report.kind)
        agreed = wanted == () or bool(found & set(wanted or ()))
        print(f"{'agreed' if agreed else 'MISSED'}: {wheel.name}: {report.kind}: {report.text[:200]}", flush=True)
        result += [] if agreed else [report]
    return result


def main() -> int:
    """Compare."""
    with tempfile.TemporaryDirectory(prefix="rocm-corpus-") as name:
        scratch = Path(name)
        folder = scratch / "wheels"
        fetch_locked(LOCK, folder, "3.11")
        programs = make_tools(scratch / "tools", "pydistcheck.toml").programs
        command = installed(scratch / "env")
        wheels = sorted(folder.glob("*.whl"))
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            found = pool.map(lambda wheel: findings(wheel, command), wheels)
            said = pool.map(lambda wheel: list(reports(wheel, programs)), wheels)
            lost = [report for each in zip(wheels, found, said, strict=True) for report in missed(*each)]
    print(f"{len(wheels)} wheels verified, {len(lost)} reports of other checkers missed")
    return int(bool(lost) or len(wheels) < FEWEST)


if __name__ == "__main__":
    sys.exit(main())
