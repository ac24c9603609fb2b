"""Which sources ROCm comes from; that packages are fetched and unpacked, tools/fetch/debian has the tests of."""

from pathlib import Path

import pytest

from develop.real_rocm import fetch
from develop.real_rocm.fetch import sources_of
from develop.real_rocm.releases import RELEASES
from tools.fetch.debian.sources import deb822

SOURCES = """\
deb http://mirror.invalid/debian bookworm main contrib
deb http://mirror.invalid/debian bookworm-updates main
deb http://mirror.invalid/debian-security bookworm-security main
deb http://other.invalid/tools stable main
"""


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "sources.list").write_text(SOURCES)
    monkeypatch.setattr(fetch, "machine_lists", lambda: (tmp_path / "sources.list", tmp_path / "none"))
    return tmp_path


@pytest.mark.parametrize(("rocm", "suites"), [(5, "trixie"), (7, "sid experimental")])
def test_the_suites_of_a_release_and_no_updates(machine: Path, rocm: int, suites: str) -> None:
    assert machine.is_dir()
    assert deb822(sources_of(RELEASES[rocm])) == (
        f"Types: deb\nURIs: http://mirror.invalid/debian\nSuites: {suites}\nComponents: main\nCheck-Valid-Until: no\n"
    )
