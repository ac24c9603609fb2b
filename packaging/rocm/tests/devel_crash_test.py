"""The development tree when processes die while they make it, or make it all at once.

`ROCM_SDK_TEST_KILLS` says at how many random moments the last test does so; 1,000 take a minute or two:

    ./bazelw test //packaging/rocm/tests:runtime_tests --test_env=ROCM_SDK_TEST_KILLS=1000 --test_filter=random_moments
"""

from __future__ import annotations

import itertools
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from fake_sdk import PACKAGES, Devel, FakeSdk, copy_index, distributions, small_devel, write_devel
from rocm_sdk.devel import devel_root
from rocm_sdk.installation import read_record
from trees import TREE, own_files, recorded, tree_of

WRITES = frozenset(
    ("open", "os.chmod", "os.mkdir", "os.rename", "os.link", "os.symlink", "os.remove", "os.rmdir", "shutil.rmtree")
)
KILLS = int(os.environ.get("ROCM_SDK_TEST_KILLS", "20"))
STATE = "rocm_sdk_devel/.devel_links/devel.state"
RECORD = "rocm_sdk_devel-7.10.0.dev0.dist-info/RECORD"
DEVICE = "_rocm_sdk_libraries/.devel_links/rocm-sdk-device-gfx942.json"
OWN = f"{TREE}/include/own.h"


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


def die_at(step: int, below: Path) -> bool:
    """Call devel_root in a child that is killed before its `step`-th change below `below`; True if it came to that."""
    steps = itertools.count(1)

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        is_change = event in WRITES and any(str(argument).startswith(str(below)) for argument in arguments[:2])
        if is_change and next(steps) == step:
            os._exit(9)

    def run() -> None:
        sys.addaudithook(hook)
        devel_root(verify=True)

    return was_killed(start(run))


def go(site: Path) -> None:
    """Uninstall the device package, as far as its links are concerned."""
    if (site / DEVICE).exists():
        (site / DEVICE).rename(site / "away")


def come(site: Path) -> None:
    """Install the device package again."""
    (site / OWN).unlink(missing_ok=True)
    if (site / "away").exists():
        (site / "away").rename(site / DEVICE)


def prepare_first(site: Path) -> None:
    """Have no links, as after installation."""
    come(site)
    rows = read_record(site / RECORD)
    for path in [row.path for row in rows if not row.digest and row.path != RECORD]:
        (site / path).unlink(missing_ok=True)
    for folder, _, _ in os.walk(site / TREE, topdown=False):
        if not any(Path(folder).iterdir()):
            Path(folder).rmdir()
    kept = [row for row in rows if row.digest or row.path == RECORD]
    text = "".join(f'"{row.path.replace(chr(34), chr(34) * 2)}",{row.digest},{row.size}\r\n' for row in kept)
    (site / RECORD).write_text(text, newline="")


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


def prepare_copies(site: Path) -> None:
    """Have a tree with a link that became a copy, and a user's file."""
    come(site)
    devel_root()
    (site / OWN).write_text("// mine\n")
    link = site / TREE / "lib/libamdhip64.so.5"
    link.unlink(missing_ok=True)
    shutil.copy(site / "_rocm_sdk_core/lib/libamdhip64.so.5", link)


PREPARATIONS = [prepare_first, prepare_relink, prepare_unlink, prepare_copies]


@pytest.fixture(params=["", "_devel.tar"], ids=["files", "tar"])
def any_site(request: pytest.FixtureRequest, install: Callable[..., Path], split_sdk: FakeSdk, tmp_path: Path) -> Path:
    """Return an installation whose devel package has files, or an archive of them."""
    sdk = copy_index(split_sdk, tmp_path / "archived")
    write_devel(sdk.index, sdk.version, small_devel("split", request.param))
    return install(sdk)


def unlisted(site: Path) -> set[str]:
    """Return what no installer would remove: files that no RECORD lists, not the user's."""
    listed = {row.path for record in sorted(site.glob("*/RECORD")) for row in read_record(record)}
    files = {path for path in site.rglob("*") if path.is_symlink() or not path.is_dir()}
    paths = {path.relative_to(site).as_posix() for path in files if "__pycache__" not in path.parts}
    return paths - listed - {OWN, "away"}


@pytest.mark.parametrize("prepare", PREPARATIONS)
def test_death_at_any_step_is_repaired_by_the_next_call(any_site: Path, prepare: Callable[[Path], None]) -> None:
    site = any_site
    prepare(site)
    devel_root(verify=True)
    whole, rows = tree_of(site), recorded(site)
    for step in range(1, 1000):
        prepare(site)
        if not die_at(step, site):
            assert step > 10
            break
        assert unlisted(site) == set(), step
        devel_root()
        assert tree_of(site) == whole, step
        assert recorded(site) == rows, step
        assert unlisted(site) == set(), step


def repaired_from_every_step(site: Path, before: Callable[[Path], object], after: Callable[[Path], object]) -> None:
    """Kill a call at each of its steps, with a change before and one after: the next call restores the tree."""
    whole, rows = tree_of(site), recorded(site)
    for step in range(1, 1000):
        before(site)
        died = die_at(step, site)
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


def test_what_a_user_has_is_never_in_record(site: Path) -> None:
    """The next version's installer removes what RECORD lists."""
    for step in range(1, 1000):
        prepare_first(site)
        mine = [site / TREE / "bin/hipcc", site / TREE / "lib/rocblas"]
        for path in mine:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("mine")
        died = die_at(step, site)
        listed = {site / row.path for row in read_record(site / RECORD)}
        for path in mine:
            (there,) = [one for one in path.parent.glob(f"{path.name}*") if one.is_file() and one.read_text() == "mine"]
            assert not {there, *there.parents} & listed, step
        for path in site.rglob("*.kept*"):
            path.unlink()
        for path in mine:
            if path.is_file() and path.read_text() == "mine":
                path.unlink()
        if not died:
            assert step > 10
            break


def test_sixteen_processes_at_once_make_one_tree(site: Path, tmp_path: Path) -> None:
    shutil.copytree(PACKAGES / "rocm/src/rocm_sdk", site / "rocm_sdk", ignore=shutil.ignore_patterns("__pycache__"))
    (site / "rocm_sdk/_distributions.json").write_text(json.dumps(distributions("split")))
    log = tmp_path / "log"
    log.touch()
    # Python imports this module before the program: it notes each time that a link is made.
    (tmp_path / "sitecustomize.py").write_text(
        "import sys\n"
        "def hook(event, arguments):\n"
        f"    if event == 'os.link' and str(arguments[1]) == {str(site / TREE / 'bin/hipcc')!r}:\n"
        f"        open({str(log)!r}, 'a').write('made\\n')\n"
        "sys.addaudithook(hook)\n"
    )
    environment = {**os.environ, "PYTHONPATH": f"{site}{os.pathsep}{tmp_path}", "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "rocm_sdk", "path", "--root"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    processes = [subprocess.Popen(command, env=environment, **pipes) for _ in range(16)]  # type: ignore[call-overload]
    results = {(process.communicate()[0], process.returncode) for process in processes}
    assert results == {(f"{site / TREE}\n", 0)}
    assert log.read_text() == "made\n"
    assert own_files(site) <= recorded(site)


def large_devel() -> Devel:
    """Return a devel package with so many links that a kill finds them in every part of the work."""
    small = small_devel("split")
    files = {f"include/part{number // 20}/header{number}.h": b"// h\n" for number in range(300)}
    links = {f"share/link{number}": f"../include/part{number // 20}/header{number}.h" for number in range(300)}
    hard = {
        f"libexec/part{number // 20}/lib{number}.so": "../../../_rocm_sdk_core/lib/libamdhip64.so.5"
        for number in range(300)
    }
    return Devel({**small.files, **files}, {**small.links, **links, **hard})


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
        expected[prepare] = (tree_of(site), recorded(site))
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
        devel_root(verify=True)
        assert tree_of(site) == expected[prepare][0], where
        assert recorded(site) == expected[prepare][1], where
        assert unlisted(site) == set(), where
    assert killed > KILLS // 10
