"""Chooses the sources of a private apt: those of the machine's own distribution, for the suite that is wanted.

Which mirror, which key and which protocol a machine uses is written in its sources, and nowhere else: so those of
Debian or Ubuntu itself are taken as they are, but for the suite. Sources of others are left out.

    chosen = choose(sources, suite="")
    text = deb822(chosen)
"""

from dataclasses import dataclass, replace

from tools.fetch.debian.sources import Source, release
from tools.lib.common.program import ToolError

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
    sources: tuple[Source, ...]

    @property
    def name(self) -> str:
        """The distribution and its suite, for messages."""
        return f"{self.distribution} {self.suite}"


def choose(sources: list[Source], suite: str) -> Choice:
    """Choose the sources of the distribution itself, with `suite` in place of the machine's release.

    An empty suite means DEBIAN_DEFAULT of Debian, and of Ubuntu the machine's own release. Raises ToolError if there is
    no such source.
    """
    by_distribution = {name: [one for one in sources if one.distribution == name] for name in COMPONENTS}
    distribution = next((name for name, found in by_distribution.items() if found), "")
    if not distribution:
        raise ToolError(
            "apt has no source of Debian or Ubuntu; expected one in /etc/apt/sources.list or /etc/apt/sources.list.d "
            "with the component main and, if its URI does not end in /debian, signed by debian-archive-keyring. Add "
            "one, or build from artifacts: --repo_env=ROCM_ARTIFACTS_DIR=/absolute/path"
        )
    own = [one for one in by_distribution[distribution] if any(pocket(name) is not None for name in one.suites)]
    if not own:
        raise ToolError(
            f"apt has sources of {distribution}, but of no release: {suites_of(by_distribution[distribution])}. Add "
            "the release itself to /etc/apt/sources.list.d"
        )
    wanted = suite or (DEBIAN_DEFAULT if distribution == "Debian" else release(own[0].suites[0]))
    moved = [with_suite(one, distribution, wanted) for one in own]
    if not any(wanted in one.suites for one in moved):
        raise ToolError(
            f"apt's sources of {distribution} have only updates of a release: {suites_of(own)}. Add the release itself"
        )
    return Choice(distribution, wanted, tuple(one for one in moved if one.suites))


def pocket(suite: str) -> str | None:
    """Return `-updates`, `-security` or nothing for the release itself; None for suites that are not used."""
    rest = suite.removeprefix(release(suite))
    return rest if rest in POCKETS else None


def with_suite(source: Source, distribution: str, wanted: str) -> Source:
    """Return a source with the same pockets of another release, and the components where ROCm is."""
    pockets = {name for name in map(pocket, source.suites) if name is not None}
    if wanted in ROLLING:
        pockets &= {""}
    return replace(
        source,
        suites=tuple(wanted + name for name in POCKETS if name in pockets),
        components=COMPONENTS[distribution],
    )


def suites_of(sources: list[Source]) -> str:
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
