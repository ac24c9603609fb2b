"""A release holds what its last candidate held, byte by byte, except the few files that contain the version."""

import gzip
import io
import os
import tarfile
from pathlib import Path
from zipfile import ZipFile

import pytest

CANDIDATE, RELEASE = (Path(os.environ[name]).absolute() for name in ("CANDIDATE", "DIST"))
OLD, NEW = "7.10.0rc2", "7.10.0"
#: A file of a distribution: permission bits, size in the archive (of a wheel), content.
Content = tuple[int, int, bytes]


def wheel_files(path: Path) -> dict[str, Content]:
    """Return the files of a wheel; the metadata directory is called `dist-info`."""
    with ZipFile(path) as archive:
        return {
            member.filename.replace(f"{'-'.join(path.name.split('-')[:2])}.dist-info", "dist-info"): (
                member.external_attr >> 16,
                member.compress_size,
                archive.read(member),
            )
            for member in archive.infolist()
        }


def sdist_files(path: Path) -> dict[str, Content]:
    """Return the files of an sdist, relative to its only directory."""
    with tarfile.open(fileobj=io.BytesIO(gzip.decompress(path.read_bytes()))) as archive:
        return {
            member.name.partition("/")[2]: (member.mode, 0, file.read())
            for member in archive.getmembers()
            if (file := archive.extractfile(member)) is not None
        }


def differing(old: dict[str, Content], new: dict[str, Content]) -> set[str]:
    """Return the names of files that are not the same in both, or not in both."""
    return {name for name in old.keys() | new.keys() if old.get(name) != new.get(name)}


def distributions(pattern: str) -> list[str]:
    return sorted(str(path.relative_to(CANDIDATE)) for path in CANDIDATE.glob(pattern))


def test_both_have_the_same_distributions() -> None:
    for pattern in ("*.whl", "*.tar.gz", "static/*.whl"):
        renamed = [name.replace(OLD, NEW) for name in distributions(pattern)]
        assert renamed
        assert renamed == sorted(str(path.relative_to(RELEASE)) for path in RELEASE.glob(pattern))


@pytest.mark.parametrize("name", distributions("*.whl"))
def test_a_wheel_differs_where_it_says_its_version_alone(name: str) -> None:
    old, new = wheel_files(CANDIDATE / name), wheel_files(RELEASE / name.replace(OLD, NEW))
    lists = {file for file in old if file.startswith("dist-info/sboms/")}
    modules = {file for file in old if file.endswith("/_version.py")}
    manifests = {file for file in old if file.endswith(".json") and "/.devel_links/" in file}
    assert differing(old, new) == {"dist-info/METADATA", "dist-info/RECORD"} | lists | modules | manifests
    assert [file for file in old if not file.startswith("dist-info/")], "nothing was compared"
    assert OLD.encode() in old["dist-info/METADATA"][2]
    assert OLD.encode() not in new["dist-info/METADATA"][2], "a requirement, or the version itself, is of the candidate"


def test_no_other_file_says_the_version() -> None:
    """If one did, it would not be the same in both; so this looks at what the comparison cannot: both are wrong."""
    for name in distributions("*.whl"):
        for file, (_, _, content) in wheel_files(CANDIDATE / name).items():
            may = file.startswith("dist-info/") or file.endswith("/_version.py") or "/.devel_links/" in file
            assert may or OLD.encode() not in content, f"{name}: {file}"


def test_the_selector_differs_where_it_says_the_version() -> None:
    (sdist,), (static,) = distributions("*.tar.gz"), distributions("static/*.whl")
    files = sdist_files(CANDIDATE / sdist), sdist_files(RELEASE / sdist.replace(OLD, NEW))
    assert differing(*files) == {"PKG-INFO", "src/rocm_sdk/_distributions.json"}
    files = wheel_files(CANDIDATE / static), wheel_files(RELEASE / static.replace(OLD, NEW))
    lists = {file for file in files[0] if file.startswith("dist-info/sboms/")}
    assert differing(*files) == {"dist-info/METADATA", "dist-info/RECORD", "rocm_sdk/_distributions.json"} | lists
