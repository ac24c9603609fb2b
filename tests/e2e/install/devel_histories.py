"""Development trees that live through random histories of installers, places and file systems.

    python3 -B -m tests.e2e.install.devel_histories --dist DIR --newer DIR --installers DIR [--histories 200] [--seed 1]

Run it from the top of the workspace, as root or where users may have namespaces: it mounts file systems. DIR has the
example SDK's packages, of the split layout, in two versions. Each history takes the next of all combinations of an
installer (pip 23, the newest pip, uv with each way to link), a place and a file system. It installs, does things by
chance, uses the tree, and uninstalls. After each use every link leads to its file, RECORD lists just what is there,
`rocm-sdk test` finds no fault, a user's files are as they were, and so is each byte of uv's cache.
"""

import argparse
import csv
import hashlib
import itertools
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path

from tests.e2e.install.environment import Installer
from tests.e2e.install.installers import fetch, installers, selector, targets
from tests.e2e.testing.commands import attempt, run

EXTRAS = ("libraries", "devel", "profiler")
TREE = "_rocm_sdk_devel"
MANIFESTS = ("rocm_sdk_devel/.devel_links/devel.json", "_rocm_sdk_libraries/.devel_links/*.json")
MODES = ("hardlink", "copy", "symlink", "clone")
#: Set in the process that has mounts of its own.
INSIDE = "DEVEL_HISTORIES_INSIDE"
#: Overlays that can lie on each other: FILESYSTEM_MAX_STACK_DEPTH of Linux.
LAYERS = 2


@dataclass(frozen=True)
class Place:
    """Somewhere to install to: the interpreter that uses it, and what it needs to know."""

    title: str
    python: Path
    #: Where the files are to be.
    directory: Path
    #: Options of `pip install`.
    options: tuple[str, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)


def site_packages(directory: Path) -> Path:
    """Return the site-packages directory below a prefix; it need not be there yet."""
    return directory / f"lib/python{sys.version_info.major}.{sys.version_info.minor}/site-packages"


def own_interpreter(title: str, directory: Path) -> Place:
    """Return a copy of this interpreter with all of its own, which is installed into: as conda's prefixes are."""
    ignored = shutil.ignore_patterns("__pycache__", "test", "site-packages", "*.a")
    shutil.copytree(sys.base_prefix, directory, symlinks=True, ignore=ignored)
    site_packages(directory).mkdir()
    (directory / "conda-meta").mkdir()
    return Place(title, directory / "bin" / f"python3.{sys.version_info.minor}", directory)


def place(kind: str, top: Path) -> Place:
    """Make a place to install to below `top`."""
    python = Path(os.path.realpath(sys.executable))
    if kind == "venv":
        run(python, "-m", "venv", "--without-pip", top / "venv")
        return Place(kind, top / "venv/bin/python", top / "venv")
    if kind == "conda":
        return own_interpreter(kind, top / kind)
    if kind == "user":
        return Place(kind, python, top / kind, ("--user",), {"PYTHONUSERBASE": str(top / kind)})
    directory = top / kind
    site = directory if kind == "target" else site_packages(directory)
    return Place(kind, python, directory, (f"--{kind}", str(directory)), {"PYTHONPATH": str(site)})


@dataclass
class Life:
    """One installation, and what has been done to it."""

    scratch: Path
    dists: tuple[Path, Path]
    installer: Installer
    mode: str
    where: Place
    chance: random.Random
    version: int = 0
    devices: set[str] = field(default_factory=set)
    users: dict[Path, str] = field(default_factory=dict)
    layers: int = 0
    done: list[str] = field(default_factory=list)

    @property
    def top(self) -> Path:
        """What is mounted."""
        return self.scratch / "top"

    @property
    def cache(self) -> Path:
        """The cache of uv, which all histories share."""
        return self.scratch.parent / "uv-cache"

    @property
    def site(self) -> Path:
        """Where Python's packages are."""
        return next(iter(sorted(self.where.directory.rglob("rocm_sdk_devel")))).parent

    @property
    def loses_files(self) -> bool:
        """Whether the installer replaces whole directories: so does `pip install --target --upgrade`."""
        return self.where.title == "target" and not self.installer.is_uv

    # What installers do

    def pip(self, verb: str, *arguments: str) -> None:
        """Run pip or uv; `--user`, `--target` and `--prefix` are said as each wants it."""
        if self.installer.is_uv:
            options = ("--python", str(self.where.python), "--offline", f"--cache-dir={self.cache}", "--quiet")
            link = (f"--link-mode={self.mode}",) if verb == "install" else ()
            run(self.installer.program, "pip", verb, *options, *link, *self.where.options, *arguments, **self.variables)
            self.cached = digests(self.cache)
            return
        options = ("--isolated", "--disable-pip-version-check", "--no-cache-dir", verb, "--quiet")
        there = self.where.options if verb == "install" else ("--yes",)
        more = ("--upgrade",) if verb == "install" and self.loses_files else ()
        run(self.where.python, self.installer.program, *options, *there, *more, *arguments, **self.variables)

    @property
    def variables(self) -> dict[str, str]:
        """What Python and installers are told."""
        target = targets(self.dists[0])[0]
        return {**self.where.variables, "ROCM_SDK_TARGET_FAMILY": target, "UV_NO_CONFIG": "1"}

    def install(self) -> None:
        """Install all that is wanted, in the version that is wanted."""
        dist = self.dists[self.version]
        wanted = selector(dist, *EXTRAS, *(f"device-{one}" for one in sorted(self.devices)))
        self.pip("install", "--no-index", f"--find-links={dist}", wanted)

    def change_version(self) -> None:
        """Upgrade or downgrade."""
        self.version = 1 - self.version
        self.install()

    def change_devices(self) -> None:
        """Add the package of a GPU, or take it away."""
        one = self.chance.choice(targets(self.dists[0])[1:] or targets(self.dists[0]))
        if one not in self.devices:
            self.devices.add(one)
            self.install()
        elif not self.loses_files:
            self.devices.remove(one)
            self.pip("uninstall", f"rocm-sdk-device-{one}")

    def another_environment(self) -> None:
        """Fill another one out of uv's cache, and use that."""
        if self.installer.is_uv:
            with tempfile.TemporaryDirectory(dir=self.scratch) as name:
                other = replace(self, where=place("venv", Path(name)), devices=set(), users={}, layers=0)
                other.install()
                other.use()

    # What users do

    def sdk(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        """Run `rocm-sdk`."""
        return attempt(self.where.python, "-m", "rocm_sdk", *arguments, **self.variables)

    def use(self) -> None:
        """Ask for the tree, and look at everything."""
        self.asked(self.sdk("path", "--root"))
        self.check()

    def asked(self, done: "subprocess.CompletedProcess[str]") -> None:
        """Check the answer of `rocm-sdk path --root`."""
        assert (done.returncode, done.stderr) == (0, ""), done.stdout + done.stderr
        assert Path(done.stdout.strip()) == self.site / TREE, done.stdout

    def use_at_once(self) -> None:
        """Ask for the tree three times at once."""
        with ThreadPoolExecutor(3) as pool:
            for done in pool.map(lambda _: self.sdk("path", "--root"), range(3)):
                self.asked(done)
        self.check()

    def kill(self) -> None:
        """Kill what makes links, at some moment."""
        command = [str(self.where.python), "-m", "rocm_sdk", "init"]
        with subprocess.Popen(command, env={"PATH": "/usr/bin:/bin", **self.variables}) as process:
            time.sleep(self.chance.uniform(0.02, 0.3))
            process.send_signal(signal.SIGKILL)

    def write_files(self) -> None:
        """Write a file beside headers, and one into a directory of the user's own."""
        for path in (f"include/mine-{len(self.users)}.h", f"mine/{len(self.users)}/notes"):
            file = self.site / TREE / path
            file.parent.mkdir(parents=True, exist_ok=True)
            self.users[file] = path
            file.write_text(path, encoding="utf-8")

    # What happens to file systems

    def cut_times(self) -> None:
        """Cut all times to seconds, as images and archives do."""
        for folder, folders, files in os.walk(self.where.directory):
            for name in folders + files:
                path = Path(folder, name)
                second = int(path.lstat().st_mtime)
                os.utime(path, (second, second), follow_symlinks=False)

    def copy(self) -> None:
        """Copy all with `cp -r`: links that are no symbolic ones become files."""
        site = self.site
        other = site.with_name(f"{site.name}.copy")
        run("cp", "-r", site, other)
        shutil.rmtree(site)
        run("mv", other, site)

    def add_layer(self) -> None:
        """Let all that follows be written into another layer, on another file system or not."""
        if self.layers < LAYERS:
            self.layers += 1
            layer = self.scratch / f"layer{self.layers}"
            layer.mkdir()
            if self.chance.random() < 0.5:
                run("mount", "-t", "tmpfs", "layer", layer)
            for name in ("upper", "work"):
                (layer / name).mkdir()
            options = f"lowerdir={self.top},upperdir={layer}/upper,workdir={layer}/work"
            run("mount", "-t", "overlay", "layer", "-o", options, self.top)

    def read_only(self) -> None:
        """Ask for the tree where nobody can write: it is there, or one sentence says what to do."""
        run("mount", "-o", "remount,bind,ro", self.top)
        try:
            done = self.sdk("path", "--root")
            if done.returncode or done.stderr:
                assert re.search(r"rocm-sdk init` as a user who can", done.stderr), done.stdout + done.stderr
                assert len(done.stderr.splitlines()) <= 2, done.stderr
            else:
                self.asked(done)
        finally:
            run("mount", "-o", "remount,bind,rw", self.top)

    def no_programs(self) -> None:
        """Ask for the tree where no program may be started."""
        run("mount", "-o", "remount,bind,noexec", self.top)
        try:
            self.asked(self.sdk("path", "--root"))
        finally:
            run("mount", "-o", "remount,bind,exec", self.top)

    # What must hold

    def check(self) -> None:
        """Look at links, RECORD, what `rocm-sdk test` says, the user's files and uv's cache."""
        self.check_links()
        self.check_records()
        report = json.loads(self.sdk("test", "--json").stdout)
        bad = [one for one in report["results"] if one["outcome"] == "failed"]
        if self.mode == "symlink":  # Programs look for libraries beside themselves, which is in uv's cache.
            bad = [one for one in bad if not one["name"].startswith("script:")]
        assert not bad, bad
        for program in sorted((self.site / TREE / "bin").iterdir()):
            run(program, "--version")
        found = {file: file.read_text(encoding="utf-8") if file.exists() else None for file in self.users}
        assert found == self.users, found
        if self.installer.is_uv:
            assert digests(self.cache) == self.cached, "uv's cache is not as it was"

    def check_links(self) -> None:
        """Check that each link of the manifests leads to its file, and is no second copy of a library."""
        sources: dict[str, list[str]] = {}
        tree = self.site / TREE
        for manifest in itertools.chain.from_iterable(sorted(self.site.glob(one)) for one in MANIFESTS):
            for one in json.loads(manifest.read_text(encoding="utf-8"))["links"]:
                sources.setdefault(one["relpath"], []).append(one["target"])
        assert sources
        for path, texts in sources.items():
            file, ends = tree / path, [Path(os.path.normpath(tree / path / ".." / text)) for text in texts]
            there = [end for end in ends if end.exists()]
            assert file.exists() == bool(there), f"{path} -> {texts}: {file.exists()}"
            if there and there[0].is_file():
                assert any(file.read_bytes() == end.read_bytes() for end in there), path
                assert file.is_symlink() or not file.samefile(there[0]) or file.stat().st_nlink > 1, path

    def check_records(self) -> None:
        """Check that RECORDs list what is in the SDK's directories, and nothing that is not there."""
        listed = set()
        for record in self.site.glob("*.dist-info/RECORD"):
            rows = csv.reader(record.read_text(encoding="utf-8").splitlines())
            # With --target, pip does not say where it has put scripts.
            paths = [row[0] for row in rows if not (row[0].startswith("..") and self.where.title == "target")]
            listed |= {os.path.normpath(self.site / path) for path in paths if not path.endswith(".pyc")}
        missing = [path for path in listed if not os.path.lexists(path)]
        assert not missing, f"in RECORD, and not there: {missing[:3]}"
        found = {
            str(path)
            for top in self.site.glob("*rocm_sdk*")
            for path in top.rglob("*")
            if (path.is_symlink() or not path.is_dir()) and path.suffix != ".pyc"
        }
        stray = found - listed - set(map(str, self.users))
        assert not stray, f"there, and in no RECORD: {sorted(stray)[:3]}"

    def uninstall(self) -> None:
        """Take all away; what is left was there before, or is the user's."""
        if self.loses_files:
            return
        names = {path.name.partition("-")[0] for path in self.site.glob("rocm*.dist-info")}
        site = self.site
        self.pip("uninstall", *sorted(names))
        left = {path for path in site.rglob("*") if "rocm" in str(path.relative_to(site)) and not path.is_dir()}
        left = {path for path in left if path.suffix != ".pyc"}
        assert left == set(self.users), sorted(map(str, left ^ set(self.users)))[:5]


STEPS: tuple[Callable[[Life], None], ...] = (
    *(Life.use, Life.use, Life.use_at_once, Life.kill, Life.change_version, Life.change_version, Life.change_devices),
    *(Life.another_environment, Life.write_files, Life.cut_times, Life.copy, Life.add_layer, Life.add_layer),
    *(Life.read_only, Life.no_programs),
)


def digests(directory: Path) -> dict[str, str]:
    """Return the SHA-256 of each file below a directory that has wheels' files: uv's own notes may change."""
    return {
        str(path.relative_to(directory)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(directory.glob("archive-*/**/*"))
        if path.is_file() and path.suffix != ".pyc"
    }


def live(life: Life) -> None:
    """Live one history; what was done is in `life.done`."""

    def do(step: Callable[[Life], None]) -> None:
        life.done.append(step.__name__)
        step(life)

    do(Life.install)
    left_out = [Life.write_files] * life.loses_files + [Life.no_programs] * (life.where.title == "conda")
    for step in life.chance.sample(STEPS, life.chance.randint(2, 6)):
        if step not in left_out:
            do(step)
    do(Life.use)
    do(Life.uninstall)


#: Installer, way to link, kind of place, file system.
Combination = tuple[Installer, str, str, str]


def combinations(wheels: Path) -> Iterator[Combination]:
    """Yield all that go together."""
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    kinds = ("venv", "target", "prefix", "user", "conda")
    for one in installers(wheels, version):
        for mode, kind, file_system in itertools.product(MODES if one.is_uv else ("",), kinds, ("disk", "memory")):
            if not (one.is_uv and kind == "user"):
                yield one, mode, kind, file_system


def by_turns(every: Sequence[Combination]) -> list[Combination]:
    """Return combinations in an order in which few have each kind of place."""
    seen = Counter[str]()
    turns = []
    for one in every:
        turns.append((seen[one[2]], one))
        seen[one[2]] += 1
    return [one for _, one in sorted(turns, key=lambda turn: turn[0])]


def main() -> int:
    """Live histories; returns 1 if one found something."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dist", type=Path, required=True, help="directory of the distributions")
    parser.add_argument("--newer", type=Path, required=True, help="directory with those of another version")
    parser.add_argument("--installers", type=Path, required=True, metavar="DIR", help="directory of the installers")
    parser.add_argument("--histories", type=int, default=12, help="how many")
    parser.add_argument("--first", type=int, default=0, help="number of the first")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    if INSIDE not in os.environ:
        who = [] if os.geteuid() == 0 else ["--map-root-user"]
        command = ["unshare", *who, "--mount", "--propagation=private", sys.executable, "-B", "-m", __spec__.name]
        return subprocess.run([*command, *sys.argv[1:]], env={**os.environ, INSIDE: "1"}, check=False).returncode
    fetch(args.installers, f"{sys.version_info.major}.{sys.version_info.minor}")
    every = list(combinations(args.installers))
    random.Random(args.seed).shuffle(every)
    every = by_turns(every)
    with tempfile.TemporaryDirectory(prefix="rocm-devel-") as name:
        dists = (args.dist.resolve(), args.newer.resolve())
        found = [
            not one_history(Path(os.path.realpath(name)), dists, every, args.seed, number)
            for number in range(args.first, args.first + args.histories)
        ]
    print(f"{len(found)} histories, {sum(found)} with a finding")
    return int(any(found))


def one_history(scratch: Path, dists: tuple[Path, Path], every: list[Combination], seed: int, number: int) -> bool:
    """Live the history of a number; print it, and return whether all held."""
    installer, mode, kind, file_system = every[number % len(every)]
    home = scratch / str(number)
    top = home / "top"
    top.mkdir(parents=True)
    run("mount", *(["-t", "tmpfs", "top"] if file_system == "memory" else ["--bind", str(top)]), top)
    life = Life(home, dists, installer, mode, place(kind, top), random.Random(seed * 100_000 + number))
    began, error = time.monotonic(), None
    try:
        live(life)
    except (AssertionError, OSError, StopIteration, ValueError) as caught:
        error = caught
    title = " ".join(filter(None, (installer.title, mode, kind, file_system)))
    print(f"{number}: {title}: {' '.join(life.done)} ({time.monotonic() - began:.0f} s)", flush=True)
    if error is not None:
        print(f"FOUND: {type(error).__name__}: {error}", flush=True)
    while attempt("umount", top).returncode == 0:
        pass
    for layer in home.glob("layer*"):
        attempt("umount", layer)
    shutil.rmtree(home, ignore_errors=True)
    return error is None


if __name__ == "__main__":
    raise SystemExit(main())
