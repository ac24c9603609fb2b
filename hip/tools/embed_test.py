"""Tests of the assembly that holds a program's device code, assembled and linked where there is a compiler."""

import subprocess
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from develop.testing.linked_elf import compiler
from hip.tools.embed import assembly, main, undefined_symbols
from lib.common.program import ToolError

#: What clang leaves to others in an object file with relocatable device code, in short.
SOURCE = """
extern const char __hip_fatbin_{id}[];
extern void *__hip_gpubin_handle_{id};
const void *const __hip_fatbin_wrapper_{id} = __hip_fatbin_{id};
void **handle_{id}(void) {{ return &__hip_gpubin_handle_{id}; }}
"""
PROGRAM = """
#include <string.h>
extern const char *const __hip_fatbin_wrapper_one, *const __hip_fatbin_wrapper_two;
extern void **handle_one(void), **handle_two(void);
int main(void) {
  if (__hip_fatbin_wrapper_one != __hip_fatbin_wrapper_two || handle_one() != handle_two()) return 1;
  if ((unsigned long)__hip_fatbin_wrapper_one % 4096 || *handle_one()) return 2;
  *handle_one() = handle_two();
  return memcmp(__hip_fatbin_wrapper_one, "DEVICE CODE", 11) ? 3 : 42;
}
"""

needs_compiler = pytest.mark.skipif(not compiler(), reason="no C compiler on this machine")


def run(*command: str | Path) -> int:
    """Run a program; return its exit status."""
    return subprocess.run([str(one) for one in command], check=False).returncode


def built(directory: Path, identifier: str) -> Path:
    """Compile an object file as clang makes them for a source with this identifier."""
    source = directory / f"{identifier}.c"
    source.write_text(SOURCE.format(id=identifier), encoding="utf-8")
    output = source.with_suffix(".o")
    assert run(compiler() or "cc", "-fPIC", "-c", source, "-o", output) == 0
    return output


def embed(output: Path, bundle: Path, *objects: Path) -> int:
    """Run the tool."""
    return main(
        ["--label=//app:app", f"--bundle={bundle}", f"--output={output}", *(f"--object={one}" for one in objects)]
    )


@needs_compiler
def test_a_program_finds_its_device_code_by_every_name(tmp_path: Path) -> None:
    (tmp_path / "app.hipfb").write_bytes(b"DEVICE CODE" * 1000)
    (tmp_path / "main.c").write_text(PROGRAM, encoding="utf-8")
    objects = [built(tmp_path, "one"), built(tmp_path, "two")]
    assert embed(tmp_path / "app.s", tmp_path / "app.hipfb", *objects) == 0
    link: list[str | Path] = [
        compiler() or "cc",
        "-o",
        tmp_path / "app",
        tmp_path / "main.c",
        *objects,
        tmp_path / "app.s",
    ]
    for options in ([], ["-Wl,--gc-sections"], ["-Wl,-z,noexecstack", "-Wl,--fatal-warnings"]):
        assert run(*link, *options) == 0
        assert run(tmp_path / "app") == 42


@needs_compiler
def test_names_are_hidden_and_equal_input_gives_equal_bytes(tmp_path: Path) -> None:
    (tmp_path / "app.hipfb").write_bytes(b"DEVICE CODE")
    one, two = built(tmp_path, "one"), built(tmp_path, "two")
    assert undefined_symbols(one) >= {"__hip_fatbin_one", "__hip_gpubin_handle_one"}
    assert "handle_one" not in undefined_symbols(one)
    assert embed(tmp_path / "a.s", tmp_path / "app.hipfb", one, two) == 0
    assert embed(tmp_path / "b.s", tmp_path / "app.hipfb", two, one) == 0
    assert (tmp_path / "a.s").read_bytes() == (tmp_path / "b.s").read_bytes()
    assert run(compiler() or "cc", "-c", tmp_path / "a.s", "-o", tmp_path / "a.o") == 0
    with (tmp_path / "a.o").open("rb") as file:
        (table,) = [one for one in ELFFile(file).iter_sections() if isinstance(one, SymbolTableSection)]
        found = {symbol.name: symbol["st_other"]["visibility"] for symbol in table.iter_symbols() if symbol.name}
    names = ("__hip_fatbin_one", "__hip_fatbin_two", "__hip_gpubin_handle_one", "__hip_gpubin_handle_two")
    assert {name: found.get(name) for name in names} == dict.fromkeys(names, "STV_HIDDEN")


def test_the_assembly() -> None:
    text = assembly("out/app.hipfb", {"__hip_gpubin_handle_1", "__hip_fatbin_1", "__hip_fatbin_wrapper", "main"})
    assert '\t.incbin "out/app.hipfb"\n' in text
    assert [line for line in text.splitlines() if line.endswith(":")] == ["__hip_fatbin_1:", "__hip_gpubin_handle_1:"]


def test_names_of_wrappers_are_no_device_code() -> None:
    with pytest.raises(ToolError, match="no object file refers to a name that begins with __hip_fatbin"):
        assembly("app.hipfb", {"__hip_fatbin_wrapper", "__hip_fatbin_wrapper_1", "__hip_gpubin_handle_1", "main"})


def test_a_path_that_the_assembler_would_read_as_something_else() -> None:
    assert '\t.incbin "a\\\\b\\"c"\n' in assembly('a\\b"c', {"__hip_fatbin_1"})


@pytest.mark.parametrize("content", [b"", b"\x7fELF", b"BC\xc0\xde bitcode", b"!<arch>\n", b"\x7fELF" + b"\xff" * 60])
def test_what_is_no_object_file_is_named(content: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.o").write_bytes(content)
    assert embed(tmp_path / "a.s", tmp_path / "app.hipfb", tmp_path / "a.o") == 1
    error = capsys.readouterr().err
    assert error.startswith(f"ERROR: //app:app: {tmp_path}/a.o: expected an object file of clang (")
    assert error.count("\n") == 1
    assert not (tmp_path / "a.s").exists()


@needs_compiler
def test_damaged_object_files_make_no_traceback(tmp_path: Path) -> None:
    whole = built(tmp_path, "one").read_bytes()
    damaged = tmp_path / "damaged.o"
    header, refused = 64, 0
    for at in [*range(header), *range(header, len(whole), 7)]:
        for content in (whole[:at], whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :]):
            damaged.write_bytes(content)
            try:
                undefined_symbols(damaged)
            except ToolError:
                refused += 1
    assert refused > header


@needs_compiler
def test_object_files_without_device_code(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.c").write_text("int main(void) { return 0; }", encoding="utf-8")
    assert run(compiler() or "cc", "-c", tmp_path / "a.c", "-o", tmp_path / "a.o") == 0
    assert embed(tmp_path / "a.s", tmp_path / "app.hipfb", tmp_path / "a.o") == 1
    assert "//app:app: no object file refers to a name that begins with __hip_fatbin" in capsys.readouterr().err
