"""Makes small wheels for tests and fuzzing, sound unless asked otherwise.

    path.write_bytes(Sample({"pkg/__init__.py": b""}).build())

The file name that fits is `Sample.filename`.
"""

import hashlib
import io
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from packaging.tags import parse_tag

from lib.wheel.record import encoded

METADATA: Final = """\
Metadata-Version: 2.4
Name: {name}
Version: {version}
Summary: A sample
License-Expression: MIT
License-File: LICENSE
Description-Content-Type: text/markdown

A sample.
"""
WHEEL: Final = "Wheel-Version: 1.0\nGenerator: sample\nRoot-Is-Purelib: false\n"


@dataclass(frozen=True)
class Sample:
    """One wheel."""

    files: Mapping[str, bytes] = field(default_factory=lambda: {"sample/__init__.py": b"x = 1\n"})
    """What it holds beside its .dist-info directory; what is named there replaces what would be made."""
    name: str = "sample"
    version: str = "1.0"
    tag: str = "py3-none-linux_x86_64"
    metadata: str = METADATA
    """`{name}` and `{version}` stand for these."""
    modes: Mapping[str, int] = field(default_factory=dict)
    """st_mode of members that are not plain files with 0100644."""
    record: bytes | None = None
    """RECORD; None for the right one."""

    @property
    def filename(self) -> str:
        """The file name that fits."""
        return f"{self.name}-{self.version}-{self.tag}.whl"

    @property
    def dist_info(self) -> str:
        """The name of the .dist-info directory."""
        return f"{self.name}-{self.version}.dist-info"

    def _tags(self) -> str:
        return "".join(f"Tag: {tag}\n" for tag in sorted(str(tag) for tag in parse_tag(self.tag)))

    def members(self) -> dict[str, bytes]:
        """Return all files, RECORD last."""
        made = {
            f"{self.dist_info}/METADATA": self.metadata.format(name=self.name, version=self.version).encode(),
            f"{self.dist_info}/WHEEL": (WHEEL + self._tags()).encode(),
            f"{self.dist_info}/licenses/LICENSE": b"Do what you want.\n",
        }
        members = made | dict(self.files)
        record = f"{self.dist_info}/RECORD"
        return members | {record: make_record(members, record) if self.record is None else self.record}

    def build(self) -> bytes:
        """Return the wheel."""
        return zipped(self.members(), self.modes)


def make_record(members: Mapping[str, bytes], path: str, algorithm: str = "sha256") -> bytes:
    """Return RECORD for these files and itself."""
    rows = [
        f"{name},{algorithm}={encoded(hashlib.new(algorithm, content).hexdigest())},{len(content)}\n"
        for name, content in members.items()
    ]
    return "".join([*rows, f"{path},,\n"]).encode()


def zipped(members: Mapping[str, bytes], modes: Mapping[str, int] | None = None, *, deflate: bool = True) -> bytes:
    """Return an archive of these members, dated 1980."""
    output = io.BytesIO()
    with zipfile.ZipFile(output, "w") as archive:
        for name, content in members.items():
            info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            info.create_system = 3
            info.external_attr = (modes or {}).get(name, 0o100644) << 16
            info.compress_type = zipfile.ZIP_DEFLATED if deflate else zipfile.ZIP_STORED
            archive.writestr(info, content)
    return output.getvalue()
