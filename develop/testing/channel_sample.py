"""Small builds for channels, a bucket in memory, and a client that says whether what it sees can be installed."""

import hashlib
import io
import json
import posixpath
import tarfile
import zipfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from lib.wheel.record import record_text
from wheels.channel.local_files import LocalFile
from wheels.channel.place import ANYTHING, ChangedError, Place, StoredFile, StoredText

#: When all builds of tests are added, in seconds since 1970.
NOW = 1_800_000_000
LINUX = "py3-none-manylinux_2_28_x86_64"


def wheel(
    name: str,
    version: str,
    *lines: str,
    tag: str = "py3-none-manylinux_2_28_x86_64",
    files: Mapping[str, str] | None = None,
) -> tuple[str, bytes]:
    """Return a wheel's name and bytes; `lines` are further ones of its core metadata."""
    filed = canonicalize_name(name).replace("-", "_")
    metadata = "\n".join(["Metadata-Version: 2.4", f"Name: {name}", f"Version: {version}", *lines, "", ""])
    info = f"{filed}-{version}.dist-info"
    members = {
        **(files or {f"{filed}.py": f"version = '{version}'\n"}),
        f"{info}/METADATA": metadata,
        f"{info}/WHEEL": f"Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: false\nTag: {tag}\n",
    }
    rows = [(path, hashlib.sha256(text.encode()).hexdigest(), len(text.encode())) for path, text in members.items()]
    members[f"{info}/RECORD"] = record_text(rows, f"{info}/RECORD")
    output = io.BytesIO()
    with zipfile.ZipFile(output, "w") as archive:
        for path, text in members.items():
            archive.writestr(zipfile.ZipInfo(path), text)
    return f"{filed}-{version}-{tag}.whl", output.getvalue()


def sound(data: bytes, changed: Mapping[str, bytes] = MappingProxyType({})) -> bytes:
    """Return a wheel again, deflated, with digests in RECORD, and with some members changed."""
    with zipfile.ZipFile(io.BytesIO(data)) as old:
        contents = {name: old.read(name) for name in old.namelist()} | dict(changed)
    record = next(name for name in contents if name.endswith("/RECORD"))
    rows = [(name, hashlib.sha256(one).hexdigest(), len(one)) for name, one in contents.items() if name != record]
    contents[record] = record_text(rows, record).encode()
    output = io.BytesIO()
    with zipfile.ZipFile(output, "w", zipfile.ZIP_DEFLATED) as new:
        for name, one in contents.items():
            new.writestr(zipfile.ZipInfo(name), one, zipfile.ZIP_DEFLATED)
    return output.getvalue()


def sdist(name: str, version: str, *lines: str) -> tuple[str, bytes]:
    """Return an sdist's name and bytes."""
    text = "\n".join(["Metadata-Version: 2.4", f"Name: {name}", f"Version: {version}", *lines, "", ""]).encode()
    output = io.BytesIO()
    with tarfile.open(fileobj=output, mode="w:gz") as tar:
        info = tarfile.TarInfo(f"{name}-{version}/PKG-INFO")
        info.size = len(text)
        tar.addfile(info, io.BytesIO(text))
    return f"{name}-{version}.tar.gz", output.getvalue()


def write(directory: Path, files: Sequence[tuple[str, bytes]]) -> Path:
    """Write files into a directory; return it."""
    directory.mkdir(parents=True, exist_ok=True)
    for name, content in files:
        (directory / name).write_bytes(content)
    return directory


def build(directory: Path, version: str, *, core: bytes = b"") -> Path:
    """Write a small SDK: a selector that requires libraries, which require core."""
    pin = f"=={version}"
    return write(
        directory / version,
        [
            wheel("acme-core", version, "Requires-Python: >=3.9", files={"acme_core.py": core.decode() or version}),
            wheel("acme-libraries", version, f"Requires-Dist: acme-core{pin}"),
            wheel(
                "acme",
                version,
                f"Requires-Dist: acme-core{pin}",
                "Provides-Extra: libraries",
                f'Requires-Dist: acme-libraries{pin}; extra == "libraries"',
                tag="py3-none-any",
            ),
        ],
    )


class MemoryPlace(Place):
    """A bucket in memory. `step` is called before each thing that changes it, and `listing` says what it lists."""

    shown = "memory"

    def __init__(self, step: Callable[[], None] = lambda: None) -> None:
        """Begin empty."""
        self.objects: dict[str, bytes] = {}
        self.ages: dict[str, float] = {}
        self.step = step

    def read(self, path: str) -> StoredText | None:
        """Return an object."""
        content = self.objects.get(path)
        return None if content is None else StoredText(content, hashlib.md5(content).hexdigest())

    def write(self, path: str, content: bytes, expected: str | None = ANYTHING) -> None:
        """Write an object, if what is there is as expected."""
        there = self.read(path)
        if expected != ANYTHING and (there.token if there else None) != expected:
            raise ChangedError(path)
        self.step()
        self.objects[path] = content

    def upload(self, file: LocalFile) -> None:
        """Copy a file."""
        self.step()
        self.objects[file.file.path] = file.source.read_bytes()

    def list(self, prefix: str = "") -> Mapping[str, StoredFile]:
        """Return what begins with a prefix."""
        return {
            path: StoredFile(len(content), self.ages.get(path, 0), hashlib.md5(content).hexdigest())
            for path, content in self.objects.items()
            if path.startswith(prefix)
        }

    def sha256(self, path: str) -> str:
        """Return a digest."""
        return hashlib.sha256(self.objects[path]).hexdigest()

    def fetch(self, path: str, folder: Path) -> Path:
        """Copy an object out."""
        if path not in self.objects:
            raise FileNotFoundError(path)
        target = folder / posixpath.basename(path)
        target.write_bytes(self.objects[path])
        return target

    def delete(self, paths: Sequence[str]) -> None:
        """Delete objects, one after the other."""
        for path in paths:
            self.step()
            self.objects.pop(path, None)


def directory_objects(root: Path, stream: str) -> dict[str, bytes]:
    """Return the store and the pages of a stream, as a web server of a directory has them."""
    found = {}
    for top in (root / "files", root / stream):
        for path in sorted((top.resolve()).rglob("*")):
            if path.is_file():
                found[f"{top.name}/{path.relative_to(top.resolve()).as_posix()}"] = path.read_bytes()
    return found


def broken(objects: Mapping[str, bytes], stream: str) -> list[str]:
    """Return what of a stream cannot be installed: as a client sees it, from pages and files alone."""
    found: list[str] = []
    there: dict[str, set[Version]] = {}
    wanted: list[tuple[str, Requirement]] = []
    for path, content in sorted(objects.items()):
        if not path.startswith(f"{stream}/simple/") or path.count("/") != 3 or not path.endswith("index.json"):
            continue
        for file in json.loads(content)["files"]:
            where = posixpath.normpath(posixpath.join(posixpath.dirname(path), file["url"].replace("%2B", "+")))
            data = objects.get(where)
            if data is None or hashlib.sha256(data).hexdigest() != file["hashes"]["sha256"]:
                found.append(f"{file['filename']}: no such file, or another digest")
            elif where.endswith(".whl"):
                name, version = file["filename"].split("-")[:2]
                there.setdefault(canonicalize_name(name), set()).add(Version(version))
                metadata = objects.get(f"{where}.metadata", b"")
                if hashlib.sha256(metadata).hexdigest() != file["core-metadata"]["sha256"]:
                    found.append(f"{file['filename']}: other core metadata")
                lines = [line for line in metadata.decode().splitlines() if line.startswith("Requires-Dist: ")]
                wanted += [(file["filename"], Requirement(line.removeprefix("Requires-Dist: "))) for line in lines]
    for by, requirement in wanted:
        versions = there.get(canonicalize_name(requirement.name), set())
        if not any(requirement.specifier.contains(one, prereleases=True) for one in versions):
            found.append(f"{by} requires {requirement}")
    return found
