"""Edits of files that the machine's own linkers make, run and looked at by other tools."""

import shutil
import subprocess
from pathlib import Path
from typing import cast

import pytest
from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile

from develop.testing.linked_elf import (
    PROGRAM,
    check_bytes,
    compiler,
    complaints,
    extend,
    facts,
    link,
    link_pair,
    linkers,
    loads,
    second_opinion,
    works,
)
from lib.elf.patch import Patch, Strategy
from lib.elf.source import ElfError

pytestmark = pytest.mark.skipif(compiler() is None, reason="no C compiler on this machine")

STRIPS = [name for name in ("strip", "eu-strip", "llvm-strip") if shutil.which(name)]
SHORT = ["$ORIGIN/away"]
LONG = ["$ORIGIN/away", *(f"$ORIGIN/{'x' * 90}/{number}" for number in range(60))]
#: Of .bss, in ints: some more than may become zeros of the file, and 20 MiB.
LARGE = [1500, 5 << 20]


def check(source: Path, output: Path, patch: Patch, entries: list[str]) -> None:
    """Assert all that can be seen of an edited file without running it."""
    wanted = ":".join(entries)
    check_bytes(source, output, patch)
    assert (facts(output).rpath, facts(output).runpath) == (wanted, None)
    assert extend(output, output.with_suffix(".again"), entries).strategy is Strategy.IDENTITY
    for opinion in second_opinion(output).values():
        assert opinion == [wanted]
    with output.open("rb") as file:
        tags = [
            (tag.entry.d_tag, getattr(tag, "rpath", None))
            for tag in cast("DynamicSection", ELFFile(file).get_section_by_name(".dynamic")).iter_tags()
        ]
    assert ("DT_RPATH", wanted) in tags
    assert complaints(output) <= complaints(source)


def check_library(source: Path, entries: list[str]) -> Patch:
    output = source.with_name("edited.so")
    patch = extend(source, output, entries)
    check(source, output, patch, entries)
    assert not loads(source)
    assert loads(output)
    (source.parent / "linkable").mkdir(exist_ok=True)
    moved = Path(shutil.copy2(output, source.parent / "linkable" / "libouter.so"))
    for linker in linkers():
        options = [str(moved), f"-Wl,-rpath,{source.parent / 'loadable'}", f"-Wl,-rpath-link,{source.parent / 'away'}"]
        program = link(source.parent / f"program-{linker}", PROGRAM, *options, linker=linker)
        (source.parent / "loadable").mkdir(exist_ok=True)
        placed = source.parent / "loadable" / "libouter.so"
        placed.write_bytes(output.read_bytes())
        (source.parent / "loadable" / "away").unlink(missing_ok=True)
        (source.parent / "loadable" / "away").symlink_to("../away")
        assert subprocess.run([program], check=False).returncode == 42
    for name in STRIPS:
        stripped = Path(shutil.copy2(output, source.with_name(f"{name}.so")))
        done = subprocess.run([name, str(stripped)], capture_output=True, text=True, check=True)
        assert done.stderr == ""
        assert loads(stripped)
        assert facts(stripped).rpath == ":".join(entries)
    return patch


@pytest.mark.parametrize("linker", linkers())
@pytest.mark.parametrize(
    "options", [(), ("-s",), ("-Wl,-z,now,-z,relro",), ("-Wl,-z,norelro",), ("-Wl,-z,max-page-size=65536",)]
)
@pytest.mark.parametrize("entries", [SHORT, LONG], ids=["short", "long"])
def test_library(tmp_path: Path, linker: str, options: tuple[str, ...], entries: list[str]) -> None:
    source = link_pair(tmp_path, *options, linker=linker, zeros=900)
    assert check_library(source, entries).strategy in (Strategy.SLACK, Strategy.LAST_SEGMENT)


@pytest.mark.parametrize("linker", [name for name in linkers() if name != "gold"])  # which links none
def test_a_static_pie_stays_as_it_is(tmp_path: Path, linker: str) -> None:
    """It has a dynamic section and no loader: given an RPATH, it crashed at start."""
    program = link(tmp_path / "program", "int main(void) { return 42; }", "-static-pie", linker=linker)
    assert works(str(program))
    with pytest.raises(ElfError, match="this is a static PIE"):
        extend(program, tmp_path / "edited", SHORT)


@pytest.mark.parametrize("linker", linkers())
@pytest.mark.parametrize("zeros", LARGE)
def test_library_with_much_zeroed_memory(tmp_path: Path, linker: str, zeros: int) -> None:
    source = link_pair(tmp_path, linker=linker, zeros=zeros)
    patch = check_library(source, LONG)
    assert patch.strategy is Strategy.NEW_SEGMENT
    assert patch.size - patch.source_size < 20_000


@pytest.mark.parametrize("linker", linkers())
@pytest.mark.parametrize("options", [("-pie",), ("-no-pie",), ("-pie", "-s"), ("-no-pie", "-Wl,-z,noseparate-code")])
@pytest.mark.parametrize("zeros", [900, *LARGE])
def test_program(tmp_path: Path, linker: str, options: tuple[str, ...], zeros: int) -> None:
    library = link_pair(tmp_path, linker=linker)
    extend(library, tmp_path / "away" / "libouter.so", ["$ORIGIN"])
    text = PROGRAM.replace(
        "{ return",
        f"{{ static char z[4 * {zeros}]; for (unsigned i = 0; i < sizeof z; i++) if (z[i]++) return 2; return",
    )
    try:
        source = link(
            tmp_path / "program", text, *options, str(library), f"-Wl,-rpath-link,{tmp_path / 'away'}", linker=linker
        )
    except subprocess.CalledProcessError:
        pytest.skip(f"{linker} does not take {options}")
    output = tmp_path / "edited"
    patch = extend(source, output, LONG)
    assert patch.strategy is (Strategy.NEW_SEGMENT if zeros in LARGE else Strategy.LAST_SEGMENT)
    check(source, output, patch, LONG)
    assert subprocess.run([source], check=False, capture_output=True).returncode == 127
    assert subprocess.run([output], check=False).returncode == 42
    for name in STRIPS:
        stripped = Path(shutil.copy2(output, tmp_path / name))
        subprocess.run([name, str(stripped)], check=True)
        assert subprocess.run([stripped], check=False).returncode == 42
