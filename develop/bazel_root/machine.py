"""A machine for the tests of bazelw, without network and without a real Debian root.

Its PATH holds nothing but harmless tools of this machine and fakes of what bazelw would do something with (bazel,
apt-get, mmdebstrap, bwrap, ...). The fakes write what they were told into a journal. The tests run the bazelw that
$BAZELW names, else the one of this repository.
"""

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

BAZELW = Path(os.environ.get("BAZELW", Path(__file__).parents[2] / "bazelw")).absolute()
MIRROR = "http://mirror.invalid/debian/"

TOOLS = (
    *("bash", "cat", "cksum", "cp", "cut", "date", "dirname", "env", "find", "flock", "grep", "mkdir", "mv"),
    *("readlink", "rm", "sed", "sha256sum", "sort", "tail", "tee", "touch", "wc"),
)

FAKES = {
    "id": 'echo "${FAKE_UID:-0}"',
    "apt-get": f"""
        case "$1" in indextargets) echo '{MIRROR}'; echo 'http://mirror.invalid/second/' ;; esac""",
    "apt-config": """
        echo 'Acquire::http::Proxy "http://proxy.invalid:3128";'
        echo 'Acquire::Languages "none";'""",
    "unshare": 'shift; exec "$@"',
    "chroot": "cat >/dev/null; echo 'certificates for Java'",
    "mmdebstrap": r"""
        for argument in "$@"; do
          case $argument in
            --aptopt=*) sed 's/^/apt.conf /' "${argument#--aptopt=}" >>"$JOURNAL" ;;
            */debian-*) root=$argument ;;
          esac
        done
        mkdir -p "$root/usr/bin" "$root/usr/share/bazel" "$root/etc/ssl/certs" "$root/etc/apt"
        echo 'I: running apt-get update...' >&2
        echo 'I: downloading packages with apt...' >&2
        [ -z "${FAKE_BROKEN:-}" ] || { echo 'E: the mirror is on fire' >&2; exit 1; }
        echo "deb http://mirror.invalid/debian forky main" >"$root/etc/apt/sources.list"
        touch "$root/usr/bin/bazel" "$root/usr/bin/python3" "$root/etc/ssl/certs/ca-certificates.crt"
        echo -n 7.7.1 >"$root/usr/share/bazel/build-label.txt" """,
    "bwrap": """
        printf '<%s>' "$@"
        echo
        env""",
}


@dataclass(frozen=True)
class Machine:
    """A machine as bazelw sees it: a PATH, a home directory, and the journal of what the fakes were told."""

    folder: Path

    @property
    def path(self) -> Path:
        """The only folder on PATH."""
        return self.folder / "bin"

    @property
    def home(self) -> Path:
        """The home directory, below which the cache is."""
        return self.folder / "home"

    @property
    def cache(self) -> Path:
        """Where the Debian root goes."""
        return self.home / ".cache" / "rules_rocm_python"

    def fake(self, name: str, body: str) -> Path:
        """Put on PATH a command that notes its arguments and then does what the shell text `body` says."""
        command = self.path / name
        command.parent.mkdir(parents=True, exist_ok=True)
        command.write_text(f'#!/bin/bash\necho "{name} $*" >>"$JOURNAL"\n{body}\n')
        command.chmod(0o755)
        return command

    def fake_bazel(self, name: str, version: str) -> None:
        """Put on PATH a Bazel that prints the line `version` when asked for it, else its name and arguments."""
        self.fake(
            name,
            f"""if [ "$*" = --version ]; then echo '{version}'; else printf '{name}'; printf '<%s>' "$@"; echo; fi""",
        )

    def journal(self, name: str) -> list[str]:
        """Return what the fake `name` was called with, one line per call."""
        journal = self.folder / "journal"
        lines = journal.read_text().splitlines() if journal.exists() else []
        return [line.removeprefix(f"{name} ") for line in lines if line.startswith(f"{name} ")]

    def roots(self) -> list[Path]:
        """Return the Debian roots that are there, whole or not."""
        return sorted(self.cache.glob("debian-*"))

    def environment(self, **variables: str) -> dict[str, str]:
        """Return the whole environment of a call."""
        return {
            "PATH": str(self.path),
            "HOME": str(self.home),
            "JOURNAL": str(self.folder / "journal"),
            **variables,
        }

    def run(
        self, *arguments: str, bazelw: Path = BAZELW, cwd: Path | None = None, **variables: str
    ) -> "subprocess.CompletedProcess[str]":
        """Run bazelw with nothing on its standard input."""
        return subprocess.run(
            [bazelw, *arguments],
            env=self.environment(**variables),
            cwd=cwd or self.folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
