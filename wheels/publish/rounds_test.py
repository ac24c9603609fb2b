"""Six publishers at a time, of up to three builds, into one directory, delayed and killed at random.

PUBLISH_ROUNDS says how many rounds, PUBLISH_SEED with which the first begins; a thousand take a minute or two:

    ./bazelw test //wheels/publish:tests --test_env=PUBLISH_ROUNDS=5000 --test_filter=rounds --test_timeout=3600
"""

import io
import os
import random
import shutil
import signal
import time
from collections.abc import Callable
from pathlib import Path

from develop.testing.publish_sample import CORE, FILES, promises_kept, tree, with_pages, write
from lib.common.program import ToolError
from wheels.publish.directory import CHUNK, DirectoryPlace
from wheels.publish.files import LocalFile, read_files
from wheels.publish.progress import Progress
from wheels.publish.run import Options, publish

ROUNDS = int(os.environ.get("PUBLISH_ROUNDS", "20"))
FIRST = int(os.environ.get("PUBLISH_SEED", "0"))
PUBLISHERS = 6
#: What all builds have; two have a distribution that the other lacks, and the third has both of these.
COMMON = {**FILES, CORE: bytes(CHUNK + 1)}
OWN = {name: {f"{name}-1.0-py3-none-any.whl": name.encode()} for name in ("acme", "other")}
BUILDS = {
    **{name: with_pages(COMMON | own) for name, own in OWN.items()},
    "third": with_pages(COMMON | OWN["acme"] | OWN["other"]),
}
DONE, REFUSED = 0, 3


def disturbed(seed: int) -> Callable[[object], None]:
    """Return what a publisher calls between its steps: it waits now and then, and may be the end of it."""
    dice = random.Random(seed)
    left = dice.randrange(60) if dice.random() < 0.4 else -1

    def step(_: object) -> None:
        nonlocal left
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        left -= 1
        if dice.random() < 0.3:
            time.sleep(dice.random() / 500)

    return step


def publisher(files: list[LocalFile], place: Path, seed: int) -> int:
    """Publish in a child, and return its process id; it exits with DONE or REFUSED."""
    child = os.fork()
    if child:
        return child
    status = 1
    try:
        link, progress, step = os.link, Progress(0, io.StringIO()), disturbed(seed)
        progress.sent = os.fsync = step  # type: ignore[method-assign, assignment]
        os.link = lambda *names: [step(0), link(*names), step(0)]  # type: ignore[assignment]
        publish(files, DirectoryPlace(place), Options(), progress)
        status = DONE
    except ToolError:
        status = REFUSED
    finally:
        os._exit(status)


def fault(builds: dict[str, list[LocalFile]], place: Path, seed: int) -> str:
    """Play a round; return what is wrong after it."""
    dice = random.Random(seed)
    known = dice.choice((["acme"], ["acme", "other"], ["acme", "third"], sorted(builds)))
    names = [dice.choice(known) for _ in range(PUBLISHERS)]
    children = [publisher(builds[name], place, seed * PUBLISHERS + number) for number, name in enumerate(names)]
    statuses = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    if broken := set(statuses) - {DONE, REFUSED, -signal.SIGKILL}:
        return f"publishers broke: {broken}"
    seen = tree(place)
    if wrong := [path for path, bytes_ in seen.items() if bytes_ not in [one.get(path) for one in BUILDS.values()]]:
        return f"wrong, or not whole: {wrong}"
    if not promises_kept(seen):
        return "a page names what is not there"
    done = {name for name, status in zip(names, statuses, strict=True) if status == DONE}
    if {"acme", "other"} <= done:
        return "two builds were published, and the index lists one"
    if "third" in done and seen != BUILDS["third"]:
        return "what has all of the others was published, and is not what is there"
    if lost := sorted(path for name in done for path in BUILDS[name].keys() - seen.keys()):
        return f"published, and not there: {lost}"
    if known == ["acme"] and done and seen != BUILDS["acme"]:
        return "published, and not as it was built"
    DirectoryPlace(place).tidy()
    left = [str(path) for path in place.rglob(".*")]
    return f"left over: {left}" if left else ""


def test_rounds_of_six_publishers(tmp_path: Path) -> None:
    builds = {name: read_files(write(tmp_path / name, files)) for name, files in BUILDS.items()}
    for seed in range(FIRST, FIRST + ROUNDS):
        place = tmp_path / "place"
        place.mkdir()
        assert not (found := fault(builds, place, seed)), f"PUBLISH_SEED={seed} PUBLISH_ROUNDS=1: {found}"
        shutil.rmtree(place)
