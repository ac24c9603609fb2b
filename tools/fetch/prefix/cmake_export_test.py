"""Reading what CMake packages export: variables, targets, files, and damage."""

import random
import time
from pathlib import Path

import pytest

from tools.fetch.prefix.cmake_export import Export, read_export
from tools.fetch.prefix.cmake_syntax import CMakeError
from tools.fetch.prefix.prefix_files import ROOT, PrefixFiles
from tools.fetch.prefix.sample import PrefixWriter, write_prefix

SECONDS = 5


def read(prefix: Path, text: str, **files: str) -> Export:
    writer = PrefixWriter(prefix)
    for name, content in {"x_config": text, **files}.items():
        writer.write(f"lib/cmake/x/{name.replace('_', '-')}.cmake", content)
    return read_export(PrefixFiles(prefix), f"{ROOT}/lib/cmake/x/x-config.cmake", "x")


def variable(prefix: Path, text: str) -> str | None:
    return read(prefix, text).variables.get("V")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("set(V a;b c)", "a;b;c"),
        ('set(V "a b" CACHE STRING "text" FORCE)', "a b"),
        ("set(V a)\nunset(V)", None),
        ("list(APPEND V a b)\nlist(PREPEND V c)", "c;a;b"),
        ("string(TOUPPER abc V)", "ABC"),
        ('string(REPLACE "\\\\" "/" V "a\\\\b")', "a/b"),
        ("option(V text ON)", "ON"),
        ('get_filename_component(V "/a/b.c.d" NAME_WE)', "b"),
        ("get_filename_component(V /a/b/ DIRECTORY)", "/a/b"),
        ("get_filename_component(V .. ABSOLUTE BASE_DIR /a/b)", "/a"),
        ("set(V ${CMAKE_CURRENT_LIST_DIR})", f"{ROOT}/lib/cmake/x"),
        ("file(GLOB V ${CMAKE_CURRENT_LIST_DIR}/*.cmake)", f"{ROOT}/lib/cmake/x/x-config.cmake"),
        ("foreach(i RANGE 3)\nset(V a)\nendforeach()", "\0"),
        ("foreach(i a b c)\nif(i STREQUAL c)\nbreak()\nendif()\nlist(APPEND V ${i})\nendforeach()", "a;b"),
        ("set(L a b)\nforeach(i IN LISTS L ITEMS c)\nset(V ${i}${V})\nendforeach()", "cba"),
        ("function(f x)\nset(V ${x}-${ARGN}-${ARGC} PARENT_SCOPE)\nset(W 1)\nendfunction()\nf(a b c)", "a-b;c-3"),
        ("macro(m x)\nset(${x} ${ARGN})\nendmacro()\nm(V 1)", "1"),
        ("set(V 1)\nreturn()\nset(V 2)", "1"),
        ("if(WIN32)\nset(V w)\nelseif(UNIX)\nset(V u)\nelse()\nset(V e)\nendif()", "u"),
        ("block(SCOPE_FOR VARIABLES)\nset(V 1)\nendblock()", "1"),
    ],
)
def test_variables(tmp_path: Path, text: str, value: str | None) -> None:
    assert variable(tmp_path, text) == value


@pytest.mark.parametrize(
    "text",
    [
        "execute_process(COMMAND hipconfig OUTPUT_VARIABLE V)",
        'string(REGEX REPLACE "a" "b" V "text")',
        "check_cxx_compiler_flag(-x V)",
        'if("${CMAKE_CXX_COMPILER_ID}" STREQUAL Clang)\nset(V a)\nelse()\nset(V b)\nendif()',
        "if(x MATCHES y)\nset(V a)\nendif()",
        "while(A)\nset(V a)\nendwhile()",
        "find_program(V clang)",
        "set(V ${CMAKE_CXX_COMPILER}/x)",
    ],
)
def test_unknown_variables(tmp_path: Path, text: str) -> None:
    assert "\0" in (variable(tmp_path, f"set(V known)\n{text}") or "")


def test_targets(tmp_path: Path) -> None:
    export = read(
        tmp_path,
        """add_library(n::a SHARED IMPORTED GLOBAL)
        add_library(n::b ALIAS n::a)
        add_executable(n::tool IMPORTED)
        set_property(TARGET n::a APPEND PROPERTY INTERFACE_LINK_LIBRARIES n::c)
        target_link_libraries(n::a INTERFACE m PRIVATE hidden)
        target_include_directories(n::a SYSTEM INTERFACE /i)
        target_compile_definitions(n::a INTERFACE A=1)
        set_target_properties(n::a other PROPERTIES IMPORTED_LOCATION /l IMPORTED_LOCATION_DEBUG /d)
        set_property(TARGET n::a PROPERTY IMPORTED_CONFIGURATIONS DEBUG)
        find_dependency(hip REQUIRED)
        find_package(LLVM 22 EXACT)""",
    )
    assert {name: target.kind for name, target in export.targets.items()} == {
        "n::a": "SHARED",
        "n::b": "ALIAS",
        "n::tool": "EXECUTABLE",
    }
    assert export.targets["n::a"].properties["INTERFACE_LINK_LIBRARIES"] == "n::c;m"
    assert export.targets["n::a"].properties["INTERFACE_INCLUDE_DIRECTORIES"] == "/i"
    assert export.targets["n::a"].configured("IMPORTED_LOCATION") == "/d"
    assert export.dependencies == ["hip", "LLVM"]
    assert export.notes == ["lib/cmake/x/x-config.cmake:8: set_target_properties: other is no target of this package"]


def test_files_are_included_within_the_prefix_alone(tmp_path: Path) -> None:
    (tmp_path / "outside.cmake").write_text("set(V outside)\n", encoding="utf-8")
    text = """include(GNUInstallDirs)
    include("${CMAKE_CURRENT_LIST_DIR}/../../../../outside.cmake")
    include("${CMAKE_CURRENT_LIST_DIR}/absent.cmake" OPTIONAL)
    include(x-part.cmake)"""
    export = read(tmp_path / "prefix", text, x_part="set(V ${CMAKE_CURRENT_LIST_FILE})\nreturn()\nset(V 2)")
    assert export.variables.get("V") == f"{ROOT}/lib/cmake/x/x-part.cmake"
    assert export.variables.get("CMAKE_CURRENT_LIST_FILE") == ""
    assert export.notes == ["lib/cmake/x/x-config.cmake:2: include(../outside.cmake): the prefix has no such file"]


def test_what_is_left_out_is_noted(tmp_path: Path) -> None:
    text = """if(CMAKE_CXX_COMPILER_ID STREQUAL Clang)
    add_library(a SHARED IMPORTED)
    endif()
    message(FATAL_ERROR "wrong" " twice\\nmore")
    set_and_check(D /absent)
    if(CMAKE_CXX_COMPILER_ID STREQUAL Clang)
    include(more.cmake)
    endif()
    foreach(name IN LISTS CMAKE_CXX_COMPILER_ID)
    add_library(${name} SHARED IMPORTED)
    endforeach()"""
    export = read(tmp_path, text)
    assert not export.targets
    assert export.notes == [
        "lib/cmake/x/x-config.cmake:1: a condition that only a run of CMake decides: leaves out add_library",
        "lib/cmake/x/x-config.cmake:4: wrong twice",
        "lib/cmake/x/x-config.cmake:5: set_and_check(D): the prefix has no /absent",
        "lib/cmake/x/x-config.cmake:6: a condition that only a run of CMake decides: leaves out include",
        "lib/cmake/x/x-config.cmake:9: a foreach of items that only a run of CMake tells: leaves out add_library",
    ]


def calls_below_blocks() -> str:
    """Return functions that call each other below many blocks, fewer of each than are allowed."""
    blocks = "if(TRUE)\n" * 60, "endif()\n" * 60
    functions = [f"function(f{at})\n{blocks[0]}f{at + 1}()\n{blocks[1]}endfunction()\n" for at in range(30)]
    return "".join([*functions, "f0()"])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("\nset(A ${B)", "lib/cmake/x/x-config.cmake:2: '${B': a reference to a variable has no end; expected }."),
        ("if()\nendif()", "lib/cmake/x/x-config.cmake:1: if() without a condition; expected one."),
        ("include(x-config.cmake)", "more than 40 files or functions within each other"),
        ("function(f)\nf()\nendfunction()\nf()", "more than 40 files or functions within each other"),
        (calls_below_blocks(), "functions and blocks within each other, too deep to be read"),
        ("set(A aaaaaaaa)\n" + 'set(A "${A}${A}")\n' * 30, "expected at most 1048576"),
        ("set(A aaaaaaaa)\n" + 'set(A "${A}${A}")\n' * 16 + f'set(B "{"${A}" * 9}")', "expected at most 1048576"),
        ("set(A aaaaaaaa)\n" + 'set(A "${A}${A}")\n' * 16 + 'string(REPLACE a "${A}" B "${A}")', "at most 1048576"),
        ("set_target_properties(a PROPERTIES B)", "B has no value; expected one for each property"),
        ("set_target_properties(a)", "expected PROPERTIES after the targets"),
        ("add_library()", "add_library(): expected a name"),
        ("if(A", "lib/cmake/x/x-config.cmake:1: if: its arguments have no end; expected )."),
    ],
)
def test_damage(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(CMakeError) as caught:
        read(tmp_path, text)
    assert message in str(caught.value)
    assert str(caught.value).startswith("lib/cmake/x/x-config.cmake:")
    assert str(caught.value).endswith(" Install the file again")


def test_loops_end(tmp_path: Path) -> None:
    items = "foreach(i 0 1 2 3 4 5 6 7 8 9)\n"
    with pytest.raises(CMakeError, match="more than 100000 commands in one package"):
        read(tmp_path, items * 8 + "set(A 1)\n" + "endforeach()\n" * 8)
    with pytest.raises(CMakeError, match="more than 100000 commands in one package"):
        read(tmp_path, f"set(A {'a ' * 1000})\n" + "foreach(i IN LISTS A)\n" * 3 + "endforeach()\n" * 3)


def mutated(content: bytes, choose: random.Random) -> bytes:
    """Return a file with something removed, repeated, replaced or put in."""
    at, length = choose.randrange(len(content)), choose.randrange(1, 40)
    inserted = choose.choice(
        [b"(", b")", b'"', b"${", b"}", b"\\", b"[[", b"#", b"\0", b"\xff", b";", b"$<", b">", b""]
    )
    return choose.choice(
        [
            content[:at] + content[at + length :],
            content[:at] + content[at : at + length] * 3 + content[at + length :],
            content[:at] + inserted + content[at:],
            content[:at] + bytes([choose.randrange(256)]) + content[at + 1 :],
            content[:at],
        ]
    )


def test_damaged_files_end_with_an_error_or_a_result(tmp_path: Path) -> None:
    writer = write_prefix(tmp_path)
    choose = random.Random(7)
    errors: list[CMakeError] = []
    for path in sorted(tmp_path.glob("lib/cmake/*/*.cmake")):
        content = path.read_bytes()
        start = f"{ROOT}/{path.parent.relative_to(tmp_path)}/{path.parent.name}-config.cmake"
        for _ in range(25):
            writer.write(str(path.relative_to(tmp_path)), mutated(content, choose))
            begun = time.monotonic()
            try:
                read_export(PrefixFiles(tmp_path), start, path.parent.name)
            except CMakeError as error:
                errors.append(error)
            assert time.monotonic() - begun < SECONDS
        path.write_bytes(content)
    assert len(errors) > 50
    assert all(error.place.startswith("lib/cmake/") for error in errors)
