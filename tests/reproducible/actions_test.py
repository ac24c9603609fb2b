"""The same bytes, whatever the conditions: each action of the mini SDK's packages, run again where all is different.

Bazel ran each action once, and its outputs are here. `rerun.py` says what is different now. The outputs must be those.
"""

import json
import os
import tarfile
import time
import zipfile
from pathlib import Path

import pytest

from tests.hermetic.declarations import PACKAGING
from tests.reproducible.recorded import Place, Recorded, contents, identity
from tests.reproducible.rerun import ACTIONS, DIFFERENT_USER, LATER, UMASK, interpreter, run, stage

PROBE = """
import json, os, time
cores = len(os.sched_getaffinity(0))
print(json.dumps({"cores": cores, "day": time.time(), "umask": os.umask(0), "user": os.getuid()}))
"""
#: Where outputs of the configuration are that tools are built in.
EXEC = "bazel-out/k8-opt-exec-ST-d57f47055a04/bin"
#: 2023-11-14T22:13:20Z.
EPOCH = 1700000000
EPOCH_DATE = (2023, 11, 14, 22, 13, 20)
DISTRIBUTIONS = [action for action in ACTIONS if action.mnemonic in ("RocmLink", "RocmSdist", "RocmStaticWheel")]
#: What the build was told, if so, as .bazelrc passes it on to actions.
AS_BUILT = {name: value for name, value in os.environ.items() if name == "SOURCE_DATE_EPOCH"}


def test_the_record_has_every_kind_of_action() -> None:
    assert {action.mnemonic for action in ACTIONS} == PACKAGING
    assert len(ACTIONS) > 50


def test_the_conditions_are_in_force(tmp_path: Path) -> None:
    """Otherwise the other tests would prove nothing."""
    result = run([interpreter(), "-I", "-S", "-c", PROBE], tmp_path)
    assert result.returncode == 0, result.stderr
    seen = json.loads(result.stdout)
    assert (seen["cores"], seen["umask"]) == (1, UMASK)
    assert seen["day"] > time.time() + LATER - 1000
    if not DIFFERENT_USER:
        pytest.skip("another user: this machine does not let us make user namespaces; all else was different")
    assert seen["user"] != os.getuid()


@pytest.mark.parametrize(
    ("interpreter_path", "library"),
    [
        ("external/python/bin/python3", ["external/python/bin/python3", "external/python/lib/os.py"]),
        ("/usr/bin/python3", []),
        (
            f"{EXEC}/external/bazel_tools/tools/python/py3wrapper.sh",
            [f"{EXEC}/external/bazel_tools/tools/python/py3wrapper.sh"],
        ),
    ],
)
def test_all_inputs_are_staged_but_for_the_interpreter(interpreter_path: str, library: list[str]) -> None:
    """Bazel's own toolchain has a script for an interpreter that is an output, as tools and documents are."""
    others = [
        f"{EXEC}/tools/actions/plan_tool.pyz",
        "bazel-out/k8-fastbuild/bin/a.json",
        "external/python_packages/a.py",
    ]
    places = [Place(path, Path(path)) for path in [*library, *others]]
    action = Recorded("RocmPlan", [interpreter_path, "-I"], {}, places, [])
    assert [place.execroot for place in action.files] == others


def run_again(action: Recorded, execroot: Path, **variables: str) -> None:
    """Run an action in a new execution root."""
    stage(action, execroot)
    result = run([interpreter(), *action.argv[1:]], execroot, **AS_BUILT | variables)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize("action", ACTIONS, ids=identity)
def test_an_action_gives_the_same_bytes_again(action: Recorded, tmp_path: Path) -> None:
    execroot = tmp_path / "a rather long way, with spaces and ï, to the execution root"
    run_again(action, execroot)
    for place in action.outputs:
        again, first = contents(execroot / place.execroot), contents(place.runfiles)
        assert sorted(again) == sorted(first)
        assert [name for name in first if first[name] != again[name]] == [], place.execroot


@pytest.mark.parametrize("action", DISTRIBUTIONS, ids=identity)
def test_source_date_epoch_is_the_one_thing_that_matters(action: Recorded, tmp_path: Path) -> None:
    """All members have its date, and their contents are as before."""
    run_again(action, tmp_path, SOURCE_DATE_EPOCH=str(EPOCH))
    again, first = tmp_path / action.outputs[0].execroot, action.outputs[0].runfiles
    if action.mnemonic == "RocmSdist":
        with tarfile.open(again) as archive:
            assert {member.mtime for member in archive.getmembers()} == {EPOCH}
        return
    with zipfile.ZipFile(again) as new, zipfile.ZipFile(first) as old:
        assert {member.date_time for member in new.infolist()} == {EPOCH_DATE}
        assert new.namelist() == old.namelist()
        assert [one.CRC for one in new.infolist()] == [one.CRC for one in old.infolist()]
