"""What thin wheels are called, and where their files come to lie.

A complete wheel for some GPUs keeps the distribution's name and gets a local version (PEP 440): `acme-1.0+gfx942`, of a
version that has one already `acme-2.0+rocm7.gfx942`. So every requirement on the name is met as before, two of them
cannot be installed over each other, and installers prefer it to the fat wheel: 1.0+gfx942 is newer than 1.0.
Or it is a wheel variant, whose name `variant_format` makes.

Device wheels are called as AMD calls its own, such as `amd-torch-device-gfx942`; the host wheel is `acme-1.0+host`.
"""

import re
from dataclasses import dataclass

from packaging.version import Version

#: How the names of AMD's distributions begin.
PREFIX = "amd-"
#: The local version of host wheels.
HOST = "host"


@dataclass(frozen=True)
class WheelName:
    """A wheel's names: `{distribution}-{version}-{tags}.whl`, and `{base}.dist-info` and `{base}.data` in it."""

    distribution: str
    """As the file name has it."""
    version: Version
    tags: str
    """Of Python, ABI and platform; the build tag, if there is one, in front."""
    base: str

    @property
    def filename(self) -> str:
        """The file name."""
        return f"{self.distribution}-{self.version}-{self.tags}.whl"

    @property
    def dist_info(self) -> str:
        """The directory of the metadata."""
        return f"{self.base}.dist-info"

    def path_from(self, path: str, old: "WheelName") -> str:
        """Return where a file of the wheel `old` lies in this one: the names of two directories have the version."""
        top, slash, rest = path.partition("/")
        if slash and top == old.dist_info:
            return f"{self.dist_info}/{rest}"
        return f"{self.base}.data/{rest}" if slash and top.endswith(".data") else path


def read_name(filename: str, dist_info: str, version: Version) -> WheelName:
    """Return the names of a wheel whose file name is valid, given its .dist-info directory."""
    distribution, _, *tags = filename.removesuffix(".whl").split("-")
    return WheelName(distribution, version, "-".join(tags), dist_info.removesuffix(".dist-info"))


def with_local(name: WheelName, label: str) -> WheelName:
    """Return the names of a wheel with `label` added to the local version."""
    local = ".".join([*([name.version.local] if name.version.local else []), label.replace("-", ".")])
    version = Version(f"{name.version.public}+{local}")
    return WheelName(name.distribution, version, name.tags, f"{name.base.rpartition('-')[0]}-{version}")


def device_distribution(name: WheelName, label: str) -> str:
    """Return the normalised name (PEP 503) of the distribution with the device code for a group alone."""
    normalised = re.sub(r"[-_.]+", "-", name.distribution).lower()
    return f"{PREFIX}{normalised.removeprefix(PREFIX)}-device-{label}"


def device_name(name: WheelName, label: str) -> WheelName:
    """Return the names of the wheel with the device code for a group alone; it has the fat wheel's version."""
    distribution = device_distribution(name, label).replace("-", "_")
    return WheelName(distribution, name.version, name.tags, f"{distribution}-{name.version}")
