"""The development tree when processes die while they make it, or make it all at once.

`ROCM_SDK_TEST_KILLS` says at how many random moments the last test does so; 200 take a minute or two:

    ./bazelw test //packaging/rocm/tests:runtime_tests --test_env=ROCM_SDK_TEST_KILLS=200 --test_filter=random_moments
"""

from __future__ import annotations

import io
import itertools
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tarfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from fake_sdk import PACKAGES, DevelArchive, FakeSdk, copy_index, distributions, small_devel, write_devel
from rocm_sdk.devel import devel_root
from rocm_sdk.devel.layout import ROOT_VARIABLE
from rocm_sdk.record import read_record
from trees import TREE, own_files, recorded, tree_of

WRITES = frozenset(("open", "os.mkdir", "os.rename", "os.link", "os.symlink", "os.remove", "os.rmdir", "shutil.rmtree"))
KILLS = int(os.environ.get("ROCM_SDK_TEST_KILLS", "20"))
OWN = f"{TREE}/include/own.h"
#: What `prepare_damage` changes: for all that anybody knows, a user did.
CHANGED = (f"{TREE}/include/hip.h", f"{TREE}/lib/libamdhip64.so.5")
INFO = "rocm_sdk_device_gfx942-7.10.0.dev0.dist-info"


def start(run: Callable[[], object]) -> int:
    """Run a function in a child, which ends with 0 whatever comes of it, or 9 if interrupted; return its number."""
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            run()
        except KeyboardInterrupt:
            os._exit(9)
        finally:
            os._exit(0)
    return child


def was_killed(child: int) -> bool:
    """Wait for a child and return whether it was killed or interrupted."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) in (9, -signal.SIGKILL)


def die_at(step: int, below: Path, *, verify: bool = False) -> bool:
    """Call devel_root in a child that is killed before its `step`-th change below `below`; True if it came to that."""
    steps = itertools.count(1)  # Counts right when threads do.

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        is_change = event in WRITES and any(str(argument).startswith(str(below)) for argument in arguments[:2])
        if is_change and next(steps) == step:
            os._exit(9)

    def run() -> None:
        sys.addaudithook(hook)
        devel_root(verify=verify)

    return was_killed(start(run))


def go(site: Path) -> None:
    """Uninstall the device package, as far as its metadata are concerned."""
    if (site / INFO).exists():
        (site / INFO).rename(site / "away")


def come(site: Path) -> None:
    """Install the device package again: with the same times, so that nothing tells that it had been away."""
    (site / OWN).unlink(missing_ok=True)
    if (site / "away").exists():
        (site / "away").rename(site / INFO)


def prepare_first(site: Path) -> None:
    """Have no tree, as after installation."""
    come(site)
    shutil.rmtree(site / TREE, ignore_errors=True)


def prepare_relink(site: Path) -> None:
    """Have a tree without the device package, which then comes."""
    go(site)
    devel_root()
    come(site)


def prepare_unlink(site: Path) -> None:
    """Have a tree with a package linked in, which then goes."""
    come(site)
    devel_root()
    go(site)


def prepare_damage(site: Path) -> None:
    """Have a tree that is taken for whole, with a file that was cut, a link that became a copy, and a user's file."""
    come(site)
    devel_root()
    (site / OWN).write_text("// mine\n")
    cut = site / TREE / "include/hip.h"
    cut.chmod(0o644)
    cut.write_bytes(b"//")
    replace_by_copy(site)


def replace_by_copy(site: Path) -> None:
    """Make a hard link a file of its own, as copying an environment does."""
    link = site / TREE / "lib/libamdhip64.so.5"
    link.unlink(missing_ok=True)
    shutil.copy(site / "_rocm_sdk_core/lib/libamdhip64.so.5", link)


PREPARATIONS = [prepare_first, prepare_relink, prepare_unlink, prepare_damage]


def unlisted(site: Path) -> set[str]:
    """Return what no installer would remove: files that no RECORD lists, nor a directory that they lie in.

    Not the user's, nor what may be.
    """
    listed = {row.path for record in sorted(site.glob("*/RECORD")) for row in read_record(record)}
    if TREE in listed:
        listed |= own_files(site)
    files = {path for path in site.rglob("*") if path.is_symlink() or not path.is_dir()}
    paths = {path.relative_to(site).as_posix() for path in files if "__pycache__" not in path.parts}
    return {path for path in paths - listed - {OWN, *CHANGED} if not path.startswith(("away/", f"{TREE}.kept/"))}


@pytest.mark.parametrize("prepare", PREPARATIONS)
def test_death_at_any_step_is_repaired_by_the_next_call(site: Path, prepare: Callable[[Path], None]) -> None:
    verify = prepare is prepare_damage
    prepare(site)
    devel_root(verify=verify)
    whole, rows = tree_of(site), recorded(site)
    for step in range(1, 1000):
        prepare(site)
        if not die_at(step, site, verify=verify):
            assert step > 10
            break
        assert unlisted(site) == set(), step
        devel_root(verify=verify)
        assert tree_of(site) == whole, step
        assert recorded(site) == rows, step
        assert unlisted(site) == set(), step


def repaired_from_every_step(
    site: Path, before: Callable[[Path], object], after: Callable[[Path], object], *, verify: bool = False
) -> None:
    """Kill a call at each of its steps, with a change before and one after: the next call restores the tree."""
    whole, rows = tree_of(site), recorded(site)
    for step in range(1, 1000):
        before(site)
        died = die_at(step, site, verify=verify)
        after(site)
        devel_root()
        assert tree_of(site) == whole, step
        assert recorded(site) == rows, step
        if not died:
            assert step > 10
            break


def test_a_package_that_goes_after_a_death_takes_its_links_along(site: Path) -> None:
    prepare_unlink(site)
    devel_root()
    repaired_from_every_step(site, before=come, after=go)


def test_a_package_that_comes_back_after_a_death_gets_its_links_back(site: Path) -> None:
    devel_root()
    repaired_from_every_step(site, before=prepare_unlink, after=come)


def test_a_death_while_links_are_made_again_is_noticed_without_a_look_at_all_files(site: Path) -> None:
    devel_root()
    repaired_from_every_step(site, before=replace_by_copy, after=lambda _: None, verify=True)


def test_death_at_any_step_elsewhere(site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ROOT_VARIABLE, str(tmp_path / "whole"))
    home = devel_root().parent
    whole = tree_of(home)
    for step in range(1, 1000):
        monkeypatch.setenv(ROOT_VARIABLE, str(tmp_path / str(step)))
        died = die_at(step, tmp_path / str(step))
        assert tree_of(devel_root().parent) == whole, step
        if not died:
            assert step > 10
            break


def test_interrupted_by_the_keyboard_nothing_is_left(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = sorted(site.rglob("*"))
    link = os.link

    def interrupt(*arguments: str) -> None:
        link(*arguments)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(os, "link", interrupt)
        with pytest.raises(KeyboardInterrupt):
            devel_root()
    assert sorted(site.rglob("*")) == before
    assert recorded(site) == set()
    devel_root()


def test_sixteen_processes_at_once_make_one_tree(site: Path, tmp_path: Path) -> None:
    shutil.copytree(PACKAGES / "rocm/src/rocm_sdk", site / "rocm_sdk", ignore=shutil.ignore_patterns("__pycache__"))
    (site / "rocm_sdk/_distributions.json").write_text(json.dumps(distributions("split")))
    log = tmp_path / "log"
    log.touch()
    # Python imports this module before the program: it notes each time that the tree's directory is made.
    (tmp_path / "sitecustomize.py").write_text(
        "import sys\n"
        "def hook(event, arguments):\n"
        f"    if event == 'os.mkdir' and str(arguments[0]) == {str(site / TREE)!r}:\n"
        f"        open({str(log)!r}, 'a').write('made\\n')\n"
        "sys.addaudithook(hook)\n"
    )
    environment = {**os.environ, "PYTHONPATH": f"{site}{os.pathsep}{tmp_path}", "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "rocm_sdk", "path", "--root"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    processes = [subprocess.Popen(command, env=environment, **pipes) for _ in range(16)]  # type: ignore[call-overload]
    results = [(*process.communicate(), process.returncode) for process in processes]
    assert {(printed, status) for printed, _, status in results} == {(f"{site / TREE}\n", 0)}
    # Where that takes long, those who wait say so.
    waiting = f"rocm-sdk: waiting for another process that works on {site / TREE} "
    assert [error for _, error, _ in results if error and not error.startswith(waiting)] == []
    assert log.read_text() == "made\n"
    assert own_files(site) <= recorded(site)


def contents_of(site: Path) -> dict[str, tuple[object, ...]]:
    """Return all of the development tree; bytes of all files, except the files that say how it was made."""
    found: dict[str, tuple[object, ...]] = {}
    for path in sorted((site / TREE).rglob("*")):
        key = path.relative_to(site).as_posix()
        if path.is_symlink():
            found[key] = ("link", str(path.readlink()))
        elif path.is_dir():
            found[key] = ("directory", path.stat().st_mode)
        else:
            data = b"" if path.name.startswith(".rocm-sdk-") else path.read_bytes()
            found[key] = ("file", path.stat().st_mode, data, path.stat().st_nlink)
    return found


def large_devel() -> bytes:
    """Return an archive that takes long enough to unpack that a kill finds it in every part of the work."""
    generator = random.Random(7)
    archive = DevelArchive()
    with tarfile.open(fileobj=io.BytesIO(small_devel("split"))) as small:
        for member in small:
            archive.tar.addfile(member, small.extractfile(member) if member.isreg() else None)
    for number in range(300):
        size = 2_000_000 if number % 100 == 50 else generator.randrange(20_000)
        archive.file(f"{TREE}/include/part{number // 20}/header{number}.h", generator.randbytes(size))
        archive.link(f"{TREE}/share/link{number}", f"../include/part{number // 20}/header{number}.h")
    return archive.data()


def test_kill_at_random_moments(install: Callable[..., Path], split_sdk: FakeSdk, tmp_path: Path) -> None:
    sdk = copy_index(split_sdk, tmp_path / "large")
    write_devel(sdk.index, sdk.version, large_devel())
    site = install(sdk)
    generator = random.Random(2026)
    expected, duration, killed = {}, {}, 0
    for prepare in PREPARATIONS:
        prepare(site)
        begin = time.monotonic()
        was_killed(start(lambda: devel_root(verify=True)))
        duration[prepare] = time.monotonic() - begin
        expected[prepare] = (contents_of(site), recorded(site))
    for number in range(KILLS):
        prepare = PREPARATIONS[number % 2 and generator.randrange(len(PREPARATIONS))]
        moment = generator.uniform(0, duration[prepare])
        prepare(site)
        child = start(lambda: devel_root(verify=True))
        time.sleep(moment)
        os.kill(child, signal.SIGINT if number % 5 == 4 else signal.SIGKILL)
        if was_killed(child):
            killed += 1
        else:
            duration[prepare] = moment
        where = f"number {number}, {prepare.__name__}, {moment:.4f} s of {duration[prepare]:.4f} s"
        assert unlisted(site) == set(), where
        # A damaged tree that was not touched yet is only found out by a look at all files.
        devel_root(verify=prepare is prepare_damage)
        assert contents_of(site) == expected[prepare][0], where
        assert recorded(site) == expected[prepare][1], where
        assert unlisted(site) == set(), where
    assert killed > KILLS // 10
