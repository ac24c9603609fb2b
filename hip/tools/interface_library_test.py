"""Interface libraries: programs that are linked with one are as if they were linked with the library."""

import random
import shutil
import subprocess
from pathlib import Path

import pytest

from develop.testing.elf_sample import Sample
from develop.testing.linked_elf import compiler, facts, link, linkers
from hip.tools.interface_library import Interface, Symbol, interface_library, main

LIBRARY = """
int counter = 1, table[100] __attribute__((aligned(64)));
extern int other_name __attribute__((weak, alias("counter")));
__thread int per_thread = 5;
static int hidden(void) { return counter; }
int plain(void) { return hidden(); }
__attribute__((weak)) int weak(void) { return 4; }
__asm__(".symver old_version, twice@V_1");
__asm__(".symver new_version, twice@@V_2");
int old_version(int x) { return x; }
int new_version(int x) { return BODY; }
"""
VERSIONS = (
    "V_1 { global: counter; other_name; table; per_thread; plain; weak; twice; local: *; }; V_2 { global: twice; } V_1;"
)
PROGRAM = """
extern volatile int counter, other_name;
extern int table[100], plain(void), weak(void), twice(int);
extern __thread int per_thread;
int main(void) {
  counter += 1;
  if ((unsigned long)table % 64 || counter != other_name) return 1;
  return per_thread == 5 && weak() == 4 && twice(plain()) == 4 ? 42 : 2;
}
"""
#: What programs are linked with instead of libraries that others load.
NOTHING = Path("hip/tools/nothing.tbd").absolute()
needs_compiler = pytest.mark.skipif(not compiler(), reason="needs a C compiler")


def converted(library: Path, output: Path) -> bytes:
    """Run the tool; return what it wrote."""
    assert main(["--label=//:x", f"--output={output}", f"--library={library}"]) == 0
    return output.read_bytes()


def sample_library(folder: Path, *options: str, body: str = "2 * x") -> Path:
    """Link the library."""
    (folder / "versions").write_text(VERSIONS)
    base = ("-shared", "-fPIC", "-Wl,-soname,libx.so.1", f"-Wl,--version-script={folder / 'versions'}")
    return link(folder / "libx.so.1", LIBRARY, *base, f"-DBODY={body}", *options)


@needs_compiler
@pytest.mark.parametrize("mode", [("-no-pie", "-fno-pic"), ("-pie", "-fPIE")])
@pytest.mark.parametrize("linker", linkers())
def test_a_program_is_as_if_linked_with_the_library(tmp_path: Path, linker: str, mode: tuple[str, str]) -> None:
    library = sample_library(tmp_path)
    stub = tmp_path / "libx.tbd"
    assert len(converted(library, stub)) < 4096
    programs = []
    for number, linked in enumerate((library, stub)):
        options = (*mode, str(linked), f"-Wl,-rpath,{tmp_path}", "-Wl,--fatal-warnings", "-Wl,--build-id=none")
        programs.append(link(tmp_path / f"program{number}", PROGRAM, *options, linker=linker))
        assert subprocess.run([programs[-1]], check=False).returncode == 42
    first, second = map(facts, programs)
    assert (first.needed, first.versions_needed) == (second.needed, second.versions_needed)
    assert "libx.so.1" in first.needed
    assert first.versions_needed["libx.so.1"] == second.versions_needed["libx.so.1"]
    if readelf := shutil.which("readelf"):
        commands = [[readelf, "-rW", str(path)] for path in programs]
        relocations = [subprocess.run(one, check=True, capture_output=True, text=True).stdout for one in commands]
        kinds = [sorted(line.split()[2:5:2] for line in text.splitlines() if "R_X86" in line) for text in relocations]
        assert kinds[0] == kinds[1]


@needs_compiler
@pytest.mark.parametrize("linker", linkers())
def test_every_linker_takes_the_interface_of_nothing(tmp_path: Path, linker: str) -> None:
    plain, program = tmp_path / "plain", tmp_path / "program"
    link(plain, "int main(void) { return 42; }", linker=linker)
    link(program, "int main(void) { return 42; }", str(NOTHING), "-Wl,--fatal-warnings", linker=linker)
    assert subprocess.run([program], check=False).returncode == 42
    assert facts(program).needed == facts(plain).needed


@needs_compiler
def test_what_a_symbol_is_stays(tmp_path: Path) -> None:
    library = sample_library(tmp_path)
    converted(library, tmp_path / "libx.tbd")
    if readelf := shutil.which("readelf"):
        listed = []
        for path in (library, tmp_path / "libx.tbd"):
            command = [readelf, "--dyn-syms", "-W", str(path)]
            text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            rows = [line.split() for line in text.splitlines() if line.strip()[:1].isdigit()]
            listed.append(
                sorted((row[3:6], row[7].partition("@")[0]) for row in rows if len(row) > 7 and row[6] != "UND")
            )
        assert listed[0] == listed[1]
        assert len(listed[0]) == 10


@needs_compiler
def test_a_change_of_code_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    one = converted(sample_library(tmp_path), tmp_path / "one")
    longer = sample_library(tmp_path / "other", "-Dhidden=renamed", body="x > 7 ? 3 * x * x : 2 * x")
    assert converted(longer, tmp_path / "two") == one
    more = sample_library(tmp_path, "-Dweak=another", body="x")
    assert converted(more, tmp_path / "three") != one


@needs_compiler
def test_a_library_without_soname_is_called_by_its_file(tmp_path: Path) -> None:
    converted(link(tmp_path / "libplain.so", "int f(void) { return 0; }", "-shared", "-fPIC"), tmp_path / "out.tbd")
    with (tmp_path / "out.tbd").open("rb") as file:
        content = file.read()
    assert b"\0libplain.so\0" in content


def test_what_is_needed_of_others_is_left_out(tmp_path: Path) -> None:
    library = tmp_path / "libx.so.1"
    library.write_bytes(Sample(soname="libx.so.1", needed=("liby.so.2",)).build())
    content = converted(library, tmp_path / "x.tbd")
    assert b"libx.so.1" in content
    assert b"liby" not in content


def test_linker_scripts_are_copied(tmp_path: Path) -> None:
    (tmp_path / "libx.so").write_text("INPUT(libx.so.1)")
    assert converted(tmp_path / "libx.so", tmp_path / "x.tbd") == b"INPUT(libx.so.1)"


def test_damaged_libraries_are_refused_or_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Whatever a byte becomes, there is a message or an interface library."""
    whole = Sample(soname="libx.so.1", needed=("liby.so.2",)).build()
    library, output = tmp_path / "libx.so.1", tmp_path / "x.tbd"
    chosen = random.Random(24)
    for _ in range(1500):
        damaged = bytearray(whole)
        damaged[chosen.randrange(4, len(whole))] ^= 1 << chosen.randrange(8)
        library.write_bytes(damaged)
        output.unlink(missing_ok=True)
        status = main(["--label=//:x", f"--output={output}", f"--library={library}"])
        said = capsys.readouterr().err
        assert output.exists() == (status == 0)
        assert status == 0 or said.startswith(f"ERROR: //:x: {library}: expected a shared library (")


def test_a_version_that_is_not_defined() -> None:
    symbol = Symbol("f", 5, 0x12, 0, "code", 0, 0)
    with pytest.raises(ValueError, match="f has version number 5"):
        interface_library(Interface(62, "libx.so.1", (symbol,), ("V_1",)))
