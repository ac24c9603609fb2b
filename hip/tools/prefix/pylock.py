"""Reads a lock file of Python packages: which wheels of an SDK to download.

    python3 -m hip.tools.prefix.pylock pylock.toml

prints a JSON list with an object for each wheel: `distribution`, `file` (its name), `url` and `sha256`. Lock files have
the PyPA's format, https://packaging.python.org/en/latest/specifications/pylock-toml/; pip and uv write it. Packages
that are not of the SDK are left out, and those for which the file has no wheel for Linux on this CPU.

It needs the standard library alone, because it runs before anything is fetched.
"""

import json
import platform
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from tools.fetch.catalog.catalog import report
from tools.fetch.catalog.names import CatalogError

#: The first digits of the versions of the format that this module reads.
MAJOR = "1"
SHA256 = re.compile("[0-9a-f]{64}")
#: The distributions of the SDK.
SDK = re.compile("rocm(?:-.*)?")
REMEDY = "Write it with `uv pip compile --format pylock.toml`, or with `pip lock`"


@dataclass(frozen=True)
class LockedWheel:
    """A wheel that a lock file names."""

    #: Normalised, as PEP 503 has it.
    distribution: str
    #: Name of the file, as PEP 427 has it.
    file: str
    url: str
    #: In hex.
    sha256: str


def is_for_machine(name: str, machine: str) -> bool:
    """Return whether a wheel of this file name is for Linux on a CPU, as uname names it."""
    tags = name.removesuffix(".whl").rpartition("-")[2].split(".")
    return any(tag == "any" or (tag.endswith(f"_{machine}") and tag.startswith(("linux", "manylinux"))) for tag in tags)


def read_pylock(path: Path, machine: str) -> list[LockedWheel]:
    """Return the wheels of an SDK for a CPU, in the file's order.

    Raises CatalogError if the file is not of the format, names no such wheel, or two of one distribution.
    """
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
        version = document["lock-version"]
        if str(version).partition(".")[0] != MAJOR:
            raise CatalogError(f"{path}: lock-version is {version}; expected {MAJOR}.x. {REMEDY}")
        wheels = [wheel for package in document["packages"] for wheel in _wheels(package, path, machine)]
    except (AttributeError, KeyError, OSError, RecursionError, TypeError, ValueError) as error:
        raise CatalogError(f"{path}: expected a lock file of Python packages ({error!r}). {REMEDY}") from None
    if not wheels:
        raise CatalogError(
            f"{path}: it names no wheel of ROCm for Linux on {machine}; expected rocm-sdk-devel and what it requires. "
            f"{REMEDY}"
        )
    counted = Counter(wheel.distribution for wheel in wheels)
    if twice := sorted(name for name, count in counted.items() if count > 1):
        raise CatalogError(f"{path}: it names {twice[0]} twice; expected one wheel for each package. {REMEDY}")
    return wheels


def _wheels(package: dict[str, Any], path: Path, machine: str) -> Iterator[LockedWheel]:
    """Yield the first wheel of a package of the SDK that is for a CPU, if there is one."""
    distribution = re.sub(r"[-_.]+", "-", package["name"]).lower()
    for wheel in package.get("wheels", ()) if SDK.fullmatch(distribution) else ():
        location = wheel.get("url") or (path.parent / wheel["path"]).resolve().as_uri()
        name = wheel.get("name") or unquote(urlsplit(location).path).rpartition("/")[2]
        if is_for_machine(name, machine):
            sha256 = wheel.get("hashes", {}).get("sha256", "")
            if not SHA256.fullmatch(sha256):
                raise CatalogError(f"{path}: {name}: sha256 is {sha256!r}; expected 64 hex digits. {REMEDY}")
            yield LockedWheel(distribution, name, location, sha256)
            return


def main(argv: list[str]) -> int:
    """Print the wheels; return 1, with one line on standard error, when the file cannot be used."""

    def work() -> None:
        print(json.dumps([asdict(wheel) for wheel in read_pylock(Path(argv[0]), platform.machine())]))

    return report(work)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
