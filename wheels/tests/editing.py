"""Copies of a set of distributions in which one thing is changed, with everything else as it should be.

    edited = EditedSet(dist, tmp_path)
    edited.wheel("rocm_sdk_core").files["_rocm_sdk_core/lib/libx.so"] = …
    edited.save()

Wheels that were opened are written anew, with a RECORD of what they hold; all others are links to the originals.
"""

import base64
import csv
import hashlib
import io
import json
import os
import tarfile
import warnings
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

ZIP_TIME = (1980, 1, 1, 0, 0, 0)


def mini_sdk(layout: str) -> Path:
    """Return the mini SDK's distributions: DIST, which Bazel sets, or what it has built of `layout`."""
    built = Path(f"bazel-bin/tests/mini/{layout}/dist").absolute()
    found = Path(os.environ.get("DIST", built)).absolute()
    assert found.is_dir(), f"{found} is missing; run ./bazelw build //tests/mini/{layout}:dist"
    return found


def record_row(path: str, data: bytes) -> tuple[str, str, str]:
    """Return a file's line of RECORD."""
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return path, f"sha256={digest}", str(len(data))


@dataclass
class EditedWheel:
    """A wheel's files, to be changed. `modes` are st_mode; files without one get 0644."""

    name: str
    files: dict[str, bytes]
    modes: dict[str, int] = field(default_factory=dict)
    methods: dict[str, int] = field(default_factory=dict)
    """Compression methods that differ from deflate."""
    extras: dict[str, bytes] = field(default_factory=dict)
    """Extra fields of members."""
    extra_members: list[tuple[str, bytes]] = field(default_factory=list)
    """Written behind all others, and not in RECORD."""
    on_record: list[Callable[[list[tuple[str, str, str]]], None]] = field(default_factory=list)
    """Change the rows of RECORD."""
    on_bytes: list[Callable[[bytearray], None]] = field(default_factory=list)
    """Change the finished wheel."""
    without_record: bool = False

    @property
    def dist_info(self) -> str:
        """The .dist-info directory."""
        return next(path.split("/")[0] for path in self.files if ".dist-info/" in path)

    def text(self, name: str) -> str:
        """Return a file of the .dist-info directory."""
        return self.files[f"{self.dist_info}/{name}"].decode()

    def replace(self, name: str, old: str, new: str) -> None:
        """Change a file of the .dist-info directory, which must have `old`."""
        text = self.text(name)
        assert old in text, f"{name} has no {old!r}"
        self.files[f"{self.dist_info}/{name}"] = text.replace(old, new).encode()

    def build(self) -> bytes:
        """Return the wheel."""
        files = dict(self.files)
        record = f"{self.dist_info}/RECORD"
        files.pop(record, None)
        rows = [record_row(path, data) for path, data in files.items()]
        rows.append((record, "", ""))
        for change in self.on_record:
            change(rows)
        table = io.StringIO()
        csv.writer(table, lineterminator="\n").writerows(rows)
        if not self.without_record:
            files[record] = table.getvalue().encode()
        target = io.BytesIO()
        with zipfile.ZipFile(target, "w") as archive, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # One fault is a name that is there twice.
            for path, data in [*files.items(), *self.extra_members]:
                member = zipfile.ZipInfo(path, ZIP_TIME)
                member.create_system = 3
                member.extra = self.extras.get(path, b"")
                member.external_attr = self.modes.get(path, 0o100644) << 16
                archive.writestr(member, data, compress_type=self.methods.get(path, zipfile.ZIP_DEFLATED))
        wheel = bytearray(target.getvalue())
        for change_bytes in self.on_bytes:
            change_bytes(wheel)
        return bytes(wheel)


def read_wheel(path: Path) -> EditedWheel:
    """Open a wheel."""
    with zipfile.ZipFile(path) as archive:
        infos = archive.infolist()
        files = {info.filename: archive.read(info) for info in infos}
    return EditedWheel(path.name, files, {info.filename: info.external_attr >> 16 for info in infos})


class EditedSet:
    """A copy of a directory of distributions."""

    def __init__(self, origin: Path, directory: Path) -> None:
        """Begin with the files of `origin`; nothing is written to `directory` before `save`."""
        self.directory = directory
        self.others = {path.name: path for path in sorted(origin.rglob("*")) if path.name.endswith((".whl", ".tar.gz"))}
        self._wheels: dict[str, EditedWheel] = {}
        self.sdists: dict[str, bytes] = {}

    def wheel(self, prefix: str) -> EditedWheel:
        """Return the wheel whose name begins like this, up to the version."""
        (name,) = {
            one for one in (*self.others, *self._wheels) if one.startswith(f"{prefix}-") and one.endswith(".whl")
        }
        if name not in self._wheels:
            self._wheels[name] = read_wheel(self.others.pop(name))
        return self._wheels[name]

    def add(self, wheel: EditedWheel) -> None:
        """Add a wheel."""
        self._wheels[wheel.name] = wheel

    def remove(self, prefix: str) -> None:
        """Leave a distribution out."""
        name = next(one for one in (*self.others, *self._wheels) if one.startswith(f"{prefix}-"))
        self.others.pop(name, None)
        self._wheels.pop(name, None)

    def change_links(self, change: Callable[[dict[str, str]], object]) -> None:
        """Change the links of the development package: texts, by paths below its tree."""
        files, path = self.wheel("rocm_sdk_devel").files, "rocm_sdk_devel/.devel_links/devel.json"
        document = json.loads(files[path])
        links = {one["relpath"]: one["target"] for one in document["links"]}
        change(links)
        document["links"] = [{"relpath": path, "target": text} for path, text in sorted(links.items())]
        files[path] = json.dumps(document).encode()

    def archive_devel(self) -> None:
        """Put the files of the development tree into an archive, as `devel_archive=tar` does."""
        wheel = self.wheel("rocm_sdk_devel")
        below = sorted(path for path in wheel.files if path.startswith("_rocm_sdk_devel/"))
        target = io.BytesIO()
        with tarfile.open(fileobj=target, mode="w", format=tarfile.PAX_FORMAT) as tar:
            for path in below:
                data = wheel.files.pop(path)
                info = tarfile.TarInfo(path)
                info.size = len(data)
                tar.addfile(info, io.BytesIO(data))
        path = "rocm_sdk_devel/.devel_links/devel.json"
        document = json.loads(wheel.files[path]) | {"files": [one.partition("/")[2] for one in below]}
        wheel.files |= {path: json.dumps(document).encode(), "rocm_sdk_devel/_devel.tar": target.getvalue()}

    def save(self) -> Path:
        """Write the set; returns its directory."""
        self.directory.mkdir(parents=True, exist_ok=True)
        for name, path in self.others.items():
            (self.directory / name).symlink_to(path)
        for wheel in self._wheels.values():
            (self.directory / wheel.name).write_bytes(wheel.build())
        for name, data in self.sdists.items():
            (self.directory / name).unlink(missing_ok=True)
            (self.directory / name).write_bytes(data)
        return self.directory


def link_member(name: str, text: str) -> tuple[tarfile.TarInfo, bytes]:
    """Return a symbolic link for a tar archive."""
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.mode = tarfile.SYMTYPE, text, 0o777
    return info, b""


def file_member(name: str, data: bytes) -> tuple[tarfile.TarInfo, bytes]:
    """Return a file for a tar archive."""
    info = tarfile.TarInfo(name)
    info.size = len(data)
    return info, data
