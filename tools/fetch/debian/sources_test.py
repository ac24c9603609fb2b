"""Tests of reading apt's sources, in both styles."""

from pathlib import Path

import pytest

from tools.fetch.debian.sources import Source, parse_deb822, parse_one_line, read_sources

DEBIAN = """\
Types: deb deb-src
# where it came from
URIs: http://mirror.invalid/debian
Suites: bookworm bookworm-updates bookworm-backports
Components: main contrib
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg

Types: deb
URIs: http://mirror.invalid/debian-security
Suites: bookworm-security
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
"""


@pytest.mark.parametrize(
    ("line", "source"),
    [
        ("deb http://m/debian sid main", Source(("http://m/debian",), ("sid",), ("main",))),
        (
            "deb [ arch=amd64,i386 signed-by=/k.gpg check-valid-until=no ] http://m/debian sid main contrib # yes",
            Source(
                ("http://m/debian",), ("sid",), ("main", "contrib"), {"Signed-By": "/k.gpg", "Check-Valid-Until": "no"}
            ),
        ),
        ("deb [trusted=yes] http://m/debian sid main", Source(("http://m/debian",), ("sid",), ("main",))),
        ("deb http://m/flat ./", Source(("http://m/flat",), ("./",), ())),
    ],
)
def test_one_line(line: str, source: Source) -> None:
    assert parse_one_line(line) == [source]


@pytest.mark.parametrize(
    "line", ["", "# deb http://m/debian sid main", "deb-src http://m sid main", "deb cdrom:[Debian 12 x]/ sid main"]
)
def test_lines_that_are_no_sources_of_packages(line: str) -> None:
    assert parse_one_line(line) == []


def test_deb822_that_is_switched_off_or_of_sources() -> None:
    assert parse_deb822(DEBIAN.replace("Types: deb\n", "Types: deb-src\n").replace("deb deb-src", "deb-src")) == []
    assert parse_deb822("Enabled: no\n" + DEBIAN.split("\n\n")[0]) == []


def test_files_in_the_order_of_apt(tmp_path: Path) -> None:
    parts = tmp_path / "sources.list.d"
    parts.mkdir()
    (tmp_path / "sources.list").write_text("deb http://one/debian trixie main\n")
    (parts / "b.sources").write_text(DEBIAN)
    (parts / "a.list").write_text("deb http://two/debian trixie main\n")
    (parts / "c.list.save").write_text("deb http://never/debian trixie main\n")
    uris = [one.uris[0] for one in read_sources(tmp_path / "sources.list", parts)]
    assert uris == [
        "http://one/debian",
        "http://two/debian",
        "http://mirror.invalid/debian",
        "http://mirror.invalid/debian-security",
    ]
    assert read_sources(tmp_path / "none", tmp_path / "none.d") == []
