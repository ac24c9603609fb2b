"""Fetches Debian's ROCm and lays it out as artifacts: real input for checks.

    python3 -B -m develop.real_rocm.fetch --rocm 7 [--small] DIRECTORY

DIRECTORY/split then has per-target artifacts, and DIRECTORY/family the same
libraries as one family; both are hard links to DIRECTORY/unpacked. Any user may
run it; the packages come from the machine's own apt sources of Debian. Debian
13 has ROCm 5.7: 6 GB, for its own libc. Debian experimental has ROCm 7: 4.4 GB,
for the libc of Debian unstable. `--small` leaves the biggest libraries out. Run
again, it fetches only what is not there.

    python3 -B -m develop.real_rocm.tree_listing DIRECTORY

prints every path with its mode and SHA-256, or what it links to: two listings
are compared with diff.
"""

import argparse
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

from develop.real_rocm.debian_artifacts import lay_out
from develop.real_rocm.releases import RELEASES, Release
from lib.common.program import ToolError, report_errors
from tools.fetch.debian.apt import Apt, machine_lists
from tools.fetch.debian.sources import Choice, choose, read_sources


def sources_of(release: Release) -> Choice:
    """Return the machine's sources of Debian, with the suites of a release and no updates beside them.

    A mirror that stands still is good enough: the dates of its indexes are not looked at, but their signatures are.
    """
    choice = choose(read_sources(*machine_lists()), release.suites[0])
    own = (one for one in choice.sources if release.suites[0] in one.suites)
    return replace(
        choice,
        sources=tuple(
            replace(one, suites=release.suites, options=one.options | {"Check-Valid-Until": "no"}) for one in own
        ),
    )


def fetch(apt: Apt, name: str, version: str, directory: Path) -> None:
    """Fetch a package and unpack it to `directory`/`name`, which appears whole or not at all."""
    print(f"fetching {name} {version}", flush=True)
    downloads, partial = directory.parent / "debs", directory / f"{name}.partial"
    shutil.rmtree(downloads, ignore_errors=True)
    (package,) = apt.download(apt.describe([f"{name}={version}"]), downloads)
    shutil.rmtree(partial, ignore_errors=True)
    unpacked = subprocess.run(["dpkg-deb", "--extract", package, partial], check=False)
    if unpacked.returncode:
        raise ToolError(f"{package}: dpkg-deb failed with code {unpacked.returncode}; check the space on its disk")
    partial.rename(directory / name)
    shutil.rmtree(downloads)


def newest(apt: Apt, names: list[str]) -> dict[str, str]:
    """Return the newest version of each package, of any suite of the sources. Raises ToolError if one has none.

    apt-get takes packages of experimental only where their version is named.
    """
    found: dict[str, str] = {}
    for line in apt.run(["apt-cache", "madison", *names], "reading the package lists", "Try again").splitlines():
        name, version, _ = (part.strip() for part in line.split("|", 2))  # newest first
        found.setdefault(name, version)
    if absent := [name for name in names if name not in found]:
        raise ToolError(f"{apt.choice.name} has no package {', '.join(absent)}; expected it in one of its suites")
    return {name: found[name] for name in names}


def fetch_all(release: Release, directory: Path, *, small: bool) -> list[Path]:
    """Fetch what is not there; return the unpacked packages."""
    unpacked = directory / "unpacked"
    unpacked.mkdir(parents=True, exist_ok=True)
    names = release.names(small=small)
    if missing := [name for name in names if not (unpacked / name).is_dir()]:
        apt = Apt.with_sources(directory / "apt", sources_of(release))
        apt.update()
        for name, version in newest(apt, missing).items():
            fetch(apt, name, version, unpacked)
    return [unpacked / name for name in names]


def main(argv: list[str]) -> int:
    """Run the command line; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rocm", type=int, choices=sorted(RELEASES), required=True, help="its major version")
    parser.add_argument("--small", action="store_true", help="leave the biggest libraries out")
    parser.add_argument("directory", type=Path, help="where all is kept")
    arguments = parser.parse_args(argv)
    release, directory = RELEASES[arguments.rocm], arguments.directory.absolute()

    def work() -> None:
        packages = fetch_all(release, directory, small=arguments.small)
        for name, family in (("split", ""), ("family", release.family)):
            lay_out(release, packages, directory / name, family)
            print(f"{directory / name}: {len(list((directory / name).iterdir()))} artifacts", flush=True)

    return report_errors("develop.real_rocm.fetch", work)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
