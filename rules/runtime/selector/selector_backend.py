"""The build backend (PEP 517) in the sdist of a selector: its wheel requires the packages for this machine.

An installer runs it where the packages are to be installed. It turns the sources beside it into a wheel, and a `Choice`
says what that requires. It needs nothing but the standard library of Python 3.9, so installers can run it with an index
that serves only the SDK's packages, or none.

Core metadata other than requirements is copied from PKG-INFO, which the packages' build wrote. There, Requires-Dist and
Provides-Extra have to be listed as Dynamic (metadata 2.2), or installers trust PKG-INFO and never ask.
"""

from __future__ import annotations

import base64
import csv
import gzip
import hashlib
import io
import tarfile
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Callable

WHEEL = "Wheel-Version: 1.0\nGenerator: {}\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
ZIP_EPOCH = (1980, 1, 1, 0, 0, 0)

# Fields of PKG-INFO that this backend computes, or that only an sdist has.
REPLACED_FIELDS = frozenset(("requires-dist", "provides-extra", "dynamic"))


@dataclass(frozen=True)
class Choice:
    """Requirements of the wheel, and the record of the choice."""

    #: By extra, sorted; the key "" has what is always required.
    requirements: Mapping[str, Sequence[str]]
    #: A line for people who read the installer's log.
    remark: str
    #: Further files by their path in the wheel, and in its .dist-info directory.
    files: Mapping[str, bytes] = field(default_factory=dict)
    info_files: Mapping[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True)
class Backend:
    """The hooks of a backend in the directory of an unpacked sdist, `root`."""

    root: Path
    name: str
    version: Callable[[], str]
    choose: Callable[[], Choice]
    #: The name of this program in WHEEL.
    generator: str
    #: The text of entry_points.txt; empty for none.
    entry_points: str = ""

    def get_requires_for_build_wheel(self, config_settings: dict[str, object] | None = None) -> list[str]:
        """PEP 517 hook: nothing is needed."""
        return []

    def get_requires_for_build_sdist(self, config_settings: dict[str, object] | None = None) -> list[str]:
        """PEP 517 hook: nothing is needed."""
        return []

    def prepare_metadata_for_build_wheel(
        self, metadata_directory: str, config_settings: dict[str, object] | None = None
    ) -> str:
        """PEP 517 hook: write the wheel's metadata directory and return its name."""
        name = f"{self._stem()}.dist-info"
        for path, data in self._metadata_files(self.choose()).items():
            file = Path(metadata_directory, name, path)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(data)
        return name

    def build_wheel(
        self,
        wheel_directory: str,
        config_settings: dict[str, object] | None = None,
        metadata_directory: str | None = None,
    ) -> str:
        """PEP 517 hook: write the wheel and return its name. The choice is made anew: same machine, same answer."""
        choice = self.choose()
        print(choice.remark)
        source = self.root / "src"
        files = {path.relative_to(source).as_posix(): path.read_bytes() for path in _walk(source)}
        files.update(choice.files)
        dist_info = f"{self._stem()}.dist-info"
        files.update({f"{dist_info}/{path}": data for path, data in self._metadata_files(choice).items()})
        name = f"{self._stem()}-py3-none-any.whl"
        _write_wheel(Path(wheel_directory, name), files, f"{dist_info}/RECORD")
        return name

    def build_sdist(self, sdist_directory: str, config_settings: dict[str, object] | None = None) -> str:
        """PEP 517 hook: pack the sources again, the same bytes for the same files, and return the file's name."""
        stem = self._stem()
        name = f"{stem}.tar.gz"
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as tar:
            for path in _walk(self.root):
                member = tarfile.TarInfo(f"{stem}/{path.relative_to(self.root).as_posix()}")
                member.size = path.stat().st_size
                tar.addfile(member, io.BytesIO(path.read_bytes()))
        Path(sdist_directory, name).write_bytes(gzip.compress(packed.getvalue(), mtime=0))
        return name

    def _metadata_files(self, choice: Choice) -> dict[str, bytes]:
        """Return the files of the metadata directory without RECORD, by their path in it."""
        pkg_info = (self.root / "PKG-INFO").read_text("utf-8")
        fields = [line.partition(":") for line in pkg_info.partition("\n\n")[0].splitlines()]
        versions = [value.strip() for field, _, value in fields if field == "Version"]
        if versions != [self.version()]:
            raise RuntimeError(f"PKG-INFO says version {versions}, its data {self.version()}: the sdist is broken")
        licenses = [value.strip() for field, _, value in fields if field == "License-File"]
        return {
            "METADATA": metadata(pkg_info, choice.requirements).encode("utf-8"),
            "WHEEL": WHEEL.format(self.generator).encode(),
            **({"entry_points.txt": self.entry_points.encode()} if self.entry_points else {}),
            **choice.info_files,
            **{f"licenses/{path}": (self.root / path).read_bytes() for path in licenses},
        }

    def _stem(self) -> str:
        """Return the start of file names: name and version, escaped as the wheel specification says."""
        return f"{self.name.replace('-', '_').replace('.', '_')}-{self.version().replace('-', '_')}"


def metadata(pkg_info: str, wanted: Mapping[str, Sequence[str]]) -> str:
    """Return METADATA: the text of PKG-INFO with requirements instead of the fields about them."""
    head, blank, description = pkg_info.partition("\n\n")
    kept: list[str] = []
    keep = True
    for line in head.splitlines():
        if not line[:1].isspace():  # a continuation line belongs to the field before it
            keep = line.partition(":")[0].lower() not in REPLACED_FIELDS
        if keep:
            kept.append(line)
    for extra, pins in wanted.items():
        kept += [f"Provides-Extra: {extra}"] if extra else []
        kept += [f"Requires-Dist: {_with_extra(pin, extra)}" for pin in pins]
    return "\n".join(kept) + (blank + description if blank else "\n")


def _with_extra(pin: str, extra: str) -> str:
    """Return a requirement that holds for an extra alone, if one is named."""
    if not extra:
        return pin
    requirement, _, marker = pin.partition("; ")
    own = f"({marker}) and " if " or " in marker else f"{marker} and " if marker else ""
    return f'{requirement}; {own}extra == "{extra}"'


def _walk(directory: Path) -> list[Path]:
    """Return the files below, sorted, without Python's caches."""
    return sorted(path for path in directory.rglob("*") if path.is_file() and "__pycache__" not in path.parts)


def _write_wheel(path: Path, files: dict[str, bytes], record: str) -> None:
    """Write a wheel (PEP 427) that depends on nothing but its files; the metadata directory comes last.

    RECORD is written as by `lib/wheel/record.py` of the build: a copy, because an sdist brings its backend along.
    """
    table = io.StringIO()
    rows = csv.writer(table, lineterminator="\n")
    for name, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        rows.writerow((name, f"sha256={digest}", len(data)))
    rows.writerow((record, "", ""))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        for name, data in {**files, record: table.getvalue().encode("utf-8")}.items():
            member = zipfile.ZipInfo(name, ZIP_EPOCH)
            member.compress_type = zipfile.ZIP_DEFLATED
            member.external_attr = 0o100644 << 16
            wheel.writestr(member, data)
