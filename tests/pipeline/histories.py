"""Random histories: an SDK is edited, built with a shared cache, installed, worked in, removed, and killed.

    live(histories().example())

After each step the oracle says what has to be there, and a build from nothing, or a fresh installation, gives the same.
"""

import posixpath
import tempfile
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path

from hypothesis import strategies as st

from tests.pipeline.checkout import Checkout
from tests.pipeline.installed import ModuleSite, RocmSite, Site
from tests.pipeline.package_reader import FindingError
from tests.pipeline.properties import SCRATCH, check_same, judged, made
from tests.pipeline.random_files import chosen, placeable
from tests.pipeline.random_sdks import ANY_ENTRY, EIGHT, THREE, changed, sdks, searched
from tests.pipeline.run import Built, Cache
from tests.pipeline.sdk import Data, Directory, Elf, File, Link, Node, Package, Sdk


@dataclass(frozen=True)
class Edit:
    """One of the checkouts gets these contents, perhaps in another directory, and is built."""

    checkout: int
    sdk: Sdk
    moves: bool = False


@dataclass(frozen=True)
class Install:
    """A release is installed into one of the sites; of the packages that need not be there, some are left out."""

    site: int
    release: int
    without: tuple[str, ...] = ()
    leaves_directories: bool = False


@dataclass(frozen=True)
class Uninstall:
    """All is uninstalled."""

    site: int
    leaves_directories: bool = False


@dataclass(frozen=True)
class Work:
    """A user works in the tree: puts a file or a link to a path, or edits or removes a file of the package."""

    site: int
    how: str
    path: str
    number: int


@dataclass(frozen=True)
class Ask:
    """The tree is asked for; perhaps in a process that is killed before a change, by its number."""

    site: int
    verify: bool
    killed: int = 0


Step = Edit | Install | Uninstall | Work | Ask


@dataclass(frozen=True)
class History:
    """What both checkouts begin with, and what happens then."""

    sdk: Sdk
    steps: tuple[Step, ...]


# What is drawn


def with_devel(sdk: Sdk) -> Sdk:
    """Return an SDK with a core and with a development tree that is unpacked."""
    packages = [one for one in sdk.packages if one.name != "devel"]
    if not packages or packages[0].name != "core":
        packages.insert(0, Package("core", "_core", (), rpath=searched(("_core",))))
    old = next((one for one in sdk.packages if one.name == "devel"), None)
    exclude, on = old.exclude if old else (), tuple(one.name for one in packages)
    rpath = searched(("_devel", *(one.tree for one in packages)))
    artifacts = tuple(one.name for one in sdk.artifacts)
    devel = Package("devel", "_devel", artifacts, on, "devel", exclude=exclude, rpath=rpath, repacked=True)
    return replace(sdk, packages=(*packages, devel))


EDITS = st.sampled_from((*["any"] * 3, "rename", "kind", "content", "text", "artifact", "version", *["back"] * 2))
VERSIONS = st.sampled_from(("1.0", "7.10.0.dev0", "1!2.0rc1+rocm7.2"))
BIG = st.integers(0, 1 << 16)
#: Contents that take each other's place, most with equal sizes.
OTHER_CONTENT = {b"a": b"b", b"b": b"a"}


@st.composite
def edits(draw: st.DrawFn, sdk: Sdk, past: list[Sdk]) -> Sdk:
    """Return what an SDK is after one edit."""
    what = draw(EDITS)
    if what == "back":
        return draw(st.sampled_from(past))
    if what == "version":
        return replace(sdk, settings=replace(sdk.settings, version=draw(VERSIONS)))
    if what == "any":
        return draw(changed(sdk))
    number = draw(BIG) % len(sdk.artifacts)
    artifact = sdk.artifacts[number]
    if what == "artifact":
        left = tuple(one for one in sdk.artifacts if one is not artifact)
        names = {one.name for one in left}
        packages = (replace(one, artifacts=tuple(n for n in one.artifacts if n in names)) for one in sdk.packages)
        return replace(sdk, artifacts=left, packages=tuple(packages)) if left else sdk
    base = sorted(artifact.bases)[draw(BIG) % len(artifact.bases)]
    nodes = draw(_edited_nodes(what, artifact.bases[base]))
    edited = replace(artifact, bases=artifact.bases | {base: nodes})
    return replace(sdk, artifacts=(*sdk.artifacts[:number], edited, *sdk.artifacts[number + 1 :]))


@st.composite
def _edited_nodes(draw: st.DrawFn, what: str, nodes: dict[str, Node]) -> dict[str, Node]:
    """Return a base directory's nodes after an edit: its path, kind, content, or a link's text is otherwise."""
    wanted = {"content": File, "text": Link}.get(what, File | Link | Directory)
    paths = sorted(path for path, node in nodes.items() if isinstance(node, wanted))
    other, node = draw(ANY_ENTRY)
    if not paths:
        return placeable(nodes | {other: node})
    path = paths[draw(BIG) % len(paths)]
    rest = {one: known for one, known in nodes.items() if one != path}
    if what == "rename":
        return placeable(rest | {other: nodes[path]})
    if what == "kind":
        kinds: tuple[Node, ...] = (node, Link(other), Directory(), File())
        number = draw(BIG) % len(kinds)
        return placeable(rest | {f"{path}/below" if number == 3 else path: kinds[number]})
    return rest | {path: _otherwise(nodes[path], posixpath.basename(other))}


def _otherwise(node: Node, name: str) -> Node:
    """Return another link, or a file of mostly the same size."""
    if isinstance(node, Link):
        return Link(name)
    assert isinstance(node, File)
    if isinstance(node.content, Elf):
        return replace(node, content=replace(node.content, variant=(node.content.variant + 2) % 4))
    data = node.content.data if isinstance(node.content, Data) else b""
    return replace(node, content=Data(OTHER_CONTENT.get(data, b"a")))


STEPS = st.sampled_from((*["edit"] * 7, *["install"] * 4, *["work"] * 5, *["ask"] * 4, "uninstall"))
HOWS = st.sampled_from(("own", "own", "own", "link", "edit", "lose"))
#: Of a user's files: some are in the way of another version's, and some have such directories above them.
ANY_PATH = ANY_ENTRY.map(lambda one: one[0])
OWN_PATHS = chosen(st.just("share/mine/mine.txt"), ANY_PATH, ANY_PATH.map(lambda path: f"{path}/mine"))
LEFT_OUT = st.sampled_from(((), (), ("libraries",), ("profiler",), ("libraries", "device")))
KILLS = st.one_of(st.just(0), st.just(0), st.integers(1, 60))
ONE = st.integers(0, 1)


@st.composite
def _steps(draw: st.DrawFn, what: str, states: list[Sdk], past: list[Sdk]) -> Step:
    """Return a step; `states` are the two checkouts', and change."""
    at = draw(ONE)
    if what == "edit":
        states[at] = draw(edits(states[at], past))
        past.append(states[at])
        return Edit(at, states[at], moves=draw(EIGHT) == 7)
    if what == "install":
        return Install(at, draw(EIGHT), draw(LEFT_OUT), draw(THREE) == 2)
    if what == "uninstall":
        return Uninstall(at, draw(THREE) == 2)
    if what == "work":
        return Work(at, draw(HOWS), draw(OWN_PATHS), draw(BIG))
    return Ask(at, draw(THREE) == 2, draw(KILLS))


@st.composite
def histories(draw: st.DrawFn) -> History:
    """Return histories of five to twelve steps."""
    sdk = with_devel(draw(sdks("usual")))
    states, past = [sdk, sdk], [sdk]
    count = draw(st.integers(5, 12))
    return History(sdk, tuple(draw(_steps(draw(STEPS), states, past)) for _ in range(count)))


# What happens


@dataclass
class Life:
    """A history as far as it is lived."""

    place: Path
    checkouts: tuple[Checkout, Checkout]
    sites: tuple[Site, Site]
    came: Counter[str] = field(default_factory=Counter)
    releases: list[Built] = field(default_factory=list)
    #: What builds from nothing gave, and which the oracle looked at.
    fresh: dict[str, Built | str] = field(default_factory=dict)

    def build(self, checkout: Checkout) -> None:
        """Build a checkout: as the oracle says, and as a build from nothing."""
        built, key = checkout.build(), repr(checkout.sdk)
        if key not in self.fresh:
            self.fresh[key] = made(checkout.sdk, self.place / f"fresh {len(self.fresh)}")
            self.came[judged(checkout.sdk, self.place / f"judged {len(self.fresh)}", built).partition(":")[0]] += 1
        check_same(self.fresh[key], built, "a past")
        if isinstance(built, Built):
            self.releases.append(built)

    def step(self, step: Step) -> None:
        """Take one step; raises FindingError."""
        if isinstance(step, Edit):
            checkout = self.checkouts[step.checkout]
            if step.moves:
                checkout.move()
            checkout.edit(step.sdk)
            self.build(checkout)
        elif not self.releases:
            self.came["nothing to install"] += 1
        else:
            self.came[type(step).__name__.lower()] += 1
            self.use(self.sites[step.site], step)

    def install(self, site: Site, step: Install) -> None:
        """Install a release, instead of what is there."""
        release = self.releases[step.release % len(self.releases)].wheels.values()
        wheels = {one.package.distribution: one.file for one in release if one.package.name not in step.without}
        for distribution in [one for one in site.wheels if one not in wheels]:
            site.uninstall(distribution, leaves_directories=step.leaves_directories)
        site.install(wheels, leaves_directories=step.leaves_directories)

    def use(self, site: Site, step: Install | Uninstall | Work | Ask) -> None:
        """Do something in a site; where nothing is installed, the newest release is first."""
        if isinstance(step, Uninstall):
            for distribution in [*site.wheels]:
                site.uninstall(distribution, leaves_directories=step.leaves_directories)
            site.check_gone()
        elif isinstance(step, Install) or not site.wheels:
            self.install(site, step if isinstance(step, Install) else Install(step.site, -1))
        if isinstance(step, Ask):
            site.ask(verify=step.verify, killed=step.killed)
        elif isinstance(step, Work):
            site.ask()
            if step.how in ("own", "link"):
                site.put(step.path, as_link=step.how == "link")
            else:
                site.edit(step.number, removes=step.how == "lose")


def live(history: History) -> Counter[str]:
    """Live a history; return what came of its steps. Raises FindingError."""
    with tempfile.TemporaryDirectory(dir=SCRATCH) as scratch:
        place, cache = Path(scratch), Cache()
        checkouts = (Checkout(place / "one", history.sdk, cache), Checkout(place / "another one", history.sdk, cache))
        life = Life(place, checkouts, (ModuleSite(place / "site"), RocmSite(place / "rocm's site")))
        life.build(checkouts[0])
        for number, step in enumerate(history.steps, 1):
            try:
                life.step(step)
            except FindingError as error:
                error.add_note(f"step {number}: {type(step).__name__}")
                raise
        for site in life.sites:
            if site.wheels:
                site.ask(verify=True)
                life.use(site, Uninstall(0))
        life.came["actions that were not repeated"] = cache.hits
        return life.came
