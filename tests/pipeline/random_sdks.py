"""Random SDKs.

    sdk = sdks().example()

They are made of random files (`tests.pipeline.random_files`), of which several may have one path.
"""

from dataclasses import dataclass, replace

from hypothesis import strategies as st

from tests.pipeline.random_files import (
    GROUPS,
    OTHER_CPU,
    THIN_GROUPS,
    chosen,
    entries,
    fat_libraries,
    kernels,
    placeable,
)
from tests.pipeline.sdk import Artifact, Elf, File, Node, Other, Package, Sdk, Settings, Slice

ARTIFACTS = ("hip_lib_generic", "hip_run_generic", "blas_lib_generic", "hip_dev_generic", "blas_lib_gfx950:xnack+")
BASES = ("stage", "core/clr/stage", "stage/inner", "données/s t")
PATTERNS = (
    "**/cmake/**",
    *["bin/tool"] * 3,
    "lib/libfoo.so.1.1",
    "lib/libfoo.so.1",
    "lib/*.so",
    "bin/**",
    "lib/libfoo.so.*",
    "**/*.txt",
    "share/**",
)


@dataclass(frozen=True)
class _Placed:
    """An entry, and in which of all base directories it lies: in a second one perhaps, too, there perhaps another."""

    path: str
    node: Node
    first: int
    second: int | None
    instead: Node | None

    @property
    def again(self) -> Node:
        """What lies in the second: mostly the same, sometimes with the other mode."""
        if self.instead is None and isinstance(self.node, File) and self.second and self.second % 3 == 0:
            return replace(self.node, executable=not self.node.executable)
        return self.instead or self.node


def placed(what: st.SearchStrategy[tuple[str, Node]]) -> st.SearchStrategy[_Placed]:
    """Return entries with their places."""
    return st.builds(
        lambda entry, first, second, other: _Placed(entry[0], entry[1], first, second, other[1] if other else None),
        what,
        st.integers(0, 7),
        chosen(*[st.none()] * 5, st.integers(0, 7)),
        chosen(*[st.none()] * 11, entries),
    )


ANY_GROUP = chosen(*GROUPS)
ANY_THIN_GROUP = chosen(*GROUPS, *THIN_GROUPS * 3)
THREE, EIGHT = st.integers(0, 2), st.integers(0, 7)


@st.composite
def groups(draw: st.DrawFn, *, is_thin: bool) -> list[_Placed]:
    """Return paths that have to do with each other, mostly in one base directory."""
    nodes = draw(ANY_THIN_GROUP if is_thin else ANY_GROUP)
    first = draw(EIGHT)
    return [
        _Placed(path, node, first + (draw(THREE) == 2), 3 if draw(THREE) == 2 else None, None)
        for path, node in nodes.items()
    ]


PLACED = placed(entries)
#: Of an SDK from which a package per GPU target is made.
PLACED_THIN = placed(chosen(entries, kernels, kernels, fat_libraries))
SETS_OF_NAMES = st.lists(st.sampled_from(ARTIFACTS), min_size=1, max_size=4, unique=True).map(sorted)
SETS_OF_BASES = st.lists(st.sampled_from(BASES), min_size=1, max_size=2, unique=True)
SEVERAL = st.integers(0, 14)
GROUP, THIN_GROUP = groups(is_thin=False), groups(is_thin=True)


@st.composite
def artifact_sets(draw: st.DrawFn, *, is_thin: bool) -> tuple[Artifact, ...]:
    """Return up to four artifacts, each with one or two base directories."""
    names = draw(SETS_OF_NAMES)
    bases = [(name, base) for name in names for base in draw(SETS_OF_BASES)]
    found: dict[tuple[str, str], dict[str, Node]] = {base: {} for base in bases}
    several = (draw(PLACED_THIN if is_thin else PLACED) for _ in range(draw(SEVERAL)))
    pool = {one.path: one for one in several}
    for _ in range(draw(THREE)):
        pool |= {one.path: one for one in draw(THIN_GROUP if is_thin else GROUP)}
    clean = placeable({path: one.node for path, one in pool.items()})
    for path, one in pool.items():
        if path in clean or one.second == 0:
            found[bases[one.first % len(bases)]][path] = one.node
            if one.second is not None:
                found[bases[one.second % len(bases)]][path] = one.again
    return tuple(
        Artifact(name, {base: placeable(found[one, base]) for one, base in bases if one == name}) for name in names
    )


def searched(trees: tuple[str, ...]) -> tuple[str, ...]:
    """Return the directories that the loader searches for a package that is installed with these trees."""
    return tuple(f"{tree}/lib" for tree in dict.fromkeys(trees))


PATTERN_SETS = chosen(st.just(()), st.lists(st.sampled_from(PATTERNS), max_size=2, unique=True).map(tuple), st.just(()))
THIRD = st.sampled_from((2, 3))
#: Of how many packages each artifact is, which may be none.
COUNTS = st.sampled_from((st.just(1), st.just(1), st.just(1), st.integers(1, 2), *[st.integers(0, 1)] * 3, THREE))
SOME_INCLUDED = chosen(st.just(()), st.just(()), PATTERN_SETS)
BOOLEANS, SIXTEEN = st.booleans(), st.integers(0, 15)
STRICT = st.sampled_from((*[False] * 7, True))
#: Packages for run time and their trees. Each builds on those before it; but the profiler, which builds on core alone.
RUNTIME = (("core", "_core"), ("libraries", "_libraries"), ("profiler", "_profiler"), ("device", "_libraries"))


@st.composite
def package_sets(draw: st.DrawFn, names: tuple[str, ...]) -> tuple[Package, ...]:
    """Return packages made from artifacts of these names: up to three for run time, and perhaps one for development."""
    any_three, count = (0, 1, draw(THIRD)), draw(COUNTS)
    owners = {name: {any_three[draw(THREE)] for _ in range(draw(count))} for name in names}
    packages: list[Package] = []
    for number, (name, tree) in enumerate(RUNTIME):
        of = tuple(artifact for artifact, numbers in owners.items() if number in numbers)
        if of or not draw(SIXTEEN):
            on = tuple(package for package in packages if name != "profiler" or package.name == "core")
            packages.append(
                Package(
                    name,
                    tree,
                    of,
                    builds_on=tuple(package.name for package in on),
                    exclude=draw(PATTERN_SETS),
                    include=draw(SOME_INCLUDED),
                    rpath=searched((tree, *(package.tree for package in on))),
                    strict=draw(STRICT),
                )
            )
    if not packages or draw(THREE):
        on_names = tuple(package.name for package in packages)
        rpath = searched(("_devel", *(package.tree for package in packages)))
        kept = draw(PATTERN_SETS)
        devel = Package("devel", "_devel", names, on_names, "devel", exclude=kept, rpath=rpath, repacked=draw(BOOLEANS))
        packages.append(replace(devel, strict=draw(STRICT)))
    return tuple(packages)


#: Sets of packages per GPU target, or group of them: package -> its targets.
THIN_SETS: tuple[dict[str, tuple[str, ...]], ...] = (
    {"gfx1030": ("gfx1030",), "gfx90a": ("gfx90a",)},
    {"gfx1030": ("gfx1030",)},
    {"gfx906": ("gfx906",), "both": ("gfx1030", "gfx90a")},
    {"gfx1030": ("gfx1030",), "gfx90a": ("gfx90a:xnack+",)},
    {"gfx906": ("gfx906",), "gfx1030": ("gfx1030",), "gfx90a": ("gfx90a",)},
)
THIN_OWNERS = st.sampled_from(("thin", "thin", "core", "both", "devel"))
SETS_OF_TARGETS = st.sampled_from(THIN_SETS)
PROCESSORS = ("gfx1011", "gfx1030", "gfx906", "gfx90a")


@st.composite
def thin_package_sets(draw: st.DrawFn, names: tuple[str, ...]) -> tuple[Package, ...]:
    """Return packages per GPU target, perhaps with one for run time that they build on, and one for development."""
    owners = {name: draw(THIN_OWNERS) for name in names}
    packages = []
    if of_core := tuple(name for name, owner in owners.items() if owner in ("core", "both")):
        packages.append(Package("core", "_core", of_core, exclude=draw(PATTERN_SETS), rpath=searched(("_core",))))
    of_thin = tuple(name for name, owner in owners.items() if owner in ("thin", "both")) or names[:1]
    targets = draw(SETS_OF_TARGETS)
    all_targets = tuple(sorted({one for several in targets.values() for one in several}))
    left_out = tuple(one for one in PROCESSORS if one not in all_targets)
    if not draw(EIGHT):
        forgotten = draw(THREE)
        left_out = (*left_out[:forgotten], *left_out[forgotten + 1 :])
    exclude, include, strict = draw(PATTERN_SETS), draw(SOME_INCLUDED), draw(STRICT)
    trees = tuple(package.tree for package in packages)
    on = tuple(package.name for package in packages)
    for name, several in targets.items():
        tree = f"_libraries_{name}"
        declared = Slice(several, all_targets, left_out)
        rpath = searched((tree, *trees))
        thin = Package(f"libraries_{name}", tree, of_thin, on, "runtime", include, exclude, rpath, slice=declared)
        packages.append(replace(thin, strict=strict))
    if draw(THREE):
        on = tuple(package.name for package in packages)
        rpath = searched(("_devel", *trees))
        packages.append(
            Package("devel", "_devel", names, on, "devel", exclude=draw(PATTERN_SETS), rpath=rpath, repacked=True)
        )
    return tuple(packages)


settings_of_builds = st.builds(
    Settings,
    compression=st.sampled_from(("fast", "balanced", "small")),
    devel_archive=st.sampled_from(("none", "none", "tar")),
    big_file=st.sampled_from((32 << 20, 600)),
    version=st.sampled_from(("1.0", "7.10.0.dev0", "1!2.0rc1+rocm7.2")),
    license_patterns=st.sampled_from(((), ("share/doc/**", "**/notes.txt"))),
    scripts=st.booleans(),
)


def for_other_cpu(sdk: Sdk) -> Sdk:
    """Return the SDK with the two CPUs exchanged."""

    def exchanged(node: Node) -> Node:
        if isinstance(node, File) and isinstance(node.content, Elf | Other):
            return replace(node, content=replace(node.content, machine=OTHER_CPU[node.content.machine]))
        return node

    artifacts = tuple(
        Artifact(
            one.name,
            {base: {path: exchanged(node) for path, node in nodes.items()} for base, nodes in one.bases.items()},
        )
        for one in sdk.artifacts
    )
    return Sdk(artifacts, sdk.packages, replace(sdk.settings, machine=OTHER_CPU[sdk.settings.machine]))


CHANGES = st.sampled_from(("entry", "entry", "mode", "remove", "setting", "pattern"))
ANY_ENTRY = chosen(entries, kernels)


@st.composite
def changed(draw: st.DrawFn, sdk: Sdk) -> Sdk:
    """Return an SDK in which one thing is otherwise: a path is there or not, is another, or a setting is."""
    what = draw(CHANGES)
    if what == "setting":
        name = draw(st.sampled_from(("compression", "devel_archive", "version", "license_patterns", "big_file")))
        other = draw(settings_of_builds)
        return replace(sdk, settings=replace(sdk.settings, **{name: getattr(other, name)}))
    if what == "pattern":
        patterns = draw(PATTERN_SETS)
        number = draw(st.integers(0, len(sdk.packages) - 1))
        is_thin = sdk.packages[number].slice is not None
        packages = [
            replace(one, exclude=patterns) if at == number or (is_thin and one.slice) else one
            for at, one in enumerate(sdk.packages)
        ]
        return replace(sdk, packages=tuple(packages))
    number = draw(st.integers(0, len(sdk.artifacts) - 1))
    artifact = sdk.artifacts[number]
    base = draw(st.sampled_from(sorted(artifact.bases)))
    nodes = _changed_nodes(draw, what, artifact.bases[base])
    bases = {one: nodes if one == base else known for one, known in artifact.bases.items()}
    artifacts = (*sdk.artifacts[:number], Artifact(artifact.name, bases), *sdk.artifacts[number + 1 :])
    return replace(sdk, artifacts=artifacts)


def _changed_nodes(draw: st.DrawFn, what: str, nodes: dict[str, Node]) -> dict[str, Node]:
    """Return the content of a base directory with a path added, removed, or otherwise."""
    files = sorted(path for path, node in nodes.items() if isinstance(node, File))
    if what == "remove" and nodes:
        gone = draw(st.sampled_from(sorted(nodes)))
        return {path: node for path, node in nodes.items() if path != gone}
    if what == "mode" and files:
        path = draw(st.sampled_from(files))
        file = nodes[path]
        assert isinstance(file, File)
        return nodes | {path: replace(file, executable=not file.executable)}
    path, node = draw(ANY_ENTRY)
    return placeable(nodes | {draw(st.sampled_from([path, *files])): node})


#: Which SDKs are drawn: those with packages per GPU target, others, or some of each.
KINDS = {
    name: st.sampled_from(of) for name, of in (("all", (False, False, True)), ("thin", (True,)), ("usual", (False,)))
}


@st.composite
def sdks(draw: st.DrawFn, kind: str = "all") -> Sdk:
    """Return SDKs of one of the KINDS."""
    is_thin = draw(KINDS[kind])
    artifacts = draw(artifact_sets(is_thin=is_thin))
    packages = draw((thin_package_sets if is_thin else package_sets)(tuple(one.name for one in artifacts)))
    sdk = Sdk(artifacts, packages, draw(settings_of_builds))
    return for_other_cpu(sdk) if draw(EIGHT) == 7 else sdk


@st.composite
def sdks_and_changes(draw: st.DrawFn, kind: str = "all") -> tuple[Sdk, Sdk]:
    """Return SDKs, each with what it is after a change."""
    sdk = draw(sdks(kind))
    return sdk, draw(changed(sdk))
