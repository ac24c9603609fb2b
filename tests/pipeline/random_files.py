"""Random files and links, and paths for them.

    path, node = draw(entries)

Names come from small pools, so that they meet: one path in two artifacts, one SONAME in two libraries, links in a
circle. What comes first in a pool is simplest: findings shrink to it.
"""

import posixpath
from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from lib.device.model import Pointer
from lib.elf import constants as c
from tests.pipeline.sdk import NAMED_TARGETS, SPIRV, TORN, Data, Directory, Elf, File, Form, Link, Node, Other


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


SONAMES = (
    "libfoo.so.1",
    "libfoo.so.2",
    "libfoo.so",
    "libbar.so.1",
    "libfoo.so.1.1",
    "sub",
    "libü v.so.3",
    "libbar.so.1a",
)
#: SONAMEs that are no names of files beside the library.
STRANGE_SONAMES = ("", "sub/libfoo.so.1", "../lib/libfoo.so.1", ".", "..")
LIBRARIES = (*SONAMES, "libfoo.so.1.2", "libfoo_debug.so", "libbar.so", "libfoo.so.10", "libfoo.so.23.0git")
ODD_NAMES = ("a b", "été.txt", "x:y", "BUILD", "a=b", "%41", "-dash", "@at", "back\\slash", "+~#", "n" * 255, ".hidden")
ODD_DIRECTORIES = ("share/a b/été", "share/BUILD", "share/x:y/%41")
TOOLS = ("tool", "tool.py", "tool-1")
TEXTS = ("notes.txt", "config.h", "empty", "libfoo.so.txt", "libfoo.so.1.debug", "libfoo.so.1-gdb.py", *ODD_NAMES)
LIBRARY_DIRECTORIES = ("lib", "lib/sub", "lib64")
ORIGINS = ("$ORIGIN", "$ORIGIN/../lib", "${ORIGIN}/sub", "/build/lib", "", "$ORIGIN/..", "relative")
OTHER_CPU = {c.EM_X86_64: c.EM_AARCH64, c.EM_AARCH64: c.EM_X86_64}
machines = st.sampled_from((*[c.EM_X86_64] * 31, c.EM_AARCH64))
search_paths = chosen(st.none(), st.lists(st.sampled_from(ORIGINS), max_size=2).map(":".join))
#: Bytes of a file that are deflated at once, at most.
BLOCK = 1 << 20
VERSIONS = (("libc.so.6", ("GLIBC_2.2.5", "GLIBC_2.17")), ("libfoo.so.1", ("FOO_1",)))
libraries = st.builds(
    Elf,
    soname=st.sampled_from((*SONAMES[:5] * 2, *SONAMES[:2] * 2, None, None, *SONAMES[5:] * 2, *STRANGE_SONAMES)),
    needed=st.lists(st.sampled_from((*SONAMES[:4], *["libc.so.6"] * 2)), max_size=2, unique=True).map(tuple),
    opens=st.booleans(),
    rpath=search_paths,
    runpath=search_paths,
    machine=machines,
    variant=st.sampled_from((0, 0, 1, 2)),
    spare=st.sampled_from((3, 0)),
    zeros=st.sampled_from((*[0, 70000] * 16, BLOCK + 1)),
    versions=st.sampled_from(((), (), VERSIONS[:1], VERSIONS)),
    page=st.sampled_from((0x1000, 0x1000, 0x10000)),
    empty_load=st.sampled_from((False, False, False, True)),
)
programs = st.builds(
    Elf,
    needed=st.lists(st.sampled_from((*SONAMES[:4], "libc.so.6")), max_size=2, unique=True).map(tuple),
    rpath=search_paths,
    opens=st.booleans(),
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
any_kernels = chosen(*[st.builds(File, chosen(*[fat, datas] * 7, libraries, st.just(Data(TORN))))] * 3, links(KERNELS))


def kernels_named(name: str) -> st.SearchStrategy[tuple[str, Node]]:
    """Return kernels of this name: of those that it says they are for, or any."""
    proper = st.builds(lambda other, targets: File(replace(other, targets=targets)), fat, st.just(NAMED_TARGETS[name]))
    return st.tuples(
        paths(("lib/k", "lib", "lib/k/gfx906"), (name,)), chosen(any_kernels, *[proper] * 2 * bool(NAMED_TARGETS[name]))
    )


kernels = chosen(*map(kernels_named, KERNELS))
fat_libraries = st.tuples(paths(LIBRARY_DIRECTORIES[:2], LIBRARIES), st.builds(File, fat, st.just(True)))


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
    st.just({"lib/libfoo.so.1": library("libfoo.so.1"), "lib64/libfoo.so.1": Link("../lib/libfoo.so.1")}),
    st.just({"lib/libfoo.so": Link("libfoo.so.1"), "lib/libfoo.so.1": library("libfoo.so.1"), "lib64": Link("lib")}),
)
#: Of SDKs with packages per GPU target.
THIN_GROUPS = (
    st.builds(
        lambda form, targets: {"lib/k/K_gfx906.co": File(Other(form, targets)), "lib/k/K.co": Link("K_gfx906.co")},
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
