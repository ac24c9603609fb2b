"""Console scripts run the same tool, whether `glance` tells where the development tree is or `devel_root` does."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from fake_sdk import VERSION, FakeSdk, distributions, sdk_source
from rocm_sdk.devel.glance import TARGET_VARIABLE
from rocm_sdk.targets import ENVIRONMENT_VARIABLE

TREE = "_rocm_sdk_devel"
INSTALLED = ("rocm_sdk_core", "rocm_sdk_devel", "rocm_sdk_libraries", "rocm_sdk_device_gfx942")
#: Says what a glance tells, then runs a console script; with `full`, as if a glance told nothing.
RUN = """
import sys
how, *sys.path[len(sys.path):] = sys.argv[1:]
try:
    import rocm_sdk.devel.glance as glance
    print(repr(glance.glance_at_root()), file=sys.stderr)
    if how == "full":
        glance.glance_at_root = lambda: None
except ModuleNotFoundError:
    print("no rocm", file=sys.stderr)
sys.argv = ["amdclang", "x"]
from rocm_sdk_core._cli import amdclang
sys.stderr.flush()
sys.stderr = sys.stdout
amdclang()
"""


def lay_out(index: Path, site: Path, *names: str) -> None:
    for name in names:
        with zipfile.ZipFile(next(index.glob(f"{name}-{VERSION}-*.whl"))) as wheel:
            wheel.extractall(site)
            for member in wheel.infolist():
                (site / member.filename).chmod(member.external_attr >> 16)


@pytest.fixture(scope="session")
def unpacked(tmp_path_factory: pytest.TempPathFactory, split_sdk: FakeSdk) -> Path:
    """Return a directory laid out like site-packages, whose tree was made by a console script."""
    site = tmp_path_factory.mktemp("unpacked") / "site"
    lay_out(split_sdk.index, site, *INSTALLED)
    (site / "rocm_sdk").mkdir()
    shutil.copytree(sdk_source(), site / "rocm_sdk", ignore=shutil.ignore_patterns("__pycache__"), dirs_exist_ok=True)
    (site / "rocm_sdk/_distributions.json").write_text(json.dumps(distributions("split")))
    assert run(site, "glance") == ("None", f"{TREE}/lib/llvm/bin/amdclang x\n")
    return site


def run(site: Path, how: str, *before: Path, **variables: str) -> tuple[str, str]:
    """Return what a glance tells and what is run, or said, with `site` and those before it as `sys.path`."""
    command = [sys.executable, "-I", "-S", "-B", "-W", "ignore", "-c", RUN, how, *map(str, before), str(site)]
    done = subprocess.run(command, env={"PATH": os.defpath, **variables}, capture_output=True, check=False)
    told, said = (text.decode().replace(f"{site}/", "").replace(str(site), "") for text in (done.stderr, done.stdout))
    return told.splitlines()[0], said + "".join(told.splitlines(keepends=True)[1:])


def copy_site(site: Path, place: Path) -> Path:
    """Copy a directory with all times."""
    return Path(shutil.copytree(site, place / "site", symlinks=True))


def touch(path: Path) -> None:
    """Change the modification time of a file."""
    os.utime(path, ns=(0, path.stat().st_mtime_ns + 1))


def change_state(site: Path, **fields: object) -> None:
    file = site / TREE / ".rocm-sdk-state.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), **fields}))


def forget_package(site: Path, name: str) -> None:
    shutil.rmtree(site / f"{name}-{VERSION}.dist-info")
    shutil.rmtree(site / name, ignore_errors=True)


def add_metadata(site: Path, directory: str) -> None:
    (site / directory).mkdir()
    (site / directory / "METADATA").touch()
    (site / directory / "RECORD").touch()


def as_plain(site: Path) -> None:
    """Turn the tree into a plain tree, whose files the wheel has as ordinary files."""
    for name in ("_devel.lock", "_devel.journal", "_devel.tar"):
        (site / "rocm_sdk_devel" / name).unlink()
    (site / TREE / ".rocm-sdk-state.json").unlink()


def plain_but(change: Callable[[Path], object]) -> Callable[[Path], None]:
    def both(site: Path) -> None:
        as_plain(site)
        change(site)

    return both


ROOT, NONE, UNKNOWN = repr(TREE), "''", "None"
DIST_INFO = f"{VERSION}.dist-info"
#: By state: what brings it about, and what a glance tells then.
STATES: dict[str, tuple[Callable[[Path], object], str]] = {
    "as it was made": (lambda site: None, ROOT),
    "with another package beside it": (lambda site: add_metadata(site, "numpy-2.0.dist-info"), ROOT),
    "archive deleted": (lambda site: (site / "rocm_sdk_devel/_devel.tar").unlink(), ROOT),
    "without the tool": (lambda site: (site / TREE / "lib/llvm/bin/amdclang").unlink(), ROOT),
    "not unpacked": (lambda site: shutil.rmtree(site / TREE), UNKNOWN),
    "being unpacked": (lambda site: (site / TREE / ".rocm-sdk-state.json").unlink(), UNKNOWN),
    "links changing": (lambda site: change_state(site, changing=True), UNKNOWN),
    "of an older version of this code": (lambda site: change_state(site, format=3), UNKNOWN),
    "without a basis": (lambda site: change_state(site, basis={}), UNKNOWN),
    "state cut off": (lambda site: (site / TREE / ".rocm-sdk-state.json").write_text('{"archive":['), UNKNOWN),
    "state empty": (lambda site: (site / TREE / ".rocm-sdk-state.json").write_text(""), UNKNOWN),
    "archive changed": (lambda site: touch(site / "rocm_sdk_devel/_devel.tar"), UNKNOWN),
    "core installed again": (lambda site: touch(site / f"rocm_sdk_core-{DIST_INFO}/RECORD"), UNKNOWN),
    "rocm installed again": (lambda site: touch(site / "rocm_sdk/_distributions.json"), UNKNOWN),
    "target chosen": (lambda site: (site / "rocm_sdk/_selected.json").write_text('{"target": "gfx942"}'), UNKNOWN),
    "device package added": (lambda site: add_metadata(site, f"rocm_sdk_device_gfx1100-{DIST_INFO}"), UNKNOWN),
    "one of another version": (lambda site: add_metadata(site, "rocm.sdk_Device_gfx1100-7.11.dist-info"), UNKNOWN),
    "left-over metadata": (lambda site: (site / f"rocm_sdk_device_gfx1100-{DIST_INFO}").mkdir(), UNKNOWN),
    "device package removed": (lambda site: forget_package(site, "rocm_sdk_device_gfx942"), UNKNOWN),
    "core's metadata removed": (lambda site: shutil.rmtree(site / f"rocm_sdk_core-{DIST_INFO}"), UNKNOWN),
    "devel's metadata removed": (lambda site: shutil.rmtree(site / f"rocm_sdk_devel-{DIST_INFO}"), UNKNOWN),
    "devel removed": (lambda site: forget_package(site, "rocm_sdk_devel"), NONE),
    "devel's empty directory left": (lambda site: (site / "rocm_sdk_devel/__init__.py").unlink(), NONE),
    "rocm removed": (lambda site: shutil.rmtree(site / "rocm_sdk"), "no rocm"),
    "plain": (as_plain, ROOT),
    "plain, without the tool": (plain_but(lambda site: (site / TREE / "lib/llvm/bin/amdclang").unlink()), ROOT),
    "plain, core of another version": (
        plain_but(
            lambda site: (site / f"rocm_sdk_core-{DIST_INFO}").rename(site / "rocm_sdk_core-7.9.dist-info"),
        ),
        UNKNOWN,
    ),
}


@pytest.mark.parametrize("state", STATES)
def test_the_same_tool_runs(unpacked: Path, tmp_path: Path, state: str) -> None:
    change, told = STATES[state]
    outcomes = []
    for how in ("glance", "full"):
        site = copy_site(unpacked, tmp_path / how)
        change(site)
        outcomes.append(run(site, how))
    assert outcomes[0] == outcomes[1]
    assert outcomes[0][0] == told
    if told == UNKNOWN:
        # Unless the tree cannot be made, the next glance can tell.
        can_be_made = "Install" not in outcomes[0][1] and "metadata removed" not in state
        assert run(site, "glance") == (ROOT if can_be_made else UNKNOWN, outcomes[0][1])
    else:
        tree = TREE if told == ROOT and "without the tool" not in state else "_rocm_sdk_core"
        assert outcomes[0][1] == f"{tree}/lib/llvm/bin/amdclang x\n"


@pytest.mark.parametrize(
    ("variable", "value"),
    [("ROCM_SDK_DEVEL_ROOT", "elsewhere"), (TARGET_VARIABLE, "gfx942"), (TARGET_VARIABLE, "gfx1")],
)
def test_variables_are_left_to_the_whole_code(unpacked: Path, tmp_path: Path, variable: str, value: str) -> None:
    variables = {variable: str(tmp_path / value) if variable == "ROCM_SDK_DEVEL_ROOT" else value}
    outcomes = []
    for how in ("glance", "full"):
        outcomes.append(run(copy_site(unpacked, tmp_path), how, **variables))
        shutil.rmtree(tmp_path / "site")
    glance, full = outcomes
    assert glance == full
    assert glance[0] == UNKNOWN
    assert "Traceback" not in glance[1]


def test_another_target_is_known_from_the_second_call_on(unpacked: Path, tmp_path: Path) -> None:
    site = copy_site(unpacked, tmp_path)
    for variables in ({TARGET_VARIABLE: "gfx942"}, {}):
        assert [run(site, "glance", **variables)[0] for _ in range(2)] == [UNKNOWN, ROOT]


def test_where_the_state_cannot_be_written_the_tree_is_used(unpacked: Path, tmp_path: Path) -> None:
    site = copy_site(unpacked, tmp_path)
    touch(site / "rocm_sdk/_distributions.json")
    (site / "rocm_sdk_devel/_devel.journal").unlink()
    (site / "rocm_sdk_devel/_devel.journal").mkdir()
    for _ in range(2):
        assert run(site, "glance") == (UNKNOWN, f"{TREE}/lib/llvm/bin/amdclang x\n")


def test_the_variable_is_that_of_targets() -> None:
    assert TARGET_VARIABLE == ENVIRONMENT_VARIABLE


def test_packages_earlier_on_the_path_count(unpacked: Path, tmp_path: Path, split_sdk: FakeSdk) -> None:
    lay_out(split_sdk.index, tmp_path, "rocm_sdk_core", "rocm_sdk_devel")
    glance, full = (run(unpacked, how, tmp_path) for how in ("glance", "full"))
    assert glance == full
    assert glance == (UNKNOWN, f"{tmp_path}/{TREE}/lib/llvm/bin/amdclang x\n")
