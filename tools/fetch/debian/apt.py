"""A private apt: the machine's sources, proxies and keys, with state of its own in one directory.

Nothing of the system is read but apt's configuration, nothing of it is written, and no root is needed. apt verifies the
signature of every index (apt-secure(8)), and by the index each package.

    apt = Apt.create(directory, suite="")
    apt.update()
    chosen = apt.resolve(["librocblas-dev"])
    apt.download(chosen, directory / "debs")
"""

import os
import re
import shlex
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from lib.common.program import ToolError
from tools.fetch.debian.sources import Choice, choose, deb822, read_sources, stanzas

#: What the machine's apt was told about reaching its mirror. Hooks, pins and lists of its own are not for us.
_REACHING = re.compile(r"Acquire::(http|https|ftp|tor|socks5h|mirror|Check-|Retries|ForceIPv|Max-)", re.IGNORECASE)
#: One line of a simulated installation (apt-get(8), --simulate): name, and the version in parentheses.
_INSTALLED = re.compile(r"Inst (\S+) (?:\[[^]]*\] )?\((\S+) ")
_CONFIGURATION = """\
Dir::Etc::main "/dev/null";
Dir::Etc::parts "/dev/null";
Dir::Etc::preferences "/dev/null";
Dir::Etc::preferencesparts "/dev/null";
Dir::Etc::sourcelist "/dev/null";
Dir::Etc::sourceparts "{directory}/sources.list.d";
Dir::State "{directory}/state";
Dir::State::status "{directory}/status";
Dir::Cache "{directory}/cache";
Dir::Log "{directory}/log";
Acquire::Languages "none";
Acquire::Retries "3";
APT::Architectures {{ "{architecture}"; }};
APT::Install-Recommends "0";
APT::Sandbox::User "root";
Debug::NoLocking "1";
"""
NO_APT = (
    "apt-get, apt-config, apt-cache and dpkg-deb are needed, and {} is not there; expected Debian or Ubuntu. "
    "Elsewhere, build from a directory of artifacts"
)


@dataclass(frozen=True)
class DebianPackage:
    """A binary package, as its index describes it."""

    name: str
    version: str
    source: str
    architecture: str
    sha256: str


@dataclass(frozen=True)
class Apt:
    """An apt with directories of its own."""

    directory: Path
    choice: Choice

    @staticmethod
    def create(directory: Path, suite: str) -> "Apt":
        """Make the directory. An empty suite means the usual one; raises ToolError without apt or usable sources."""
        require_apt()
        return Apt.with_sources(directory, choose(read_sources(*machine_lists()), suite))

    @staticmethod
    def with_sources(directory: Path, choice: Choice) -> "Apt":
        """Make the directory, for sources that were chosen."""
        require_apt()
        for name in ("sources.list.d", "state/lists/partial", "cache/archives/partial", "log"):
            (directory / name).mkdir(parents=True, exist_ok=True)
        (directory / "status").touch()
        (directory / "sources.list.d/packages.sources").write_text(deb822(choice), encoding="utf-8")
        # The machine's own architecture alone: of another, which dpkg may have been told to allow, nothing is wanted.
        architecture = run(["apt-config", "dump", "--format", "%v", "APT::Architecture"], {}).strip()
        configuration = _CONFIGURATION.format(directory=_quotable(directory.absolute()), architecture=architecture)
        settings = reaching(run(["apt-config", "dump", "--format", '%F "%v";%n', "Acquire"], {}))
        configuration += "".join(f"{line}\n" for line in settings)
        (directory / "apt.conf").write_text(configuration, encoding="utf-8")
        return Apt(directory, choice)

    def update(self) -> None:
        """Fetch the indexes. Raises ToolError with what apt said, if one cannot be had or is not signed."""
        self.run(
            ["apt-get", "-q", "--error-on=any", "update"],
            f"fetching the package lists of {self.choice.name} with the machine's apt sources",
            "Check the network and apt's sources (`apt-get update` as root says more); a mirror without "
            f"{self.choice.suite} needs another `suite`",
        )

    def absent(self, names: list[str]) -> list[str]:
        """Return those names of which the suite has no package."""
        known = set(self.run(["apt-cache", "pkgnames"], "reading the package lists", "Try again").split())
        return [name for name in names if name not in known]

    def resolve(self, names: list[str]) -> list[DebianPackage]:
        """Return the packages that installing `names` into an empty system would bring, sorted by name.

        Raises ToolError if there is no such package, or if what it depends on cannot be had.
        """
        if absent := self.absent(names):
            raise ToolError(
                f"{self.choice.name} has no package {', '.join(absent)}; correct `packages`, or "
                "choose a `suite` that has it"
            )
        said = self.run(
            ["apt-get", "-q", "--simulate", "install", *names],
            f"finding what {', '.join(names)} of {self.choice.name} depend on",
            "Choose fewer packages, or another suite",
        )
        return self.describe([f"{match[1]}={match[2]}" for match in _INSTALLED.finditer(said)])

    def describe(self, pinned: list[str]) -> list[DebianPackage]:
        """Return what the indexes say of packages given as `name=version`."""
        return [
            DebianPackage(name, one["version"], one.get("source", name), one["architecture"], one["sha256"])
            for name, one in sorted(self._shown(pinned).items())
        ]

    def _shown(self, pinned: list[str]) -> dict[str, dict[str, str]]:
        """Return the fields of packages given as `name=version`, by name."""
        said = self.run(["apt-cache", "show", "--", *pinned], "reading the package lists", "Try again")
        wanted = set(pinned)
        return {one["package"]: one for one in stanzas(said) if f"{one['package']}={one['version']}" in wanted}

    def dependencies(self, packages: list[DebianPackage]) -> dict[str, list[str]]:
        """Return on which of these packages each of them depends, by their names or by what they provide."""
        shown = self._shown([f"{one.name}={one.version}" for one in packages])
        provided = {alias: name for name, one in shown.items() for alias in (name, *names_in(one.get("provides", "")))}
        needed = {
            name: names_in(f"{one.get('pre-depends', '')},{one.get('depends', '')}") for name, one in shown.items()
        }
        return {
            name: sorted({provided[other] for other in others if other in provided} - {name})
            for name, others in needed.items()
        }

    def download(self, packages: list[DebianPackage], directory: Path) -> list[Path]:
        """Fetch packages into a directory; returns their files, in the same order.

        Raises ToolError with what apt said. apt compares each with the digest in the signed index.
        """
        directory.mkdir(parents=True, exist_ok=True)
        self.run(
            ["apt-get", "-q", "download", *(f"{one.name}={one.version}" for one in packages)],
            f"fetching {len(packages)} packages",
            "Check the network; if the suite has changed meanwhile, build again",
            directory,
        )
        files = {file.name.partition("_")[0]: file for file in directory.glob("*.deb")}
        return [files[one.name] for one in packages]

    def run(self, command: list[str], doing: str, remedy: str, cwd: Path | None = None) -> str:
        """Run one of apt's programs on the indexes, as `run` does."""
        configuration = {"APT_CONFIG": str((self.directory / "apt.conf").absolute())}
        return run(command, configuration, doing, remedy, cwd)


def _quotable(directory: Path) -> str:
    """Return a directory, which apt's configuration has between quotes. Raises ToolError if it cannot have it."""
    if bad := re.search(r'["\x00-\x1f]', str(directory)):
        raise ToolError(
            f"{str(directory)!r}: apt's configuration cannot have a directory with {bad[0]!r} in its name. "
            "Choose another --output_user_root"
        )
    return str(directory)


def names_in(relation: str) -> list[str]:
    """Return the packages that a field about other packages names, alternatives included (deb-control(5))."""
    return re.findall(r"(?:^|[,|])\s*([a-z0-9][a-z0-9+.-]+)", relation)


def require_apt() -> None:
    """Raise ToolError if one of apt's programs is not there."""
    for program in ("apt-get", "apt-config", "apt-cache", "dpkg-deb"):
        if not shutil.which(program):
            raise ToolError(NO_APT.format(program))


def run(
    command: list[str], variables: dict[str, str], doing: str = "", remedy: str = "", cwd: Path | None = None
) -> str:
    """Run one of apt's programs; returns what it prints. Raises ToolError with the errors that it reported."""
    result = subprocess.run(
        command,
        env=os.environ | {"LC_ALL": "C"} | variables,
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        check=False,
    )
    if result.returncode:
        unmet = result.stdout.partition("unmet dependencies:\n")[2].splitlines()
        errors = [line for line in result.stderr.splitlines() if line.startswith(("E:", "W:"))]
        said = "\n  ".join([*unmet, *errors]) or result.stderr.strip() or result.stdout.strip()
        raise ToolError(f"{doing or shlex.join(command)}: {command[0]} failed:\n  {said}\n{remedy}".rstrip())
    return result.stdout


def machine_lists() -> tuple[Path, Path]:
    """Return the machine's sources.list and sources.list.d, wherever its apt is told to look."""
    said = run(["apt-config", "shell", "main", "Dir::Etc::sourcelist/f", "parts", "Dir::Etc::sourceparts/d"], {})
    found = dict(word.partition("=")[::2] for word in shlex.split(said))
    return Path(found.get("main", "/etc/apt/sources.list")), Path(found.get("parts", "/etc/apt/sources.list.d"))


def reaching(dump: str) -> list[str]:
    """Return the lines of apt's configuration that are about reaching a mirror.

    A program that finds a proxy is left out where it is not there: Bazel may run in a root of its own.
    """
    lines = []
    for line in dump.splitlines():
        name, _, value = line.partition(" ")
        program = value.strip('";') if name.lower().endswith(("proxy-auto-detect", "proxyautodetect")) else ""
        if _REACHING.match(name) and (not program or Path(program).exists()):
            lines.append(line)
    return lines
