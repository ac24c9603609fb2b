"""Random SDKs.

    sdk = sdks().example()

Names come from small pools, so that they meet: one path in two artifacts, one SONAME in two libraries, links in a
circle. What comes first in a pool is simplest: findings shrink to it.
"""

import posixpath
from dataclasses import dataclass, replace
from typing import Any

from hypothesis import strategies as st

from tests.pipeline.sdk import (
    NAMED_TARGETS,
    SPIRV,
    TORN,
    Artifact,
    Data,
    Directory,
    Elf,
    File,
    Form,
    Link,
    Node,
    Other,
    Package,
    Sdk,
    Settings,
    Slice,
)
from tools.device.model import Pointer
from tools.elf import constants as c


def chosen(*strategies: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Return values of one of the strategies: as `st.one_of` does, in half the time."""
    return st.integers(0, len(strategies) - 1).flatmap(strategies.__getitem__)


def placeable(nodes: dict[str, Node]) -> dict[str, Node]:
    """Return what can lie in one directory: without what is below a file or a link."""
    blocked = {path for path, node in nodes.items() if not isinstance(node, Directory)}

    def fits(path: str) -> bool:
        while path := posixpath.dirname(path):
            if path in blocked:
                return False
        return True

    return {path: node for path, node in sorted(nodes.items()) if fits(path)}


SONAMES = ("libfoo.so.1", "libfoo.so.2", "libfoo.so", "libbar.so.1", "libfoo.so.1.1", "sub", "libü v.so.3")
#: SONAMEs that are no names of files beside the library.
STRANGE_SONAMES = ("", "sub/libfoo.so.1", "../lib/libfoo.so.1", ".", "..")
LIBRARIES = (*SONAMES, "libfoo.so.1.2", "libfoo_debug.so", "libbar.so", "libfoo.so.10")
ODD_NAMES = ("a b", "été.txt", "x:y", "BUILD", "a=b", "%41", "-dash", "@at", "back\\slash", "+~#", "n" * 255, ".hidden")
ODD_DIRECTORIES = ("share/a b/été", "share/BUILD", "share/x:y/%41")
TOOLS = ("tool", "tool.py", "tool-1")
TEXTS = ("notes.txt", "config.h", "empty", *ODD_NAMES)
LIBRARY_DIRECTORIES = ("lib", "lib/sub", "lib64")
ORIGINS = ("$ORIGIN", "$ORIGIN/../lib", "${ORIGIN}/sub", "/build/lib", "", "$ORIGIN/..", "relative")

OTHER_CPU = {c.EM_X86_64: c.EM_AARCH64, c.EM_AARCH64: c.EM_X86_64}
machines = st.sampled_from((*[c.EM_X86_64] * 31, c.EM_AARCH64))
search_paths = chosen(st.none(), st.lists(st.sampled_from(ORIGINS), max_size=2).map(":".join))
libraries = st.builds(
    Elf,
    soname=st.sampled_from((*SONAMES[:5] * 2, *SONAMES[:2] * 2, None, None, *SONAMES[5:] * 2, *STRANGE_SONAMES)),
    needed=st.lists(st.sampled_from((*SONAMES[:4], "libc.so.6")), max_size=2, unique=True).map(tuple),
    rpath=search_paths,
    runpath=search_paths,
    machine=machines,
    variant=st.sampled_from((0, 0, 1, 2)),
    spare=st.sampled_from((3, 0)),
    zeros=st.sampled_from((0, 70000)),
    page=st.sampled_from((0x1000, 0x1000, 0x10000)),
    empty_load=st.sampled_from((False, False, False, True)),
)
programs = st.builds(
    Elf,
    needed=st.lists(st.sampled_from(SONAMES[:4]), max_size=2, unique=True).map(tuple),
    rpath=search_paths,
    machine=st.sampled_from((*[c.EM_X86_64] * 9, c.EM_AARCH64)),
    program=st.just(True),
    variant=st.sampled_from((0, 1)),
)
others = st.builds(Other, form=st.sampled_from(Form), targets=st.sampled_from((("gfx1030",), ("gfx1030", "gfx90a"))))
CODE = (
    "gfx1030",
    "gfx90a",
    "gfx906",
    "gfx90a:xnack+",
    "gfx90a:xnack-",
    "gfx10-3-generic",
    "gfx9-generic",
    SPIRV,
    "gfx1011",
)
COMPRESSIONS = ((0, ""), (2, "zlib"), (2, "zstd"), (3, "zstd"), (1, "zlib"))
fat = st.builds(
    Other,
    form=st.sampled_from((Form.FAT_LIBRARY, Form.FAT_LIBRARY, Form.BUNDLE)),
    targets=st.lists(st.sampled_from((*CODE[:4] * 4, *CODE)), min_size=1, max_size=5, unique=True).map(tuple),
    parts=st.sampled_from((1, 2, 3)),
    size=st.sampled_from((50, 5000)),
    compressions=st.lists(st.sampled_from((*COMPRESSIONS[:1] * 4, *COMPRESSIONS)), max_size=2).map(tuple),
    pointer=st.sampled_from(Pointer),
    soname=st.sampled_from((None, "libfoo.so.1", "libk_gfx906.so.1")),
)
datas = st.sampled_from((b"", b"a", b"b", *[b"#!/bin/sh\n"] * 4, b"__CLANG_OFF")).map(Data)
damaged = chosen(*[datas] * 127, st.just(Data(b"\x7fELF")))

library_files = st.builds(File, libraries, st.sampled_from((True, False)))
tool_files = st.builds(File, chosen(programs, damaged, others), st.sampled_from((True, False)))
text_files = st.builds(File, chosen(datas, others, libraries), st.sampled_from((False, True)))


def links(names: tuple[str, ...]) -> st.SearchStrategy[Link]:
    """Return links to what may lie beside, in other directories, nowhere, or out of the prefix."""
    beside = st.sampled_from(names)
    far = st.builds(
        lambda directory, name: f"../{directory}/{name}", st.sampled_from((*LIBRARY_DIRECTORIES, "bin")), beside
    )
    strange = st.sampled_from(
        (
            "missing",
            "sub",
            ".",
            "..",
            "../bin",
            "libfoo.so.1/",
            "tool/.",
            "../lib//libfoo.so.1",
            "./tool",
            "sub/../tool",
        )
    )
    out = st.sampled_from(("missing", *["../lib"] * 9, "../../../out", "/abs"))
    return st.builds(Link, chosen(*[beside] * 8, *[far] * 8, *[strange] * 3, out))


def paths(directories: tuple[str, ...], names: tuple[str, ...]) -> st.SearchStrategy[str]:
    """Return paths of these names in these directories."""
    return st.builds(posixpath.join, st.sampled_from(directories), st.sampled_from(names))


entries = chosen(
    st.tuples(paths(LIBRARY_DIRECTORIES, LIBRARIES), chosen(library_files, library_files, links(LIBRARIES))),
    st.tuples(paths(("bin", "libexec/x"), TOOLS), chosen(tool_files, links((*TOOLS, *LIBRARIES[:2])))),
    st.tuples(
        paths(("bin",), TOOLS), chosen(st.builds(File, programs, st.just(True)), st.sampled_from(TOOLS).map(Link))
    ),
    st.tuples(paths(LIBRARY_DIRECTORIES[:2], LIBRARIES), st.just(Directory())),
    st.tuples(
        paths(("share/doc", "lib/cmake", "include", *ODD_DIRECTORIES), TEXTS),
        chosen(text_files, links(TEXTS), st.just(Directory())),
    ),
    st.tuples(st.sampled_from(("lib64", "lib/sub", "llvm")), st.sampled_from(("lib", "bin", "sub", ".")).map(Link)),
)
KERNELS = tuple(name for name in NAMED_TARGETS if name != "gfx906")
kernels = st.tuples(
    paths(("lib/k", "lib", "lib/k/gfx906"), KERNELS),
    chosen(*[st.builds(File, chosen(*[fat, datas] * 7, libraries, st.just(Data(TORN))))] * 3, links(KERNELS)),
)
fat_libraries = st.tuples(paths(LIBRARY_DIRECTORIES[:2], LIBRARIES), st.builds(File, fat, st.just(True)))
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


def library(soname: str, variant: int = 0) -> File:
    """Return a library that runs, in one of its builds."""
    return File(Elf(soname=soname, variant=variant), executable=True)


#: Builds of one library; of the first and the third the size is the same.
BUILDS = st.sampled_from((0, 1, 2))
#: Paths that have to do with each other: what one of them is decides what becomes of the others.
GROUPS = (
    st.builds(
        lambda one, other: {
            "lib/libfoo.so.1": library("libfoo.so.1"),
            "lib/libfoo.so.1.2": library("libfoo.so.1", one),
            "lib/libfoo_debug.so": library("libfoo.so.1", other),
        },
        BUILDS,
        BUILDS,
    ),
    st.just(
        {
            "lib/libbar.so.9": library("libbar.so.9"),
            "lib/libbar.so.10": library("libbar.so.10"),
            "bin/tool-1": Link("../lib/libbar.so.9"),
        }
    ),
    st.builds(
        lambda machine, is_executable: {
            "bin/tool": File(Elf(machine=machine, program=True), is_executable),
            "bin/tool-1": Link("tool"),
            "libexec/x/tool": Link("../../bin/tool-1"),
        },
        st.sampled_from((c.EM_X86_64, c.EM_X86_64, c.EM_AARCH64)),
        st.sampled_from((True, True, True, False)),
    ),
    st.just(
        {
            "share/doc/config.h": Link("a b"),
            "share/doc/a b": Link("notes.txt"),
            "share/doc/notes.txt": File(Data(b"text")),
            "include/config.h": Link("../share/doc/config.h"),
        }
    ),
    st.just({"lib/libfoo.so": Link("libfoo.so.1"), "lib/libfoo.so.1": library("libfoo.so.1"), "lib64": Link("lib")}),
)
#: Of SDKs with packages per GPU target.
THIN_GROUPS = (
    st.builds(
        lambda form, targets: {
            "lib/k/K_gfx906.co": File(Other(form, targets)),
            "lib/k/K.co": Link("K_gfx906.co"),
        },
        st.sampled_from((Form.BUNDLE, Form.FAT_LIBRARY)),
        st.sampled_from((("gfx906",), ("gfx906", "gfx9-generic"), ("gfx906", "gfx1030"))),
    ),
    st.builds(
        lambda targets: {
            "lib/libk.so.1": File(Other(Form.FAT_LIBRARY, targets, soname="libk.so.1"), executable=True),
            "lib/k/a.hsaco": File(Other(Form.BUNDLE, targets)),
            "lib/k/b.hsaco": Link("a.hsaco"),
        },
        st.lists(st.sampled_from((*CODE[:-1], *CODE[:3])), min_size=1, max_size=4, unique=True).map(tuple),
    ),
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
                )
            )
    if not packages or draw(THREE):
        on_names = tuple(package.name for package in packages)
        rpath = searched(("_devel", *(package.tree for package in packages)))
        kept = draw(PATTERN_SETS)
        packages.append(
            Package("devel", "_devel", names, on_names, "devel", exclude=kept, rpath=rpath, repacked=draw(BOOLEANS))
        )
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
        left_out = left_out[1:]
    exclude, include = draw(PATTERN_SETS), draw(SOME_INCLUDED)
    trees = tuple(package.tree for package in packages)
    on = tuple(package.name for package in packages)
    for name, several in targets.items():
        tree = f"_libraries_{name}"
        declared = Slice(several, all_targets, left_out)
        rpath = searched((tree, *trees))
        packages.append(
            Package(f"libraries_{name}", tree, of_thin, on, "runtime", include, exclude, rpath, slice=declared)
        )
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
    devel_archive=st.sampled_from(("tar", "tar.xz")),
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
