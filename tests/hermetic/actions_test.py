"""Each action sees nothing but what it declares: run again in a jail, where all is different, it makes the same bytes.

`jail.py` says what is visible there; faults are planted to see that they are noticed.
HERMETIC_REQUIRED in the environment makes it an error if this machine does not let us have a jail; HERMETIC_ALL takes
away every input of every action. Otherwise these are the inputs of one action of each kind, and of files that end alike
the first and the last.
"""

import json
import os
import tarfile
import time
import zipfile
from pathlib import Path

import pytest

from tests.hermetic.again import faults
from tests.hermetic.declarations import MNEMONICS
from tests.hermetic.jail import ENVIRONMENT, LATER, UMASK, Jail, jail_for
from tests.reproducible.recorded import Place, Recorded, contents, identity, read_record

ACTIONS = read_record(Path(os.environ["ACTIONS"]))
#: What an action does that it may not do, and what is said of it.
PLANTED = {
    "pass": "",
    "open('{folder}/undeclared.txt')": "No such file or directory: '{folder}/undeclared.txt'",
    "open('output.txt.stray', 'w')": "wrote output.txt.stray, which it does not declare",
    "open('declared.txt', 'w')": "Permission denied: 'declared.txt'",
}
#: Where outputs of the configuration are that tools are built in.
EXEC = "bazel-out/k8-opt-exec-ST-d57f47055a04/bin"
#: 2023-11-14T22:13:20Z.
EPOCH = 1700000000
EPOCH_DATE = (2023, 11, 14, 22, 13, 20)
DISTRIBUTIONS = [action for action in ACTIONS if action.mnemonic in ("RocmLink", "RocmSdist", "RocmStaticWheel")]
PROBE = """
import fcntl, json, os, socket, struct, time

def names(path):
    return sorted(os.listdir(path))

def is_up(interface):
    SIOCGIFFLAGS, IFF_UP = 0x8913, 1
    with socket.socket() as one:
        answer = fcntl.ioctl(one, SIOCGIFFLAGS, struct.pack("16sh14x", interface.encode(), 0))
    return bool(struct.unpack("16xh14x", answer)[0] & IFF_UP)

status = dict(line.split(":\\t", 1) for line in open("/proc/self/status") if ":\\t" in line)
print(json.dumps({
    "cores": len(os.sched_getaffinity(0)),
    "day": time.time(),
    "umask": os.umask(0),
    "capabilities": [status[name].strip() for name in ("CapEff", "CapPrm", "CapBnd")],
    "environment": dict(os.environ),
    "execroot": names("."),
    "home": names(os.environ["HOME"]),
    "host": os.uname().nodename,
    "interfaces": {name: is_up(name) for _, name in socket.if_nameindex()},
    "processes": [name for name in names("/proc") if name.isdigit()],
    "root": names("/"),
    "tmp": names("/tmp"),
    "writable": [path for path in ("/", "/home", "/dev", "/usr/lib", "/execroot", "/tmp") if os.access(path, os.W_OK)],
}))
"""


@pytest.fixture(scope="session")
def jail() -> Jail:
    one = jail_for(ACTIONS[0].interpreter, Path(os.environ["CLOCK"]))
    if reason := one.refusal():
        assert "HERMETIC_REQUIRED" not in os.environ, reason
        pytest.skip(f"this machine does not let us have a jail: {reason}")
    return one


def test_the_record_has_every_kind_of_action() -> None:
    assert {action.mnemonic for action in ACTIONS} == MNEMONICS
    assert len(ACTIONS) > 100


def test_the_jail_is_bare(jail: Jail, tmp_path: Path) -> None:
    """Otherwise the other tests would prove nothing."""
    result = jail.run([jail.interpreter, "-I", "-S", "-c", PROBE], tmp_path, {"GIVEN": "1"})
    assert result.returncode == 0, result.stderr
    seen = json.loads(result.stdout)
    assert seen.pop("day") > time.time() + LATER - 1000
    system = {path.split("/")[1] for path in jail.visible}
    assert {name: value for name, value in seen.items() if name != "environment"} == {
        "capabilities": ["0000000000000000"] * 3,
        "cores": 1,
        "execroot": [],
        "home": [],
        "host": "jail",
        "interfaces": {"lo": False},
        "processes": ["1"],
        "root": sorted({"clock.so", "dev", "execroot", "home", "proc", "tmp"} | system),
        "tmp": [],
        "umask": UMASK,
        "writable": ["/execroot", "/tmp"],
    }
    seen["environment"].pop("LC_CTYPE", None)  # the interpreter's own doing (PEP 538)
    assert seen["environment"] == {"GIVEN": "1", **ENVIRONMENT}


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
        f"{EXEC}/tools/actions/plan/plan_tool.pyz",
        "bazel-out/k8-fastbuild/bin/a.json",
        "external/python_packages/a.py",
    ]
    places = [Place(path, Path(path)) for path in [*library, *others]]
    action = Recorded("RocmPlan", [interpreter_path, "-I"], {}, places, [])
    assert [place.execroot for place in action.files] == others


@pytest.mark.parametrize("action", ACTIONS, ids=identity)
def test_an_action_needs_nothing_but_what_it_declares(action: Recorded, jail: Jail, tmp_path: Path) -> None:
    assert faults(action, jail, tmp_path).found == []


@pytest.mark.parametrize("action", DISTRIBUTIONS, ids=identity)
def test_source_date_epoch_is_the_one_thing_that_matters(action: Recorded, jail: Jail, tmp_path: Path) -> None:
    """All members have its date, and their contents are as before."""
    assert faults(action, jail, tmp_path, compare=False, SOURCE_DATE_EPOCH=str(EPOCH)).found == []
    again, first = tmp_path / "execroot" / action.outputs[0].execroot, action.outputs[0].runfiles
    if action.mnemonic == "RocmSdist":
        with tarfile.open(again) as archive:
            assert {member.mtime for member in archive.getmembers()} == {EPOCH}
        return
    with zipfile.ZipFile(again) as new, zipfile.ZipFile(first) as old:
        assert {member.date_time for member in new.infolist()} == {EPOCH_DATE}
        assert new.namelist() == old.namelist()
        assert [one.CRC for one in new.infolist()] == [one.CRC for one in old.infolist()]


@pytest.mark.parametrize(("fault", "expected"), PLANTED.items())
def test_a_planted_fault_is_noticed(fault: str, expected: str, jail: Jail, tmp_path: Path) -> None:
    for name in ("declared.txt", "undeclared.txt"):
        (tmp_path / name).write_text(name)
    program = f"open('output.txt', 'w').write(open('declared.txt').read())\n{fault.format(folder=tmp_path)}"
    inputs, outputs = ([Place(name, tmp_path / name)] for name in ("declared.txt", "output.txt"))
    action = Recorded("RocmPlanted", [jail.interpreter, "-I", "-S", "-c", program], {}, inputs, outputs)
    said = str(faults(action, jail, tmp_path / "scratch", compare=False))
    assert said.endswith(expected.format(folder=tmp_path))
    assert bool(said) == bool(expected)


def size(action: Recorded) -> int:
    """Return how many bytes an action made; of tools the smallest counts most, as it is like the others."""
    made = sum(len(content) for place in action.outputs for content in contents(place.runfiles).values())
    return -made if action.mnemonic == "PyTool" else made


def inputs_to_take_away() -> list[tuple[Recorded, Place]]:
    """List inputs of one action of each kind (the action that made most), or of all actions."""
    if "HERMETIC_ALL" in os.environ:
        return [(action, place) for action in ACTIONS for place in by_path(action)]
    most = {action.mnemonic: action for action in sorted(ACTIONS, key=size)}
    return [(most[mnemonic], place) for mnemonic in sorted(most) for place in first_and_last(by_path(most[mnemonic]))]


def by_path(action: Recorded) -> list[Place]:
    """Return the inputs of an action, sorted."""
    return sorted(action.files, key=lambda place: place.execroot)


def first_and_last(places: list[Place]) -> list[Place]:
    """Return the first and the last of those whose names end alike."""
    ends: dict[str, list[Place]] = {}
    for place in places:
        ends.setdefault(Path(place.execroot).suffix, []).append(place)
    return [place for alike in ends.values() for place in dict.fromkeys((alike[0], alike[-1]))]


def why_not_read(action: Recorded, place: Place) -> str:
    """Say why an action may have an input that it does not read; empty if there is no reason."""
    if action.mnemonic == "RocmLink" and not place.runfiles.stat().st_size:
        return "a segment without entries"
    if action.mnemonic == "PyTool" and place.runfiles.suffix not in (".json", ".py", ".so"):
        return "of what a library brings, the builder takes what a program can load"
    if action.mnemonic == "RocmPack" and place.execroot not in named_by_edits(action):
        return "nothing of it becomes an entry: pack opens what its edit file names"
    return ""


def named_by_edits(action: Recorded) -> set[str]:
    """Return the inputs that a pack action needs for the entries of its edit file."""
    documents = {place.execroot: place.runfiles for place in action.files if place.execroot.endswith(".json")}
    (edits,) = [path for path in documents if ".edits/" in path]
    entries = json.loads(documents[edits].read_text(encoding="utf-8"))["entries"]
    always = {edits, *(argument for argument in action.argv if argument.endswith(".pyz"))}
    if not entries:
        return always
    named = {Path(entry["source"]).name for entry in entries if "source" in entry}
    (manifest,) = [path for path in documents if path.endswith(".manifest.json")]
    return always | {manifest} | {one.execroot for one in action.files if Path(one.execroot).name in named}


TAKEN = inputs_to_take_away()


def name(parameter: Recorded | Place) -> str:
    return identity(parameter) if isinstance(parameter, Recorded) else parameter.execroot


@pytest.mark.parametrize(("action", "place"), TAKEN, ids=name)
def test_an_action_fails_without_an_input(action: Recorded, place: Place, jail: Jail, tmp_path: Path) -> None:
    """It never makes something else instead, and what it prints names the input."""
    result = faults(action, jail, tmp_path, without=place)
    if not result.found:
        assert why_not_read(action, place), "the same is made without it, so why is it an input?"
    else:
        assert result.stopped, f"without it other things are made: {result}"
        assert place.execroot in str(result)
