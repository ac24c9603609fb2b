"""The machine's apt sources, and which of them a private apt gets: the distribution's own, for one suite.

A machine's sources say which mirror, which key and which protocol it uses, and nothing else does: so the sources of
Debian or Ubuntu itself are taken as they are, except the suite. Third-party sources are left out.

    chosen = choose(sources, suite="")
    text = deb822(chosen)
"""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import urlsplit

from lib.common.program import ToolError

#: What Debian calls its suites, and the names that move from one to the next. Ubuntu's are told by their components.
DEBIAN_SUITES = frozenset(
    {"bullseye", "bookworm", "trixie", "forky", "duke", "sid"}
    | {"oldoldstable", "oldstable", "stable", "testing", "unstable"}
)
#: Components that only Ubuntu has. ROCm is in universe there.
UBUNTU_COMPONENTS = frozenset({"restricted", "universe", "multiverse"})
#: Options of a source that a private apt keeps: its key, and what snapshots of a mirror need. It drops `Trusted`:
#: signatures are always verified.
OPTIONS = ("Signed-By", "Check-Valid-Until", "Check-Date")


@dataclass(frozen=True)
class AptSource:
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


def read_sources(main: Path, parts: Path) -> list[AptSource]:
    """Read sources.list and the files of sources.list.d, in apt's order; what is not there has none."""
    files = [main, *(sorted(parts.iterdir()) if parts.is_dir() else [])]
    found: list[AptSource] = []
    for file in files:
        if file.is_file() and file.suffix == ".sources":
            found += parse_deb822(file.read_text(encoding="utf-8"))
        elif file.is_file() and file.suffix == ".list":
            found += parse_one_line(file.read_text(encoding="utf-8"))
    return found


def parse_deb822(text: str) -> list[AptSource]:
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
            found.append(AptSource(uris, suites, components, options))
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


def parse_one_line(text: str) -> list[AptSource]:
    """Read sources of the one-line style: `deb [option=value] uri suite component...`."""
    found = []
    for line in text.splitlines():
        match = re.fullmatch(r"\s*deb\s+(?:\[([^]]*)\]\s+)?([^\s\[]\S*)\s+(\S+)\s*([^#]*)(?:#.*)?", line)
        if match and not match[2].startswith("cdrom:"):
            given = dict(word.partition("=")[::2] for word in shlex.split(match[1] or ""))
            options = {name: given[name.lower()] for name in OPTIONS if name.lower() in given}
            found.append(AptSource((match[2],), (match[3],), tuple(match[4].split()), options))
    return found


#: The suite of Debian that is taken where nothing else is asked for: the first one with HIP and its libraries.
DEBIAN_DEFAULT = "trixie"
#: Debian's suites that get neither point releases nor security updates beside them.
ROLLING = frozenset({"sid", "unstable"})
#: Updates of a release; others (backports, proposed) are not its own.
POCKETS = ("", "-updates", "-security")
COMPONENTS = {"Debian": ("main",), "Ubuntu": ("main", "universe")}


@dataclass(frozen=True)
class Choice:
    """The sources to use, of one distribution."""

    distribution: str
    suite: str
    sources: tuple[AptSource, ...]

    @property
    def name(self) -> str:
        """The distribution and its suite, for messages."""
        return f"{self.distribution} {self.suite}"


def choose(sources: list[AptSource], suite: str) -> Choice:
    """Choose the sources of the distribution itself, with `suite` instead of the machine's release.

    An empty suite means DEBIAN_DEFAULT of Debian, and of Ubuntu the machine's own release. Raises ToolError if there is
    no such source.
    """
    by_distribution = {name: [one for one in sources if one.distribution == name] for name in COMPONENTS}
    distribution = next((name for name, found in by_distribution.items() if found), "")
    if not distribution:
        raise ToolError(
            "apt has no source of Debian or Ubuntu; expected one in /etc/apt/sources.list or /etc/apt/sources.list.d "
            "with the component main and, if its URI does not end in /debian, signed by debian-archive-keyring. Add "
            "one, or build from a directory of artifacts"
        )
    known = by_distribution[distribution]
    own = [one for one in known if any(pocket(name) is not None for name in one.suites)]
    first = release(own[0].suites[0]) if own else ""
    wanted = suite or (DEBIAN_DEFAULT if distribution == "Debian" else first)
    moved = [with_suite(one, distribution, wanted) for one in own]
    if not any(wanted in one.suites for one in moved):
        raise ToolError(
            f"apt has sources of {distribution}, but of no release itself: {suites_of(known)}. Add the release to "
            "/etc/apt/sources.list.d"
        )
    return Choice(distribution, wanted, tuple(one for one in moved if one.suites))


def pocket(suite: str) -> str | None:
    """Return `-updates`, `-security` or nothing for the release itself; None for suites that are not used."""
    rest = suite.removeprefix(release(suite))
    return rest if rest in POCKETS else None


def with_suite(source: AptSource, distribution: str, wanted: str) -> AptSource:
    """Return a source with the same pockets of another release, and the components where ROCm is."""
    pockets = {name for name in map(pocket, source.suites) if name is not None}
    if wanted in ROLLING:
        pockets &= {""}
    return replace(
        source, suites=tuple(wanted + name for name in POCKETS if name in pockets), components=COMPONENTS[distribution]
    )


def suites_of(sources: list[AptSource]) -> str:
    """Return the suites of sources, for a message."""
    return ", ".join(sorted({suite for source in sources for suite in source.suites}))


def deb822(choice: Choice) -> str:
    """Return the text of a `.sources` file; sources that say the same are written once."""
    texts = []
    for source in choice.sources:
        fields = {
            "Types": "deb",
            "URIs": " ".join(source.uris),
            "Suites": " ".join(source.suites),
            "Components": " ".join(source.components),
            **source.options,
        }
        texts.append("".join(f"{name}: {value}\n" for name, value in fields.items()))
    return "\n".join(dict.fromkeys(texts))
