"""Reads the machine's apt sources (sources.list(5)), in both styles, and tells whose they are.

sources = read_sources(Path("/etc/apt/sources.list"), Path("/etc/apt/sources.list.d"))
sources[0].distribution
"""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

#: What Debian calls its suites, and the names that move from one to the next. Ubuntu's are told by their components.
DEBIAN_SUITES = frozenset(
    {"bullseye", "bookworm", "trixie", "forky", "duke", "sid"}
    | {"oldoldstable", "oldstable", "stable", "testing", "unstable"}
)
#: Components that only Ubuntu has. ROCm is in universe there.
UBUNTU_COMPONENTS = frozenset({"restricted", "universe", "multiverse"})
#: Options of a source that a private apt keeps. `Trusted` and the like are none: signatures are always verified.
OPTIONS = (
    "Signed-By",
    "Check-Valid-Until",
    "Valid-Until-Min",
    "Valid-Until-Max",
    "Check-Date",
    "Date-Max-Future",
    "By-Hash",
    "InRelease-Path",
)


@dataclass(frozen=True)
class Source:
    """One entry of apt's sources."""

    uris: tuple[str, ...]
    suites: tuple[str, ...]
    components: tuple[str, ...]
    #: By their names in deb822 sources, of OPTIONS only; continuation lines with their indentation.
    options: dict[str, str] = field(default_factory=dict)

    @property
    def distribution(self) -> str:
        """`Debian` or `Ubuntu`, or empty if the source is somebody else's."""
        keyring = self.options.get("Signed-By", "")
        folders = {urlsplit(uri).path.rstrip("/").rpartition("/")[2] for uri in self.uris}
        if "ubuntu-archive-keyring" in keyring or UBUNTU_COMPONENTS & set(self.components):
            return "Ubuntu"
        is_signed = "debian-archive-keyring" in keyring or any(folder.startswith("debian") for folder in folders)
        if is_signed and "main" in self.components and {release(suite) for suite in self.suites} & DEBIAN_SUITES:
            return "Debian"
        return ""


def release(suite: str) -> str:
    """Return the release that a suite belongs to: `trixie` for `trixie-security`."""
    return suite.partition("-")[0].partition("/")[0]


def read_sources(main: Path, parts: Path) -> list[Source]:
    """Read sources.list and the files of sources.list.d, in apt's order; what is not there has none."""
    files = [main, *(sorted(parts.iterdir()) if parts.is_dir() else [])]
    found: list[Source] = []
    for file in files:
        if file.is_file() and file.suffix == ".sources":
            found += parse_deb822(file.read_text(encoding="utf-8"))
        elif file.is_file() and file.suffix == ".list":
            found += parse_one_line(file.read_text(encoding="utf-8"))
    return found


def parse_deb822(text: str) -> list[Source]:
    """Read sources of the deb822 style: stanzas of fields."""
    found = []
    for stanza in stanzas(text):
        if "deb" in stanza.get("types", "").split() and stanza.get("enabled", "yes").lower() not in (
            "no",
            "false",
            "0",
        ):
            options = {name: stanza[name.lower()] for name in OPTIONS if name.lower() in stanza}
            uris, suites, components = (
                tuple(stanza.get(name, "").split()) for name in ("uris", "suites", "components")
            )
            found.append(Source(uris, suites, components, options))
    return found


def stanzas(text: str) -> Iterator[dict[str, str]]:
    """Yield the stanzas of a deb822 text, with the names of fields in lower case; comments are left out.

    A line that begins with a space continues the field before it.
    """
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    for block in re.split(r"\n[ \t]*(?:\n[ \t]*)*\n", "\n".join(lines)):
        stanza: dict[str, str] = {}
        name = ""
        for line in block.splitlines():
            if line[:1] in (" ", "\t"):
                stanza[name] = stanza.get(name, "") + "\n" + line
            elif ":" in line:
                name, _, value = line.partition(":")
                name = name.strip().lower()
                stanza[name] = value.strip()
        if stanza:
            yield stanza


def parse_one_line(text: str) -> list[Source]:
    """Read sources of the one-line style: `deb [option=value] uri suite component...`."""
    found = []
    for line in text.splitlines():
        match = re.fullmatch(r"\s*deb\s+(?:\[([^]]*)\]\s+)?([^\s\[]\S*)\s+(\S+)\s*([^#]*)(?:#.*)?", line)
        if match and not match[2].startswith("cdrom:"):
            given = dict(word.partition("=")[::2] for word in shlex.split(match[1] or ""))
            options = {name: given[name.lower()] for name in OPTIONS if name.lower() in given}
            found.append(Source((match[2],), (match[3],), tuple(match[4].split()), options))
    return found
