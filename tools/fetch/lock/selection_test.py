"""Tests of the choice of archives, and of checksum files."""

import pytest

from lib.common.program import ToolError
from tools.fetch.lock.run_listing import ListedFile
from tools.fetch.lock.tool import RunArchive, archives_of, select, serves
from tools.fetch.lock.web import parse_sha256sum

RUN = "https://host/1-linux/"
NAMES = [
    "base_lib_generic", "blas_dev_generic", "blas_lib_generic", "blas_lib_gfx1100", "blas_lib_gfx1101",
    "blas_lib_gfx942", "blas_lib_gfx942:xnack+", "rand_lib_gfx110X-all", "rand_test_gfx94X-dcgpu",
]  # fmt: skip


def archives() -> list[RunArchive]:
    return archives_of([ListedFile(f"{name}.tar.zst", 1) for name in NAMES], [], RUN)


def names(*wanted: str) -> list[str]:
    return [str(archive.artifact) for archive in select(archives(), wanted)]


GENERIC = NAMES[:3]


def test_all() -> None:
    assert names() == NAMES


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (["gfx110X-all"], ["blas_lib_gfx1100", "blas_lib_gfx1101", "rand_lib_gfx110X-all"]),
        (["gfx1101", "gfx942:xnack+"], ["blas_lib_gfx1101", "blas_lib_gfx942:xnack+"]),
        (["gfx942"], ["blas_lib_gfx942", "blas_lib_gfx942:xnack+"]),
        (["gfx942:xnack+"], ["blas_lib_gfx942:xnack+"]),
        (["gfx94X-dcgpu"], ["blas_lib_gfx942", "blas_lib_gfx942:xnack+", "rand_test_gfx94X-dcgpu"]),
    ],
)
def test_filters(wanted: list[str], expected: list[str]) -> None:
    assert names(*wanted) == GENERIC + expected


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        (["gfx942", "gfx120X-all"], "--target=gfx120X-all: the run has no archives for it; it has: gfx1100, gfx1101, "),
        (["gfx1200"], "--target=gfx1200: the run has no archives for it; it has: gfx1100, gfx1101, gfx110X-all"),
    ],
)
def test_filters_that_nothing_passes(wanted: list[str], message: str) -> None:
    with pytest.raises(ToolError) as caught:
        names(*wanted)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("target", "family", "expected"),
    [
        ("gfx1100", "gfx110X-all", True),
        ("gfx110X-all", "gfx110X-all", True),
        ("gfx110X-dgpu", "gfx110X-all", False),
        ("gfx90a", "gfx90X-dcgpu", True),
        ("gfx942:xnack+", "gfx94X-dcgpu", True),
        ("gfx1100", "gfx11X", False),
        ("gfx1151", "gfx1151", True),
        ("gfx11000", "gfx110X-all", False),
        ("gfx1103", "gfx110X-dgpu", False),
        ("gfx1201", "gfx12-5", False),
        ("gfx1250-strict", "gfx125X", True),
    ],
)
def test_families(target: str, family: str, expected: bool) -> None:
    assert serves(target, family) is expected


def test_other_files_are_passed_over() -> None:
    files = [ListedFile(name, 1) for name in ("index.html", "a_lib_generic.tar.zst", "a_lib_generic.tar.zst.sha256sum")]
    assert [archive.file.name for archive in archives_of(files, [], RUN)] == ["a_lib_generic.tar.zst"]


def test_archives_that_are_no_artifacts() -> None:
    files = [ListedFile("a_lib_generic.tar.zst", 1), ListedFile("ninja_logs.tar.gz", 1)]
    with pytest.raises(ToolError) as caught:
        archives_of(files, [], RUN)
    assert str(caught.value) == (
        f"{RUN} lists ninja_logs.tar.gz: expected an archive named {{name}}_{{component}}_{{target}} with a component "
        "of lib, run, dev, dbg, doc, test; check --base-url, or skip it with --ignore=ninja_logs.tar.gz"
    )
    assert len(archives_of(files, ["*_logs.tar.gz"], RUN)) == 1


def test_two_archives_of_one_artifact() -> None:
    with pytest.raises(ToolError, match=r"lists a_lib_generic.tar.xz and a_lib_generic.tar.zst, the same artifact"):
        archives_of([ListedFile("a_lib_generic.tar.xz", 1), ListedFile("a_lib_generic.tar.zst", 1)], [], RUN)


def test_no_archives() -> None:
    with pytest.raises(ToolError) as caught:
        archives_of([ListedFile("index.html", 1)], [], RUN)
    assert str(caught.value) == f"{RUN} lists no archives of artifacts, among 1 files; check --run-id"


DIGEST = "0123456789abcdef" * 4


@pytest.mark.parametrize(
    "text", [f"{DIGEST}  x.tar.zst\n", f"{DIGEST} *x.tar.zst", f"{DIGEST.upper()}  d/x.tar.zst\n", DIGEST]
)
def test_checksums(text: str) -> None:
    assert parse_sha256sum(text, "x.tar.zst", "URL") == DIGEST


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "URL: expected one line like '00000000…  x', found ''"),
        ("<html>", "URL: expected one line like '00000000…  x', found '<html>'"),
        (DIGEST[1:] + "  x\n", "URL: expected one line like "),
        (f"{DIGEST}  x\n{DIGEST}  y\n", "URL: expected one line like "),
        (f"{DIGEST}  y\n", "URL: has the digest of 'y'; expected the digest of x"),
    ],
)
def test_checksums_as_they_should_not_be(text: str, message: str) -> None:
    with pytest.raises(ToolError) as caught:
        parse_sha256sum(text, "x", "URL")
    assert str(caught.value).startswith(message)
