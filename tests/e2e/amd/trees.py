"""What wheels of ROCm hold, entry by entry: for the comparison with AMD's own packages (comparison.py).

A devel wheel holds an archive of its tree; what that holds counts as the wheel's own entries.
"""

import json
import os
import posixpath
import re
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
import zlib
from collections.abc import Iterator
from configparser import ConfigParser
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.parser import Parser
from pathlib import Path
from typing import IO

ARCHIVE = "_devel.tar"
_CHUNK = 1 << 20


@dataclass(frozen=True)
class Entry:
    """A path of a wheel. `mode` has the permission bits; `text` is a link's, `crc` and `size` in bytes are a file's."""

    kind: str
    mode: int = 0
    text: str = ""
    crc: int = 0
    size: int = 0


@dataclass
class Wheel:
    """A wheel and its entries by path; files can be taken out."""

    path: Path
    entries: dict[str, Entry] = field(default_factory=dict)

    @property
    def distribution(self) -> str:
        """The name of the distribution, as PEP 503 compares them."""
        return re.sub(r"[-_.]+", "-", self.path.name.split("-")[0]).lower()

    def metadata(self, field: str) -> set[str]:
        """Return what METADATA says in a field, which may be there several times."""
        return set(Parser().parsestr(self._metadata("METADATA"), headersonly=True).get_all(field, []))

    def scripts(self) -> set[str]:
        """Return the names of the console scripts."""
        entry_points = ConfigParser(delimiters=("=",))
        entry_points.optionxform = str  # type: ignore[assignment,method-assign]
        entry_points.read_string(self._metadata("entry_points.txt"))
        return set(entry_points["console_scripts"]) if "console_scripts" in entry_points else set()

    def tools(self) -> dict[str, str]:
        """Return the programs that our console scripts start, below the tree, by script; none for AMD's wheels."""
        with zipfile.ZipFile(self.path) as archive:
            tables = [archive.read(name) for name in archive.namelist() if name.endswith("/console_scripts.json")]
        return {row["script"]: row["path"] for table in tables for row in json.loads(table)}

    def _metadata(self, name: str) -> str:
        path = f"{'-'.join(self.path.name.split('-')[:2])}.dist-info/{name}"
        with zipfile.ZipFile(self.path) as archive:
            return archive.read(path).decode() if path in archive.namelist() else ""

    def extract(self, path: str, target: Path) -> Path:
        """Write a file of the wheel to `target`."""
        with self._open(path) as source, target.open("wb") as copy:
            for chunk in iter(lambda: source.read(_CHUNK), b""):
                copy.write(chunk)
        return target

    @contextmanager
    def _open(self, path: str) -> Iterator[IO[bytes]]:
        with zipfile.ZipFile(self.path) as archive:
            if path in archive.namelist():
                with archive.open(path) as stream:
                    yield stream
            else:
                with _devel_archive(archive) as tar:
                    yield tar.extractfile(path)  # type: ignore[misc]


@contextmanager
def _devel_archive(archive: zipfile.ZipFile) -> Iterator[tarfile.TarFile]:
    (name,) = [name for name in archive.namelist() if posixpath.basename(name) == ARCHIVE]
    with archive.open(name) as stream, tarfile.open(fileobj=stream) as tar:
        yield tar


def read_wheel(path: Path) -> Wheel:
    """Return a wheel with its entries."""
    wheel = Wheel(path)
    with zipfile.ZipFile(path) as archive:
        for info in archive.infolist():
            if posixpath.basename(info.filename) == ARCHIVE:
                with _devel_archive(archive) as tar:
                    wheel.entries |= dict(_members(tar))
            elif not info.is_dir():
                mode = info.external_attr >> 16 & 0o777
                wheel.entries[info.filename] = Entry("file", mode, crc=info.CRC, size=info.file_size)
    return wheel


def _members(tar: tarfile.TarFile) -> Iterator[tuple[str, Entry]]:
    for member in tar:
        if member.issym():
            yield member.name, Entry("link", text=member.linkname)
        elif member.isdir():
            yield member.name, Entry("directory", member.mode & 0o777)
        else:
            stream = tar.extractfile(member)
            crc = 0
            while stream is not None and (chunk := stream.read(_CHUNK)):
                crc = zlib.crc32(chunk, crc)
            yield member.name, Entry("file", member.mode & 0o777, crc=crc, size=member.size)


def read_sdist(directory: Path) -> dict[str, set[str]]:
    """Return what the sdist `rocm` of a directory says in its metadata, by field: what it requires and provides.

    A backend of its own, in the sdist, makes the metadata when it is installed; else PKG-INFO has them.
    """
    (path,) = directory.glob("rocm-*.tar.gz")
    with tempfile.TemporaryDirectory() as folder, tarfile.open(path) as archive:
        archive.extractall(folder, filter="data")
        (top,) = Path(folder).iterdir()
        system = tomllib.loads((top / "pyproject.toml").read_text("utf-8"))["build-system"]
        text = (top / "PKG-INFO").read_text("utf-8")
        if system.get("backend-path"):
            made = f"import {system['build-backend']} as b; b.prepare_metadata_for_build_wheel('made')"
            environment = os.environ | {"PYTHONPATH": os.pathsep.join(system["backend-path"])}
            (top / "made").mkdir()
            subprocess.run([sys.executable, "-c", made], cwd=top, env=environment, check=True)
            (metadata,) = (top / "made").glob("*.dist-info/METADATA")
            text = metadata.read_text("utf-8")
    headers = Parser().parsestr(text, headersonly=True)
    return {field: set(headers.get_all(field, [])) for field in ("Name", "Version", "Requires-Dist", "Provides-Extra")}


def read_wheels(directory: Path) -> dict[str, Wheel]:
    """Return the wheels of a directory by distribution. Ends the program if there are none."""
    wheels = [read_wheel(path) for path in sorted(directory.glob("rocm_*.whl"))]
    if not wheels:
        raise SystemExit(f"{directory}: no wheels of ROCm; expected those that AMD's script or //packaging:dist makes")
    return {wheel.distribution: wheel for wheel in wheels}
