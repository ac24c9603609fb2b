"""Each difference between our names and AMD's is known, and has a reason.

AMD's targets and owners come from the locked rocm-bootstrap; its packages and scripts are in amd.json, with the date on
which they were read. Who brings these up to date sees what is
new.
"""

import json
import os
from collections.abc import Collection, Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest
from rocm_bootstrap.package_metadata import package_owner
from rocm_bootstrap.targets import ALL_TARGETS

HERE = Path(__file__).parent
WORKSPACE = HERE.parents[1]


def read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


OURS = read(Path(os.environ["NAMES"]))
AMDS = read(HERE / "amd.json")
BUILT = read(HERE / "built.json")
KNOWN = read(HERE / "differences.json")
DATED = {"tests/names/amd.json": AMDS["date"], "tests/names/built.json": BUILT["date"]}


def different(where: str, ours: Collection[str], amds: Collection[str]) -> Iterator[str]:
    """Yield what one side alone has; one of our patterns is as good as the names that it matches."""
    yield from (f"{where}: ours alone: {name}" for name in ours if name not in amds)
    yield from (f"{where}: AMD's alone: {name}" for name in amds if not any(fnmatchcase(name, one) for one in ours))


def differences() -> Iterator[str]:
    """Yield every difference, in words."""
    yield from different("artifact lists", OURS["artifacts"], AMDS["artifacts"])
    for name in OURS["artifacts"].keys() & AMDS["artifacts"].keys():
        yield from different(f"artifacts of {name}", OURS["artifacts"][name], AMDS["artifacts"][name])
    for package, module in (("core", "rocm_sdk_core"), ("profiler", "rocm_profiler")):
        rows = read(WORKSPACE / "packaging" / package / "src" / module / "console_scripts.json")
        yield from different(f"scripts of {package}", [row["script"] for row in rows], AMDS["scripts"][package])
        plain = [row["script"] for row in rows if not row["prefer_devel"]]
        amds = AMDS["scripts that leave devel as it is"][package]
        yield from different(f"scripts of {package} that leave devel as it is", plain, amds)
    owners = {target.name: package_owner(target.name) for target in ALL_TARGETS}
    yield from different("targets", OURS["targets"], owners)
    yield from different("owners", set(map(str, OURS["targets"].items())), set(map(str, owners.items())))


FOUND = sorted(differences())


@pytest.mark.parametrize("difference", FOUND)
def test_a_difference_is_known(difference: str) -> None:
    assert difference in KNOWN, f"follow AMD, or write the reason into tests/names/differences.json; read on: {DATED}"


def test_no_known_difference_is_gone() -> None:
    assert sorted(KNOWN) == FOUND


def test_each_reason_is_given() -> None:
    assert [name for name, reason in KNOWN.items() if not reason.strip()] == []
