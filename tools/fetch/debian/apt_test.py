"""Tests of the private apt: with programs that stand in for apt's, and with apt itself on a repository of the test."""

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from develop.testing.debian_sample import write_deb
from lib.common.program import ToolError
from tools.fetch.debian import apt as apt_module
from tools.fetch.debian.apt import Apt, DebianPackage, reaching

PROGRAMS = ("apt-get", "apt-config", "apt-cache", "dpkg-deb")
needs_apt = pytest.mark.skipif(not all(map(shutil.which, PROGRAMS)), reason="only Debian and its kin have apt")

DUMP = """\
Acquire "";
Acquire::http "";
Acquire::http::Proxy "http://proxy.invalid:3128";
Acquire::https::Verify-Peer "true";
Acquire::Check-Valid-Until "false";
Acquire::Languages "none";
Acquire::Languages:: "none";
Acquire::IndexTargets::deb::DEP-11::DefaultEnabled "false";
Acquire::http::Proxy-Auto-Detect "/nowhere/proxy";
Acquire::https::ProxyAutoDetect "/proc/self/exe";
"""


def test_settings_about_reaching_the_mirror() -> None:
    assert reaching(DUMP) == [
        'Acquire::http "";',
        'Acquire::http::Proxy "http://proxy.invalid:3128";',
        'Acquire::https::Verify-Peer "true";',
        'Acquire::Check-Valid-Until "false";',
        'Acquire::https::ProxyAutoDetect "/proc/self/exe";',
    ]


SIMULATED = """\
Reading package lists...
The following NEW packages will be installed:
  libc6 librocblas0
Inst libc6 (2.41-12 Debian:13.5/stable [amd64]) []
Inst librocblas0 [1.0] (5.5.1+dfsg-7 Debian:13.5/stable [amd64])
Conf libc6 (2.41-12 Debian:13.5/stable [amd64])
"""
SHOWN = """\
Package: librocblas0
Source: rocblas
Version: 5.5.1+dfsg-7
Architecture: amd64
Description: library
 of something
SHA256: aa

Package: librocblas0
Version: 5.0
Architecture: amd64
SHA256: bb

Package: libc6
Version: 2.41-12
Architecture: amd64
SHA256: cc
"""


DEPENDING = """\
Package: libx1
Version: 1
Depends: libc6 (>= 2.38), liblong4 (= 1) | libnone, none | tool:any, libx1
Pre-Depends: libc6

Package: liblong4t64
Version: 1
Provides: liblong4 (= 1), libother
Depends: libc6

Package: tool
Version: 1

Package: libc6
Version: 1
"""


class FakeApt:
    """A machine whose apt is a few programs of the test's."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.root = root
        self.programs = root / "bin"
        self.lists = root / "sources.list.d"
        self.programs.mkdir()
        self.lists.mkdir()
        self.answers("apt-config", "amd64", "Acquire", DUMP)
        self.says("apt-get", SIMULATED)
        self.says("dpkg-deb", "")
        self.answers("apt-cache", SHOWN, "pkgnames", "librocblas0\nlibc6\n")
        (self.lists / "debian.list").write_text("deb http://mirror.invalid/debian bookworm main\n")
        monkeypatch.setenv("PATH", str(self.programs))
        monkeypatch.setattr(apt_module, "machine_lists", lambda: (root / "sources.list", self.lists))

    def answers(self, name: str, usually: str, argument: str, otherwise: str) -> None:
        """Let a program print something, and something else if it is called with that argument."""
        output = f"{otherwise!r} if {argument!r} in sys.argv else {usually!r}"
        (self.programs / name).write_text(f"#!{sys.executable}\nimport sys\nsys.stdout.write({output})\n")
        (self.programs / name).chmod(0o755)

    def says(self, name: str, output: str, error: str = "", code: int = 0) -> None:
        """Let a program print something and exit."""
        lines = [f"#!{sys.executable}", "import sys", f"sys.stdout.write({output!r})", f"sys.stderr.write({error!r})"]
        (self.programs / name).write_text("\n".join([*lines, f"sys.exit({code})", ""]))
        (self.programs / name).chmod(0o755)

    def create(self, suite: str = "") -> Apt:
        """Make the private apt."""
        return Apt.create(self.root / "apt", suite)


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeApt:
    return FakeApt(tmp_path, monkeypatch)


def test_configuration(fake: FakeApt) -> None:
    fake.create()
    configuration = (fake.root / "apt/apt.conf").read_text()
    assert f'Dir::State "{fake.root}/apt/state";\n' in configuration
    assert f'Dir::Etc::sourceparts "{fake.root}/apt/sources.list.d";\n' in configuration
    assert 'Acquire::http::Proxy "http://proxy.invalid:3128";\n' in configuration
    assert 'APT::Architectures { "amd64"; };\n' in configuration
    assert "DEP-11" not in configuration
    sources = (fake.root / "apt/sources.list.d/packages.sources").read_text()
    assert sources == "Types: deb\nURIs: http://mirror.invalid/debian\nSuites: trixie\nComponents: main\n"


@pytest.mark.parametrize("name", ['a"b', "a\nb", "a\tb"])
def test_a_directory_that_the_configuration_cannot_have(fake: FakeApt, name: str) -> None:
    with pytest.raises(
        ToolError, match=r"cannot have a directory with .* in its name. Choose another --output_user_root"
    ):
        Apt.create(fake.root / name, "")


@needs_apt
@pytest.mark.parametrize("name", ["a b", "a\\b", "a'b", "a;b", "a{b}", "a%41b", "#clear", "aéb", "a//b"])
def test_a_directory_that_apt_reads_as_it_is(fake: FakeApt, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    apt = Apt.create(fake.root / name, "")
    monkeypatch.setenv("APT_CONFIG", str(apt.directory / "apt.conf"))
    found = subprocess.run(
        ["/usr/bin/apt-config", "shell", "x", "Dir::State/d"], capture_output=True, text=True, check=True
    )
    quoted = str(apt.directory / "state/").replace("'", "'\\''")
    assert found.stdout == f"x='{quoted}/'\n"


def test_resolve(fake: FakeApt) -> None:
    libc, rocblas = fake.create().resolve(["librocblas0"])
    assert libc == DebianPackage("libc6", "2.41-12", "libc6", "amd64", "cc")
    assert rocblas == DebianPackage("librocblas0", "5.5.1+dfsg-7", "rocblas", "amd64", "aa")


def test_dependencies(fake: FakeApt) -> None:
    """Alternatives count if they are there, and names that others provide."""
    apt = fake.create()
    packages = [DebianPackage(name, "1", name, "amd64", "") for name in ("libx1", "liblong4t64", "libc6", "tool")]
    fake.answers("apt-cache", DEPENDING, "pkgnames", "")
    assert apt.dependencies(packages) == {
        "libc6": [],
        "liblong4t64": ["libc6"],
        "libx1": ["libc6", "liblong4t64", "tool"],
        "tool": [],
    }


@pytest.mark.parametrize("program", PROGRAMS)
def test_no_apt(fake: FakeApt, program: str) -> None:
    (fake.programs / program).unlink()
    with pytest.raises(
        ToolError, match=f"and {program} is not there; expected Debian or Ubuntu. Elsewhere, build from a directory"
    ):
        fake.create()


def test_no_such_package(fake: FakeApt) -> None:
    apt = fake.create("sid")
    assert apt.absent(["libc6", "libnone", "libother"]) == ["libnone", "libother"]
    with pytest.raises(ToolError, match=r"Debian sid has no package libnone; correct `packages`, or"):
        apt.resolve(["libc6", "libnone"])


def test_what_cannot_be_installed(fake: FakeApt) -> None:
    unmet = "Reading...\nThe following packages have unmet dependencies:\n x : Depends: y but it is not installable\n"
    apt = fake.create()
    fake.says("apt-get", unmet, "W: a warning\nE: held broken packages.\n", 100)
    with pytest.raises(
        ToolError, match=r"depend on: apt-get failed:\n   x : Depends: y .*\n  W: a .*\n  E: held broken"
    ):
        apt.resolve(["librocblas0"])


def test_files_come_in_the_order_of_the_packages(fake: FakeApt) -> None:
    apt = fake.create()
    saved = "for one in sys.argv[3:]:\n    open(one.replace('=', '_') + '_amd64.deb', 'w').close()\n"
    (fake.programs / "apt-get").write_text(f"#!{sys.executable}\nimport sys\n{saved}")
    packages = [DebianPackage(name, "1", name, "amd64", "") for name in ("librocblas0", "libc6")]
    names = [path.name for path in apt.download(packages, fake.root / "debs")]
    assert names == ["librocblas0_1_amd64.deb", "libc6_1_amd64.deb"]


def test_no_network(fake: FakeApt) -> None:
    apt = fake.create()
    fake.says("apt-get", "", "E: Failed to fetch http://mirror.invalid  Could not resolve\n", 100)
    said = r"lists of Debian trixie .*failed:\n  E: Failed .*\nCheck the network .*trixie needs another `suite`"
    with pytest.raises(ToolError, match=said):
        apt.update()


@needs_apt
def test_unsigned_sources_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repository = unsigned_repository(tmp_path / "debian")
    lists = tmp_path / "lists"
    lists.mkdir()
    monkeypatch.setattr(apt_module, "machine_lists", lambda: (tmp_path / "none", lists))
    for options in ("", "[trusted=yes] ", "[allow-insecure=yes] "):
        (lists / "debian.list").write_text(f"deb {options}file:{repository} trixie main\n")
        with pytest.raises(ToolError, match="is not signed"):
            Apt.create(tmp_path / "apt", "").update()


def unsigned_repository(directory: Path) -> Path:
    """Make a repository of one package, trixie, that nobody has signed."""
    index = directory / "dists/trixie/main/binary-amd64/Packages"
    index.parent.mkdir(parents=True)
    package = write_deb(directory / "x_1_amd64.deb")
    digest = hashlib.sha256(package.read_bytes()).hexdigest()
    index.write_text(
        f"Package: x\nVersion: 1\nArchitecture: amd64\nFilename: x_1_amd64.deb\n"
        f"Size: {package.stat().st_size}\nSHA256: {digest}\nDescription: x\n\n"
    )
    content = index.read_bytes()
    (directory / "dists/trixie/Release").write_text(
        "Origin: x\nSuite: trixie\nCodename: trixie\nArchitectures: amd64\nComponents: main\n"
        "Date: Thu, 01 Jan 2026 00:00:00 UTC\n"
        f"SHA256:\n {hashlib.sha256(content).hexdigest()} {len(content)} main/binary-amd64/Packages\n"
    )
    return directory
