"""Whatever odd options a file is linked with: the edit holds, and the file works as before."""

import struct
import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st

from develop.testing.linked_elf import (
    PROGRAM,
    check_bytes,
    check_growth,
    compiler,
    complaints,
    extend,
    facts,
    link,
    link_pair,
    linkers,
    loads,
    second_opinion,
    takes,
    works,
)
from lib.elf.patch import Strategy

pytestmark = pytest.mark.skipif(compiler() is None, reason="no C compiler on this machine")

CHOICES = [
    ["-Wl,-z,separate-code", "-Wl,-z,noseparate-code", "-Wl,-z,separate-loadable-segments", "-Wl,--no-rosegment"],
    ["-Wl,-z,relro,-z,now", "-Wl,-z,norelro", "-Wl,-z,relro,-z,lazy"],
    ["-Wl,--pack-dyn-relocs=relr", "-Wl,-z,pack-relative-relocs"],
    ["-Wl,-z,max-page-size=4096", "-Wl,-z,max-page-size=65536", "-Wl,-z,max-page-size=2097152"],
    ["-Wl,--hash-style=sysv", "-Wl,--hash-style=gnu", "-Wl,--hash-style=both"],
    ["-Wl,--spare-dynamic-tags=1", "-Wl,--spare-dynamic-tags=2", "-Wl,-z,rodynamic"],
    ["-Wl,-rpath,/nowhere", "-Wl,-rpath,/nowhere/" + "y" * 200, "-Wl,--enable-new-dtags,-rpath,/nowhere:/usr/nowhere"],
    ["-s", "-g"],
    ["-Wl,--build-id=sha1", "-Wl,--build-id=none", f"-Wl,--build-id=0x{'0123456789abcdef' * 20}"],
]
#: Of .bss, in ints: from less than a page to more than was ever written out as zeros.
ZEROS = st.sampled_from([1, 900, 1500, 1 << 18, 5 << 20])
ENTRIES = st.sampled_from([0, 1, 40]).map(lambda n: ["$ORIGIN/away", *(f"$ORIGIN/{'x' * 90}/{at}" for at in range(n))])
SETTINGS = settings(
    max_examples=40, deadline=None, database=None, derandomize=True, suppress_health_check=list(HealthCheck)
)


def options_of(linker: str, machine: str = "x86_64") -> st.SearchStrategy[tuple[str, ...]]:
    """Make sets of options: each kind is given or left out, and none is given that the linker does not know."""
    known = [[option for option in choices if takes(linker, machine, option)] for choices in CHOICES]
    return st.tuples(*(st.sampled_from([None, *choices]) for choices in known)).map(
        lambda options: tuple(option for option in options if option is not None)
    )


def without_sections(path: Path) -> None:
    """Make a file forget its section headers, as sstrip does."""
    data = bytearray(path.read_bytes())
    struct.pack_into("<Q", data, 0x28, 0)
    struct.pack_into("<HH", data, 0x3C, 0, 0)
    path.write_bytes(data)


def check(source: Path, output: Path, entries: list[str]) -> None:
    """Edit a file and assert all that can be seen without running it."""
    before = facts(source).runpath or facts(source).rpath
    wanted = ":".join([*([before] if before else []), *entries])
    patch = extend(source, output, entries)
    check_bytes(source, output, patch)
    if facts(source).section_headers or not facts(source).is_program:  # Else its program headers cannot grow.
        check_growth(source, output)
    assert (facts(output).rpath, facts(output).runpath) == (wanted, None)
    assert extend(output, output.with_suffix(".again"), entries).strategy is Strategy.IDENTITY
    if facts(source).section_headers:
        assert set(map(tuple, second_opinion(output).values())) <= {(wanted,)}
    assert complaints(output) <= complaints(source)


@pytest.mark.parametrize("linker", linkers())
@given(data=st.data(), zeros=ZEROS, entries=ENTRIES, sections=st.booleans())
@SETTINGS
def test_libraries(linker: str, data: st.DataObject, zeros: int, entries: list[str], sections: bool) -> None:
    options = data.draw(options_of(linker))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        try:
            source = link_pair(folder, *options, linker=linker, zeros=zeros)
        except subprocess.CalledProcessError:
            reject()
        if not sections:
            without_sections(source)
        output = folder / "edited.so"
        check(source, output, entries)
        assert loads(output) == loads(source, search=folder / "away")
        if sections:
            assert loads(_stripped(output)) == loads(_stripped(source), search=folder / "away")


def _stripped(source: Path) -> Path:
    """Make a stripped copy beside the file."""
    target = source.with_suffix(".stripped")
    subprocess.run(["strip", "-o", str(target), str(source)], check=True, capture_output=True)
    return target


@pytest.mark.parametrize("linker", linkers())
@given(data=st.data(), zeros=ZEROS, entries=ENTRIES, sections=st.booleans(), kind=st.sampled_from(["-pie", "-no-pie"]))
@SETTINGS
def test_programs(linker: str, data: st.DataObject, zeros: int, entries: list[str], sections: bool, kind: str) -> None:
    options = data.draw(options_of(linker))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        library = link_pair(folder, linker="bfd")
        extend(library, folder / "away" / "libouter.so", ["$ORIGIN"])
        text = f"static volatile char zeros[4 * {zeros}];\n" + PROGRAM.replace("return", "return zeros[1] == 0 &&")
        try:
            arguments = (kind, *options, str(library), f"-Wl,-rpath-link,{folder / 'away'}")
            source = link(folder / "program", text, *arguments, linker=linker)
        except subprocess.CalledProcessError:
            reject()
        if not sections:
            without_sections(source)
            if zeros > 1 << 20:
                reject()
        output = folder / "edited"
        check(source, output, entries)
        assert works(str(output)) == works(str(source), search=folder / "away")


@pytest.mark.skipif(compiler("aarch64") is None, reason="no C compiler for aarch64 on this machine")
@pytest.mark.parametrize("linker", linkers("aarch64"))
@given(data=st.data(), zeros=ZEROS, entries=ENTRIES)
@SETTINGS
def test_aarch64_libraries(linker: str, data: st.DataObject, zeros: int, entries: list[str]) -> None:
    options = data.draw(options_of(linker, "aarch64"))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        try:
            source = link_pair(folder, *options, linker=linker, machine="aarch64", zeros=zeros)
        except subprocess.CalledProcessError:
            reject()
        check(source, folder / "edited.so", entries)
