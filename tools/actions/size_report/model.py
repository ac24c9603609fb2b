"""What a package's bytes are for: host, device and data, as installed; and what its wheel's download takes.

*Device* is what GPUs run: code objects in programs and libraries, and files that hold nothing but such code. *Host* is
the rest of programs and libraries, *data* all else. All numbers are bytes.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any


def added(parts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """Return the sums of numbers by key, sorted by key."""
    sums: dict[str, int] = {}
    for part in parts:
        for key, number in part.items():
            sums[key] = sums.get(key, 0) + number
    return dict(sorted(sums.items()))


@dataclass(frozen=True)
class Sizes:
    """Bytes as installed, by what they are for."""

    host: int = 0
    data: int = 0
    #: Of code objects in programs and libraries, and of files of device code: target ID, or kind of code -> bytes.
    code: Mapping[str, int] = field(default_factory=dict)
    files: Mapping[str, int] = field(default_factory=dict)

    @property
    def device(self) -> int:
        """All bytes of device code."""
        return sum(self.code.values()) + sum(self.files.values())

    @property
    def installed(self) -> int:
        """All bytes."""
        return self.device + self.host + self.data

    @property
    def targets(self) -> tuple[str, ...]:
        """Target IDs that there is device code for, sorted."""
        return tuple(sorted({*self.code, *self.files}))

    def to_document(self) -> dict[str, int]:
        """Return the sums as JSON data."""
        return {"device": self.device, "host": self.host, "data": self.data, "installed": self.installed}


def total(parts: Iterable[Sizes]) -> Sizes:
    """Return the sum of sizes."""
    every = list(parts)
    return Sizes(
        host=sum(one.host for one in every),
        data=sum(one.data for one in every),
        code=added(one.code for one in every),
        files=added(one.files for one in every),
    )


@dataclass(frozen=True)
class Unsliced:
    """The content of a thin package if it were not thin: its libraries' device code and files for all GPU targets."""

    sizes: Sizes
    #: Files of other targets whose sizes nobody knows: no package of the report has them. They are not counted.
    unknown_files: int = 0


@dataclass(frozen=True)
class PackageSizes:
    """The sizes of one package."""

    #: Normalised name of the distribution (PEP 503).
    distribution: str
    #: Name of the package, as plans have it.
    package: str
    filename: str
    #: Bytes of the wheel.
    download: int
    sizes: Sizes
    #: GPU targets that a thin package is for; those that any other has device code for.
    targets: tuple[str, ...] = ()
    #: None for a package that nothing was sliced for.
    unsliced: Unsliced | None = None

    def to_document(self) -> dict[str, Any]:
        """Return the sizes as JSON data."""
        by_target = {
            target: {"code_objects": self.sizes.code.get(target, 0), "files": self.sizes.files.get(target, 0)}
            for target in self.sizes.targets
        }
        document = {
            "distribution": self.distribution,
            "package": self.package,
            "filename": self.filename,
            "targets": list(self.targets),
            "download": self.download,
            **self.sizes.to_document(),
            "device_by_target": by_target,
        }
        if self.unsliced:
            document["unsliced"] = {
                **self.unsliced.sizes.to_document(),
                "unknown_files": self.unsliced.unknown_files,
            }
        return document


@dataclass(frozen=True)
class SizeReport:
    """The sizes of all packages, in the order in which they were named."""

    packages: tuple[PackageSizes, ...]

    @property
    def has_device(self) -> bool:
        """Whether any package is for GPUs: it has device code, or is for some of the targets."""
        return any(one.targets or one.sizes.device for one in self.packages)

    @property
    def thin(self) -> tuple[PackageSizes, ...]:
        """The packages that something was sliced for."""
        return tuple(one for one in self.packages if one.unsliced)

    def to_document(self) -> dict[str, Any]:
        """Return the report as JSON data."""
        sums = {"packages": self.packages, "thin_packages": self.thin}
        return {
            "packages": [one.to_document() for one in self.packages],
            "totals": {
                name: {
                    "count": len(some),
                    "download": download_of(some),
                    **total(one.sizes for one in some).to_document(),
                }
                for name, some in sums.items()
            },
        }


def download_of(packages: Iterable[PackageSizes]) -> int:
    """Return the bytes of the wheels of packages."""
    return sum(one.download for one in packages)
