"""Tests of reading apt's sources, in both styles."""

from pathlib import Path

import pytest

from lib.common.program import ToolError
from tools.fetch.debian.sources import AptSource, choose, deb822, parse_deb822, parse_one_line, read_sources

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
        ("deb http://m/debian sid main", AptSource(("http://m/debian",), ("sid",), ("main",))),
        (
            "deb [ arch=amd64,i386 signed-by=/k.gpg check-valid-until=no ] http://m/debian sid main contrib # yes",
            AptSource(
                ("http://m/debian",), ("sid",), ("main", "contrib"), {"Signed-By": "/k.gpg", "Check-Valid-Until": "no"}
            ),
        ),
        ("deb [trusted=yes] http://m/debian sid main", AptSource(("http://m/debian",), ("sid",), ("main",))),
        ("deb http://m/flat ./", AptSource(("http://m/flat",), ("./",), ())),
    ],
)
def test_one_line(line: str, source: AptSource) -> None:
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
UBUNTU = """\
Types: deb
URIs: http://mirror.invalid/ubuntu/
Suites: noble noble-updates noble-backports
Components: main restricted universe multiverse
Signed-By: /usr/share/keyrings/ubuntu-archive-keyring.gpg

## Updates of security
Types: deb
URIs: http://security.invalid/ubuntu/
Suites: noble-security
Components: main restricted universe multiverse
Signed-By: /usr/share/keyrings/ubuntu-archive-keyring.gpg
"""
UBUNTU_ONE_LINE = """\
# See the manual.
deb http://mirror.invalid/ubuntu/ jammy main restricted
# deb-src http://mirror.invalid/ubuntu/ jammy main restricted
deb http://mirror.invalid/ubuntu/ jammy-updates main restricted  # of the release
deb http://mirror.invalid/ubuntu/ jammy universe
deb http://mirror.invalid/ubuntu/ jammy-updates universe
deb http://mirror.invalid/ubuntu/ jammy-backports main restricted universe multiverse
deb http://security.invalid/ubuntu jammy-security main restricted
"""
#: Third-party sources, with the names of suites that distributions have.
OTHERS = """\
deb [arch=amd64 signed-by=/etc/apt/keyrings/docker.gpg] https://containers.invalid/linux/debian bookworm stable
deb https://monitoring.invalid stable main
deb https://cloud.invalid/apt cloud-sdk-bookworm main
deb https://database.invalid/pub/repos/apt/ bookworm-pgdg main
deb [signed-by=/etc/apt/keyrings/x.asc] https://ppa.invalid/someone/ppa/ubuntu noble main
"""


def test_debian() -> None:
    choice = choose(parse_one_line(OTHERS) + parse_deb822(DEBIAN), "")
    assert (choice.distribution, choice.suite) == ("Debian", "trixie")
    assert (
        deb822(choice)
        == """\
Types: deb
URIs: http://mirror.invalid/debian
Suites: trixie trixie-updates
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg

Types: deb
URIs: http://mirror.invalid/debian-security
Suites: trixie-security
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
"""
    )


def test_ubuntu_keeps_its_release() -> None:
    choice = choose(parse_deb822(UBUNTU), "")
    assert (choice.distribution, choice.suite) == ("Ubuntu", "noble")
    assert [one.suites for one in choice.sources] == [("noble", "noble-updates"), ("noble-security",)]
    assert {one.components for one in choice.sources} == {("main", "universe")}


def test_ubuntu_of_one_line_each() -> None:
    choice = choose(parse_one_line(OTHERS + UBUNTU_ONE_LINE), "")
    assert (choice.distribution, choice.suite) == ("Ubuntu", "jammy")
    assert (
        deb822(choice)
        == """\
Types: deb
URIs: http://mirror.invalid/ubuntu/
Suites: jammy
Components: main universe

Types: deb
URIs: http://mirror.invalid/ubuntu/
Suites: jammy-updates
Components: main universe

Types: deb
URIs: http://security.invalid/ubuntu
Suites: jammy-security
Components: main universe
"""
    )


def test_another_suite() -> None:
    assert [one.suites for one in choose(parse_deb822(UBUNTU), "plucky").sources] == [
        ("plucky", "plucky-updates"),
        ("plucky-security",),
    ]
    rolling = choose(parse_deb822(DEBIAN), "sid")
    assert [one.suites for one in rolling.sources] == [("sid",)], "sid has neither updates nor security"


def test_keys_that_are_written_out() -> None:
    key = " -----BEGIN PGP PUBLIC KEY BLOCK-----\n .\n mDMEZ\n -----END PGP PUBLIC KEY BLOCK-----"
    text = f"Types: deb\nURIs: http://m/debian\nSuites: trixie\nComponents: main\nSigned-By:\n{key}\n"
    choice = choose(parse_deb822(text + "\n  \n# the end\n"), "")
    assert deb822(choice) == text.replace("Signed-By:\n", "Signed-By: \n")


def test_a_mirror_of_another_name_is_told_by_its_key() -> None:
    keyring = "[signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]"
    assert choose(parse_one_line(f"deb {keyring} http://m/proxy/remote trixie main"), "").distribution == "Debian"
    (listed,) = parse_one_line("deb mirror+file:/etc/apt/mirrors/debian.list trixie main")
    assert listed.distribution == "Debian"


def test_no_source_of_a_distribution() -> None:
    with pytest.raises(ToolError, match="no source of Debian or Ubuntu; expected one in /etc/apt/sources"):
        choose(parse_one_line(OTHERS), "")


def test_only_updates() -> None:
    security = DEBIAN.partition("\n\n")[2]
    with pytest.raises(ToolError, match=r"of no release itself: bookworm-security. Add the release to"):
        choose(parse_deb822(security), "")
    with pytest.raises(ToolError, match="of no release itself: bookworm-backports"):
        choose(parse_deb822(security.replace("-security\nC", "-backports\nC")), "")
