"""A machine for the tests of bazelw, without network and without a real Debian root.

Its PATH holds nothing but harmless tools of this machine and fakes of what bazelw would do something with (bazel,
apt-get, dpkg-deb, ...). The fakes write what they were told into a journal. The tests run the bazelw that
$BAZELW names, else the one of this repository.
"""

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

BAZELW = Path(os.environ.get("BAZELW", Path(__file__).parents[2] / "bazelw")).absolute()
MIRROR = "http://mirror.invalid/debian/"

TOOLS = (
    *(
        "basename",
        "bash",
        "cat",
        "chmod",
        "cksum",
        "cp",
        "cut",
        "date",
        "dirname",
        "env",
        "find",
        "flock",
        "grep",
        "ln",
    ),
    *("mkdir", "mv", "nproc", "readlink", "rm", "sed", "sh", "sha256sum", "sort", "tail", "touch", "wc", "xargs"),
)

#: What the C library of a fake root does: starts bubblewrap, which says what it was told, and in which environment.
LOADER = r"""#!/bin/bash
shift 3
case "$*" in
  *" openssl "*) cat >/dev/null; echo 'certificates for Java' ;;
  *"/etc/bazel/bazel "*) printf '<%s>' "$@"; echo; env ;;
  *) all=$* && echo "inside ${all##*--setenv PATH /usr/sbin:/usr/bin }" >>"$JOURNAL" ;;
esac
"""

FAKES = {
    "id": 'echo "${FAKE_UID:-0}"',
    "apt-get": f"""
        setting() {{ sed -n "s/^$1 \\"\\(.*\\)\\";/\\1/p" "$APT_CONFIG"; }}
        case "$*" in
          indextargets*) echo '{MIRROR}'; echo 'http://mirror.invalid/second/' ;;
          *--download-only*)
            sed 's/^/apt.conf /' "$APT_CONFIG" >>"$JOURNAL"
            sed 's/^/sources.list /' "$(setting Dir::Etc::sourcelist)" >>"$JOURNAL"
            [ -z "${{FAKE_BROKEN:-}}" ] || {{ echo 'E: the mirror is on fire' >&2; exit 1; }}
            touch "$(setting Dir::Cache::archives)"/{{base-files_1,bazel_2}}.deb ;;
        esac""",
    "apt-config": """
        echo 'Acquire::http::Proxy "http://proxy.invalid:3128";'
        echo 'Acquire::Languages "de";'""",
    "unshare": "",
    "dpkg-deb": f"""
        root=$3
        mkdir -p "$root"/usr/{{bin,lib/x86_64-linux-gnu,lib/jvm/java-9-x/bin,share/bazel,share/libc-bin}} \\
          "$root"/usr/share/ca-certificates/mozilla "$root/etc/ssl/certs" "$root/var/lib/dpkg"
        touch "$root"/usr/bin/{{bazel,python3}} "$root"/usr/lib/jvm/java-9-x/bin/{{java,javac}} \\
          "$root/usr/share/libc-bin/nsswitch.conf" "$root/usr/share/ca-certificates/mozilla/a.crt"
        echo -n 7.7.1 >"$root/usr/share/bazel/build-label.txt"
        cat >"$root/loader.$$" <<'EOF'
{LOADER}EOF
        chmod +x "$root/loader.$$"
        mv "$root/loader.$$" "$root/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2" """,
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
        """Directory of the Debian root."""
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
        return {"PATH": str(self.path), "HOME": str(self.home), "JOURNAL": str(self.folder / "journal"), **variables}

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
