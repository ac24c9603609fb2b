"""The distributions that `add` brings: found below directories, read, and described as the channel keeps them.

`signed` signs the statements that lie beside them, so that indexes can list these (PEP 740). Pages of an index, such
as `sdk_index` writes beside distributions, are left out: the channel has its own.
"""

import hashlib
import os
import stat
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO, Final

from packaging.requirements import InvalidRequirement
from packaging.version import Version
from securesystemslib.signer import Signer

from lib.common.command import CannotRunError
from lib.common.digest import Digest, file_sha256
from lib.common.distributions import parse_distributions
from lib.common.program import ToolError, named
from lib.gpus.paths import in_distribution, target_of_local_version
from lib.index.model import STATIC, Distribution, make_distribution, parse_filename
from lib.provenance.statement import SUFFIX as STATEMENT
from lib.provenance.statement import parse_statement
from lib.wheel.variant_format import INDEX_SUFFIX
from wheels.channel.model import File
from wheels.common.attestation import provenance_object
from wheels.common.sound_wheel import read_sound_wheel
from wheels.verify.checks import wheel_file
from wheels.verify.settings import Settings
from wheels.verify.wheel_set.gather import read_sdist
from wheels.verify.wheel_set.requirements import MAX_SIZE, is_selector_file, selected_requirements

SUFFIXES: Final = (".whl", ".tar.gz", INDEX_SUFFIX)
#: A text beside a file of the store, such as core metadata, has no more bytes.
_MAX_TEXT: Final = 1 << 24
_CHUNK: Final = 1 << 20


@dataclass(frozen=True)
class LocalFile:
    """A file of this machine that goes into the store."""

    source: Path
    file: File
    directory: str
    """The index that lists it: "" for the main one, else `static` or a GPU target."""
    metadata: bytes = b""
    """Core metadata of a wheel."""
    selector: str = ""
    """`_distributions.json`, if it has that."""
    provenance: bytes = b""
    """Its provenance object, if somebody has signed one."""

    def copy_to(self, output: BinaryIO) -> None:
        """Copy its bytes. Raises ToolError if they are not those that were read."""
        digest = hashlib.sha256()
        with self.source.open("rb") as source:
            while chunk := source.read(_CHUNK):
                digest.update(chunk)
                output.write(chunk)
        self.check_unchanged(digest.hexdigest())

    def check_unchanged(self, sha256: str = "") -> None:
        """Raise ToolError if the file was changed since it was read; `sha256` is what it has now, if that is known."""
        if (sha256 or file_sha256(self.source)) != self.file.sha256:
            raise ToolError(f"{self.source}: changed while it was sent; call this again when the build has ended")


def _paths(given: Path) -> Iterator[Path]:
    """Yield the distributions of a directory, or the given one."""
    if not given.exists():
        raise CannotRunError(f"{given.absolute()}: no such file or directory; expected distributions")
    if not given.is_dir():
        if not given.name.endswith(SUFFIXES):
            raise CannotRunError(f"{given}: not a distribution; expected a directory, a wheel or an sdist")
        yield given
        return
    for folder, folders, names in os.walk(given):
        folders.sort()
        yield from (Path(folder, name) for name in sorted(names) if name.endswith(SUFFIXES))


def read_local(given: Sequence[Path]) -> list[LocalFile]:
    """Read all distributions of directories and files, sorted by name. Raises ToolError for what is not one."""
    found: dict[str, LocalFile] = {}
    for root in given:
        for path in _paths(root):
            one = _read(path, is_static=root.is_dir() and path.parent.name == STATIC)
            other = found.setdefault(one.file.filename, one)
            if other.file.sha256 != one.file.sha256:
                raise ToolError(f"{path}: has other bytes than {other.source}; expected one file of a name")
    if not any(not one.file.is_variant_list for one in found.values()):
        raise CannotRunError(f"{', '.join(map(str, given))}: no wheel and no sdist; expected the output of a build")
    return [found[name] for name in sorted(found)]


def read_build(given: Sequence[Path], locked: Iterable[Path]) -> list[LocalFile]:
    """Read the distributions of one build, and `locked` ones, sorted by name. Raises ToolError as `read_local` does.

    Several versions of an SDK are several builds: somebody has named the directory above them.
    """
    files = read_local([*given, *locked])
    versions = sorted({Version(one.file.version.public) for one in files if one.selector})
    if len(versions) > 1:
        where, found = ", ".join(map(str, given)), named(list(map(str, versions)))
        raise CannotRunError(f"{where}: has the versions {found} of an SDK; expected one build. Name its directory")
    return files


def _read(path: Path, *, is_static: bool) -> LocalFile:
    if not stat.S_ISREG(path.stat().st_mode):
        raise ToolError(f"{path}: is not a regular file; expected a distribution. Remove it")
    digest = Digest(path.name, path.stat().st_size, file_sha256(path))
    if path.name.endswith(INDEX_SUFFIX):
        return _read_variant_list(path, digest)
    if path.name.endswith(".whl"):
        metadata, selector = _read_wheel(path)
    else:
        facts = read_sdist(path)
        if facts.metadata is None:
            raise ToolError(f"{path}: cannot be read: {facts.damage}. Build it again")
        metadata, selector = facts.metadata, facts.selector or b""
    about = make_distribution(digest, metadata, "")
    target = target_of_local_version(about.version.local)
    directory = STATIC if is_static else in_distribution(target) if target else ""
    file = _described(about, selector, path)
    return LocalFile(path, file, directory, metadata if file.is_wheel else b"", selector.decode())


def _read_wheel(path: Path) -> tuple[bytes, bytes]:
    """Return the core metadata of a wheel, and the selector's data or nothing.

    Raises ToolError if it is damaged or called otherwise than its tags say: pip and uv would refuse it, or take it for
    a wheel for another platform.
    """
    wheel = read_sound_wheel(path, rewrite_record=None).wheel
    for one in wheel_file.check(wheel, Settings()):
        if one.rule is wheel_file.TAGS:
            raise ToolError(f"{path}: {one.said}. {one.remedy}")
    with zipfile.ZipFile(path) as archive:
        found = (one for one in archive.infolist() if is_selector_file(one.filename) and one.file_size <= MAX_SIZE)
        selector = next((archive.read(one) for one in found), b"")
    return wheel.text("METADATA") or b"", selector


def _described(about: Distribution, selector: bytes, path: Path) -> File:
    fields = vars(about) | {"metadata_sha256": about.metadata_sha256 if about.is_wheel else ""}
    if selector and "requires-dist" in about.dynamic:
        try:
            chosen = selected_requirements(parse_distributions(selector))
        except (ValueError, InvalidRequirement) as error:
            raise ToolError(f"{path}: its selector's data cannot be read: {error}. Build it again") from None
        fields["requires"] = tuple(one for found in chosen.values() for one in found)
        fields["extras"] = tuple(sorted(set(chosen) - {""}))
    return File(**fields)


def _read_variant_list(path: Path, digest: Digest) -> LocalFile:
    name = path.name.removesuffix(INDEX_SUFFIX)
    project, version = parse_filename(f"{name}.tar.gz")
    if digest.size > _MAX_TEXT:
        raise ToolError(f"{path}: {digest.size} bytes; expected a list of wheel variants. Build it again")
    text = path.read_text(encoding="utf-8")
    file = File(path.name, digest.size, digest.sha256, "", "", project, version, content=text)
    return LocalFile(path, file, "")


def _statements(given: Sequence[Path]) -> Iterator[Path]:
    """Yield the statements below directories, and beside distributions."""
    for root in given:
        beside = root.with_name(root.name + STATEMENT)
        if not root.is_dir():
            yield from [beside] if beside.is_file() else []
        for folder, _, names in os.walk(root):
            yield from (Path(folder, name) for name in names if name.endswith(STATEMENT))


def signed(files: Sequence[LocalFile], given: Sequence[Path], signer: Signer | None) -> list[LocalFile]:
    """Return the files with the provenance that their statements give (PEP 740); those without one as they are.

    An unsigned statement is refused: everybody can write one, and what an index lists looks like proof. Raises
    CannotRunError if nobody signs, and ToolError for a statement of other bytes.
    """
    paths = {path.name.removesuffix(STATEMENT): path for path in _statements(given)}
    found = []
    for one in files:
        path = paths.get(one.file.filename)
        if path is None:
            found.append(one)
            continue
        if signer is None:
            raise CannotRunError(f"{path}: is not signed. Name a key with --key, or leave the statements out")
        text = path.read_bytes()
        if (stated := parse_statement(text, str(path))).sha256 != one.file.sha256:
            raise ToolError(
                f"{path}: is of the sha256 {stated.sha256}; {one.source} has {one.file.sha256}. Build both together"
            )
        content = provenance_object(text, signer)
        file = replace(one.file, provenance_sha256=hashlib.sha256(content).hexdigest())
        found.append(replace(one, file=file, provenance=content))
    return found
