"""Reads a wheel to make others of it, and refuses a wheel that cannot be trusted: its files must be as RECORD says.

Installers such as pip take a wheel whose RECORD is wrong. With `rewrite_record` it is read, too: RECORD of the new
wheels is written from the files, and callers say what was wrong with the old one.

`verify` reads it, every byte once, in bounded memory; its rules say what is wrong with an archive. Here is which of
them a wheel must keep, so that its parts mean the same to every installer.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from packaging.version import Version

from lib.common.command import CannotRunError
from lib.common.digest import file_sha256
from lib.common.program import ToolError, size_text
from lib.wheel.metadata_editor import CoreMetadata, parse_core_metadata
from lib.wheel.wheel_name import WheelName, read_name
from lib.wheel.zip_members import ZipMember
from wheels.verify.checks import archive, names, record
from wheels.verify.engine import Request, read_distributions
from wheels.verify.finding import Finding
from wheels.verify.model import Collector, Wheel
from wheels.verify.settings import Settings
from wheels.verify.wheel import open_wheel

#: What writing RECORD anew mends. A RECORD that cannot be read is not among these: no installer takes such a wheel.
MENDED: Final = frozenset((record.UNLISTED, record.ABSENT, record.CHANGED))
#: What no wheel may break. Names that clash on other systems, say, are not our business: new wheels have them as well.
RULES: Final = MENDED | {
    *(archive.UNREADABLE, archive.DUPLICATE, archive.MISMATCH, archive.OVERLAP, archive.METHOD, archive.DAMAGED),
    *(names.SPECIAL, names.OUTSIDE, record.UNREADABLE),
}
#: Files that sign RECORD (PEP 427).
SIGNATURES: Final = ("RECORD.jws", "RECORD.p7s")
#: Wheels inflate to three times their size, up to thirty with much device code. What is small may be anything.
MAX_RATIO: Final = 200
MAX_SMALL: Final = 256 << 20
#: So many findings are named; the rest is a number.
_SHOWN: Final = 5


@dataclass(frozen=True)
class SoundWheel:
    """A sound wheel, all of whose bytes were read."""

    path: Path
    sha256: str
    """Of the wheel itself, in hex."""
    stamp: tuple[int, int]
    """Size in bytes and time of the last change in nanoseconds, to tell whether it is still the same."""
    name: WheelName
    wheel: Wheel
    metadata: CoreMetadata
    members: Mapping[str, ZipMember]
    record_faults: tuple[str, ...] = ()
    """What is wrong with RECORD, for people; empty unless `rewrite_record` accepts it."""

    def record_lines(self) -> Iterator[str]:
        """Yield what people are told of a RECORD, and its signatures, because new wheels have another one."""
        yield from (f"    RECORD is written anew: {fault}" for fault in self.record_faults[:_SHOWN])
        if len(self.record_faults) > _SHOWN:
            yield f"    RECORD is written anew: {len(self.record_faults) - _SHOWN} more lines of it were wrong"
        signatures = (f"{self.wheel.dist_info}/{name}" for name in SIGNATURES)
        yield from (f"    without {one}, which signs the old RECORD" for one in signatures if one in self.wheel.files)

    def check_unchanged(self) -> None:
        """Raise ToolError if the file was changed since it was read."""
        if _stamp(self.path) != self.stamp:
            raise CannotRunError(f"{self.path}: was changed while it was read; nothing was written. Try again")


def read_sound_wheel(
    path: Path, *, rewrite_record: bool | None = False, collectors: tuple[Collector, ...] = ()
) -> SoundWheel:
    """Read a wheel and all of its files. Raises ToolError if it cannot be trusted.

    With `rewrite_record`, the files count and not RECORD, as long as it can be read; None if the caller has no such
    option. `collectors` take more out of the files than the rules of rocm-wheels verify need.
    """
    check_wheel(path)
    stamp = _stamp(path)
    _check_inflated_size(path)
    [wheel] = read_distributions([path], Request(wheel_set=False, collectors=collectors)).wheels
    faults = _check_findings(wheel, rewrite_record=rewrite_record)
    version, dist_info = _named(wheel)
    metadata = parse_core_metadata(wheel.text("METADATA") or b"", f"{path}: {dist_info}/METADATA")
    if "-" not in dist_info.removesuffix(".dist-info"):
        raise ToolError(f"{path}: {dist_info}; expected NAME-VERSION.dist-info in the wheel. Build the wheel again")
    [said] = metadata.values("Version")
    if not _is_version(said, version):
        raise ToolError(f"{path}: METADATA says version {said}, the file name {version}. Build the wheel again")
    members = {member.name: member for member in wheel.archive.members if not member.is_directory}
    name = read_name(path.name, dist_info, version)
    return SoundWheel(path, file_sha256(path), stamp, name, wheel, metadata, members, faults)


def check_wheel(path: Path) -> None:
    """Raise CannotRunError unless there is a file that is called like a wheel."""
    if not path.exists():
        raise CannotRunError(f"{path}: no such file; expected a wheel. Correct the path")
    if not path.is_file() or path.suffix != ".whl":
        raise CannotRunError(f"{path}: is not a wheel; expected a file NAME-VERSION-…-PLATFORM.whl")


def _stamp(path: Path) -> tuple[int, int]:
    stat = path.stat()
    return stat.st_size, stat.st_mtime_ns


def _findings(wheel: Wheel) -> Iterator[Finding]:
    for module in (archive, names, record):
        yield from module.check(wheel, Settings())


def _check_findings(wheel: Wheel, *, rewrite_record: bool | None) -> tuple[str, ...]:
    """Return what is wrong with RECORD, if that is to be mended. Raises ToolError for whatever else is wrong."""
    findings = sorted((one for one in _findings(wheel) if one.rule in RULES), key=lambda one: one.sort_key)
    refused = [one for one in findings if not (rewrite_record and one.rule in MENDED)]
    if refused:
        more = f"\n  and {len(refused) - _SHOWN} more" if len(refused) > _SHOWN else ""
        shown = "".join(f"\n  {one.id} {one.rule.title}: {one.file} {one.said}" for one in refused[:_SHOWN])
        remedy = refused[0].remedy
        if rewrite_record is not None and all(one.rule in MENDED for one in refused):
            remedy += (
                " If you cannot change the wheel and know that its authors published it like this, "
                "--rewrite-record takes the files as they are"
            )
        raise ToolError(f"{wheel.path}: this wheel is damaged or not to be trusted:{shown}{more}\n{remedy}")
    return tuple(map(_fault, findings))


def _fault(finding: Finding) -> str:
    said = "RECORD lists it, and the wheel lacks it" if finding.rule is record.ABSENT else finding.said
    return f"{finding.file}: {said}"


def _check_inflated_size(path: Path) -> None:
    """Raise ToolError for what inflates to more than wheels do, before a byte of it is inflated."""
    opened = open_wheel(path)
    size = sum(member.size for member in opened.archive.members)
    if size > MAX_SMALL and size > MAX_RATIO * opened.size:
        raise ToolError(
            f"{path}: {size_text(opened.size)} that inflate to {size_text(size)}; expected {MAX_RATIO} times as many "
            "at most. No build makes such wheels: find out where it comes from"
        )


def _is_version(text: str, version: Version) -> bool:
    try:
        return Version(text) == version
    except ValueError:  # InvalidVersion, or too many digits for Python.
        return False


def _named(wheel: Wheel) -> tuple[Version, str]:
    """Return version and .dist-info directory. Raises ToolError unless both are there, and METADATA and WHEEL."""
    if wheel.version is None:
        raise ToolError(f"{wheel.path}: not a wheel's file name; expected NAME-VERSION-PYTHON-ABI-PLATFORM")
    missing = [name for name in ("METADATA", "WHEEL") if wheel.text(name) is None]
    if wheel.dist_info is None or missing:
        what = "one .dist-info directory" if wheel.dist_info is None else f"{wheel.dist_info}/{missing[0]}"
        raise ToolError(f"{wheel.path}: expected {what} in the wheel. Build the wheel again")
    return wheel.version, wheel.dist_info
