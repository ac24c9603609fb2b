"""Wheels with and without a policy for search paths: their bytes, and what the loader does with them."""

import json
import os
import platform
import re
import subprocess
import zipfile
from io import BytesIO
from pathlib import Path

import pytest

from lib.elf.reader import read_elf

POLICIES = ("default", "needed", "runpath")
BASE = "_mini_base/lib/rocm_sysdeps/lib/librocm_sysdeps_liblzma.so.5"
HIP, HIPRTC, HSA = (f"_mini_libraries/lib/lib{name}" for name in ("amdhip64.so.7", "hiprtc.so.7", "hsa-runtime64.so.1"))
PROGRAM = "_mini_tools/bin/rocminfo"
#: The files as the compiler made them.
MADE = {BASE: Path(os.environ["BASE"]), HIPRTC: Path(os.environ["HIPRTC"])}
TO_BASE = "$ORIGIN/../../_mini_base/lib/rocm_sysdeps/lib"


def contents(policy: str) -> dict[str, bytes]:
    """Return what the wheels of a policy install, by path in site-packages."""
    found: dict[str, bytes] = {}
    for path in os.environ[policy.upper()].split():
        if path.endswith(".whl"):
            with zipfile.ZipFile(path) as wheel:
                found |= {name: wheel.read(name) for name in wheel.namelist() if name.startswith("_mini_")}
    return found


def reason(policy: str, package: str, path: str) -> str:
    """Return what a plan says of a file."""
    (plan,) = (path for path in os.environ[policy.upper()].split() if path.endswith(f"_{package}.plan.json"))
    entries = json.loads(Path(plan).read_text(encoding="utf-8"))["entries"]
    (found,) = (str(entry["reason"]) for entry in entries if entry["path"] == path)
    return found


def search_paths(policy: str) -> dict[str, tuple[str | None, str | None]]:
    """Return DT_RPATH and DT_RUNPATH of the files."""
    files = contents(policy)
    made = {path: read_elf(BytesIO(files[path]), path) for path in (BASE, HIP, HIPRTC, HSA, PROGRAM)}
    return {path: (elf.rpath, elf.runpath) for path, elf in made.items()}


def test_by_default_every_file_gets_all_entries() -> None:
    own = f"$ORIGIN:{TO_BASE}"
    assert search_paths("default") == {
        BASE: ("$ORIGIN", None),
        HIP: (own, None),
        HIPRTC: (None, None),
        HSA: (own, None),
        PROGRAM: (f"$ORIGIN/../lib:$ORIGIN/../../_mini_libraries/lib:{TO_BASE}", None),
    }


@pytest.mark.parametrize(("policy", "at"), [("needed", 0), ("runpath", 1)])
def test_a_policy_gives_entries_to_files_that_need_them(policy: str, at: int) -> None:
    """The entry of the program that leads into its own tree, which has no libraries, is dropped."""
    own = f"$ORIGIN:{TO_BASE}"
    expected = {HIP: own, HSA: own, PROGRAM: f"$ORIGIN/../../_mini_libraries/lib:{TO_BASE}"}
    found = search_paths(policy)
    assert {path: both[at] for path, both in found.items() if both[at]} == expected
    assert {both[1 - at] for both in found.values()} == {None}
    dropped = ", without /build/rocm/lib of the build machine, without $ORIGIN/../lib, where no package has a file"
    assert reason(policy, "tools", "bin/rocminfo").endswith(f"; RPATH extended{dropped}")


def test_other_files_stay_byte_for_byte() -> None:
    default, needed = contents("default"), contents("needed")
    assert needed[BASE] == MADE[BASE].read_bytes() != default[BASE]
    assert len(default[BASE]) > len(needed[BASE])
    assert sum(map(len, default.values())) > sum(map(len, needed.values()))
    assert reason("needed", "base", BASE.partition("/")[2]) == "link whose name is the library's SONAME"
    assert needed[HIP] == default[HIP]


@pytest.mark.parametrize("policy", POLICIES)
def test_a_file_that_must_not_be_edited_is_not(policy: str) -> None:
    assert contents(policy)[HIPRTC] == MADE[HIPRTC].read_bytes()
    said = "library under its SONAME; not edited, and needs an RPATH to libamdhip64.so.7"
    assert reason(policy, "libraries", "lib/libhiprtc.so.7") == said


@pytest.mark.skipif(platform.system() != "Linux", reason="only Linux has this loader")
@pytest.mark.parametrize("policy", POLICIES)
def test_what_the_loader_does(policy: str, tmp_path: Path) -> None:
    """DT_RPATH comes before LD_LIBRARY_PATH, DT_RUNPATH after it. An entry that leads nowhere costs attempts."""
    site, other = tmp_path / "site", tmp_path / "other"
    other.mkdir()
    (other / Path(BASE).name).write_bytes(MADE[BASE].read_bytes())
    for name, content in contents(policy).items():
        (site / name).parent.mkdir(parents=True, exist_ok=True)
        (site / name).write_bytes(content)
    (site / PROGRAM).chmod(0o755)
    variables = {"LD_DEBUG": "libs", "LD_LIBRARY_PATH": str(other)}
    done = subprocess.run([site / PROGRAM], env=variables, capture_output=True, text=True, check=False)
    used = {Path(path).name: Path(path).resolve() for path in re.findall(r"calling init: (\S+)", done.stderr)}
    base = other / Path(BASE).name if policy == "runpath" else site / BASE
    assert {used[Path(path).name] for path in (BASE, HIP, HSA)} == {base, site / HIP, site / HSA}
    kind = "RUNPATH" if policy == "runpath" else "RPATH"
    assert f"({kind} from file {site / PROGRAM})" in done.stderr
    assert ("_mini_tools/bin/../lib/libamdhip64.so.7" in done.stderr) == (policy == "default")
