"""Reading packages with CMake: what they export, and that bad ones neither hang nor change anything."""

import random
import tempfile
import time
from pathlib import Path

import pytest

from develop.testing.prefix_sample import CMAKE, PrefixWriter, write_prefix
from hip.tools.prefix.cmake_exports import ROOT, CMake, Export, below, split_list
from tools.fetch.catalog.names import CatalogError

SECONDS = 20
INTERFACE = "add_library({} INTERFACE IMPORTED)\n"


def read(prefix: Path, text: str, name: str = "x", seconds: int = SECONDS, **files: str) -> Export:
    writer = PrefixWriter(prefix)
    for file, content in {f"{name}_config": text, **files}.items():
        writer.write(f"lib/cmake/{name}/{file.replace('_', '-')}.cmake", content)
    directories = [f"lib/cmake/{one.name}" for one in (prefix / "lib/cmake").iterdir()]
    with tempfile.TemporaryDirectory() as scratch:
        return CMake(CMAKE, prefix, directories, Path(scratch), seconds).read(name, f"lib/cmake/{name}")


def value(prefix: Path, text: str) -> list[str]:
    """Return the list that CMake has for `V` after a text."""
    text += '\nadd_library(t INTERFACE IMPORTED)\nset_property(TARGET t PROPERTY INTERFACE_LINK_OPTIONS "${V}")\n'
    export = read(prefix, text)
    assert export.notes == []
    return export.targets["t"].properties["INTERFACE_LINK_OPTIONS"]


def test_targets(tmp_path: Path) -> None:
    export = read(
        tmp_path,
        """add_library(n::a SHARED IMPORTED GLOBAL)
        add_library(n::b ALIAS n::a)
        add_library(c INTERFACE)
        add_library(n::d UNKNOWN IMPORTED)
        add_executable(n::tool IMPORTED)
        target_link_libraries(n::a INTERFACE m $<LINK_ONLY:dl> $<$<LINK_LANGUAGE:CXX>:-x> $<LINK_LIBRARY:WHOLE,w>)
        target_include_directories(n::a SYSTEM INTERFACE "${CMAKE_CURRENT_LIST_DIR}/../../../include" /i)
        target_compile_definitions(n::a INTERFACE A=1 $<$<COMPILE_LANGUAGE:HIP>:B> $<$<CONFIG:Release>:C>)
        target_compile_options(n::a INTERFACE $<$<CXX_COMPILER_ID:GNU>:-g> "a\\\\;b" "$<TARGET_PROPERTY:TYPE>")
        set_property(TARGET n::a PROPERTY IMPORTED_CONFIGURATIONS NONE)
        set_property(TARGET n::a PROPERTY IMPORTED_LOCATION_NONE "${CMAKE_CURRENT_LIST_DIR}/../../liba.so")
        find_dependency(hip REQUIRED)
        """.replace("find_dependency", "include(CMakeFindDependencyMacro)\nfind_dependency"),
    )
    assert export.notes == []
    assert {name: target.kind for name, target in export.targets.items()} == {
        "n::a": "SHARED",
        "n::b": "ALIAS",
        "c": "INTERFACE",
        "n::d": "UNKNOWN",
    }
    assert export.targets["n::a"].place == "lib/cmake/x/x-config.cmake"
    assert export.targets["n::b"].properties == {"INTERFACE_LINK_LIBRARIES": ["n::a"]}
    found = export.targets["n::a"].properties
    assert found["INTERFACE_LINK_LIBRARIES"] == ["m", "dl", "-x", "w"]
    assert [below(one) for one in found["INTERFACE_INCLUDE_DIRECTORIES"]] == ["include", None]
    assert found["INTERFACE_COMPILE_DEFINITIONS"] == ["A=1", "C"]
    assert found["INTERFACE_COMPILE_OPTIONS"] == ["a;b", "INTERFACE_LIBRARY"]
    assert below(found["LOCATION"][0]) == "lib/liba.so"
    assert (export.dependencies, export.notes, export.is_read) == (["hip"], [], True)


def test_dependencies_are_read_but_not_counted(tmp_path: Path) -> None:
    read(tmp_path, INTERFACE.format("far") + "find_package(x)\nset(FAR 1)\n", name="far")
    read(tmp_path, INTERFACE.format("near") + "find_package(far)\nset(NEAR ${FAR})\n", name="near")
    export = read(tmp_path, INTERFACE.format("x") + "find_package(near)\nfind_package(Threads)\n")
    assert (list(export.targets), export.dependencies) == (["x"], ["near", "Threads"])
    assert value(tmp_path, "find_package(near)\nset(V ${near_FOUND} ${NEAR} $<TARGET_EXISTS:far>)") == ["1", "1", "1"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("include(CMakeFindDependencyMacro)\nfind_dependency(none)\nset(V ${none_FOUND})", ["TRUE"]),
        ("find_package(none REQUIRED)\nset(V ${none_FOUND})", ["TRUE"]),
        ("find_package(none QUIET)\nset(V ${none_FOUND})", ["0"]),
        ("find_program(V sh)", ["V-NOTFOUND"]),
        ("find_path(V stdio.h PATHS /usr/include)", ["V-NOTFOUND"]),
        ("find_file(V tool PATHS ${CMAKE_CURRENT_LIST_DIR})", [f"{ROOT}/lib/cmake/x/tool"]),
        ("file(READ ${CMAKE_CURRENT_LIST_DIR}/tool V)", ["content"]),
        ('file(STRINGS ${CMAKE_CURRENT_LIST_DIR}/tool V REGEX "^c\\\\w*|^c.n")', ["content"]),
        ("file(GLOB V ${CMAKE_CURRENT_LIST_DIR}/t*)", [f"{ROOT}/lib/cmake/x/tool"]),
        ('file(TO_CMAKE_PATH "a:b;c" V)', ["a", "b", "c"]),
        ("get_filename_component(V ${CMAKE_CURRENT_LIST_DIR}/tool REALPATH)", [f"{ROOT}/lib/cmake/x/tool"]),
        ("set(V ${CMAKE_CXX_COMPILER_ID} $ENV{CMAKE_PREFIX_PATH} $ENV{ROCM_PATH})", []),
        ("execute_process(COMMAND echo a OUTPUT_VARIABLE V)", []),
        ("execute_process(COMMAND echo a RESULT_VARIABLE V OUTPUT_QUIET)", ["0"]),
        ("include(CheckCXXCompilerFlag)\ncheck_cxx_compiler_flag(-x V)", []),
        ("include(CheckCXXSourceRuns)\ncheck_cxx_source_runs([[int main() {}]] V)", []),
        ("cmake_minimum_required(VERSION 2.8)\nset(V 1)", ["1"]),
        ("set(V ${CMAKE_SIZEOF_VOID_P} ${UNIX} ${WIN32})", ["8", "1"]),
        ('string(REGEX REPLACE "^a(.)" "\\\\1" V abc)', ["bc"]),
        ("if(libx MATCHES ^lib)\nset(V 1)\nendif()", ["1"]),
        ("while(NOT V MATCHES aaa)\nstring(APPEND V a)\nendwhile()", ["aaa"]),
    ],
)
def test_what_a_package_sees(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, expected: list[str]) -> None:
    monkeypatch.setenv("CMAKE_PREFIX_PATH", "/usr")
    monkeypatch.setenv("ROCM_PATH", "/opt/rocm")
    PrefixWriter(tmp_path).write("lib/cmake/x/tool", "content")
    assert value(tmp_path, text) == expected


def test_errors_of_a_package_are_noted(tmp_path: Path) -> None:
    text = """message(FATAL_ERROR "wrong" " twice;\\nmore. For\\n* these reasons")
    message(WARNING "careful")
    add_library(own STATIC own.c)
    add_library(x INTERFACE IMPORTED)"""
    export = read(tmp_path, text)
    assert list(export.targets) == ["x"]
    assert export.notes == [
        "lib/cmake/x/x-config.cmake: wrong twice more",
        "lib/cmake/x/x-config.cmake: add_library(own): not an imported library",
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("\nset(A", "x: CMake stops at lib/cmake/x/x-config.cmake:2: Parse error. Function missing ending"),
        ("add_library(a ALIAS b)", "x: CMake stops at lib/cmake/x/x-config.cmake:1: _add_library cannot create ALIAS"),
        ("include(absent.cmake)", "x: CMake stops at lib/cmake/x/x-config.cmake:1: include could not find requested"),
        (
            'include("${CMAKE_CURRENT_LIST_DIR}/x-part.cmake")',
            "x: CMake stops at lib/cmake/x/x-part.cmake:2: Unknown CMake command",
        ),
        ("function(f)\nf()\nendfunction()\nf()", "x: CMake stops at lib/cmake/x/x-config.cmake:2: Maximum recursion"),
        ("set(A aaaaaaaa)\n" + 'set(A "${A}${A}")\n' * 40, "x: CMake stops: exit code -"),
        ("while(TRUE)\nendwhile()", "x: CMake does not come to an end within 2 seconds"),
    ],
)
def test_where_cmake_stops(tmp_path: Path, text: str, message: str) -> None:
    export = read(tmp_path, text, seconds=2 if "while" in text else SECONDS, x_part="\nno_such()\n")
    assert (export.targets, export.is_read) == ({}, False)
    assert export.notes[0].startswith(message), export.notes


def test_nothing_is_changed(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.write_text("kept", encoding="utf-8")
    outside = tmp_path / "outside"
    prefix = tmp_path / "prefix"
    PrefixWriter(prefix).write("lib/libx.so", "library")
    (prefix / "lib/cmake/x").mkdir(parents=True)
    (prefix / "lib/cmake/x/kept").symlink_to(kept)
    text = f"""file(WRITE "{outside}" a)
    file(WRITE "${{CMAKE_CURRENT_LIST_DIR}}/../../libx.so" a)
    _file(APPEND "${{CMAKE_CURRENT_LIST_DIR}}/kept" a)
    file(REMOVE_RECURSE "{kept}" "${{CMAKE_CURRENT_LIST_DIR}}")
    file(COPY "{kept}" DESTINATION "{outside}")
    configure_file("{kept}" "{outside}")
    execute_process(COMMAND touch "{outside}")
    file(MAKE_DIRECTORY "{outside}")
    add_library(t INTERFACE IMPORTED)"""
    before = sorted(path for path in prefix.rglob("*"))
    export = read(prefix, text)
    assert (list(export.targets), export.notes) == (["t"], [])
    assert sorted(prefix.rglob("*")) == sorted({*before, prefix / "lib/cmake/x/x-config.cmake"})
    assert (kept.read_text(), (prefix / "lib/libx.so").read_text()) == ("kept", "library")
    assert not outside.exists()


def test_a_package_that_does_not_fit(tmp_path: Path) -> None:
    export = read(tmp_path, INTERFACE.format("t") + 'set(x_FOUND 0)\nset(x_NOT_FOUND_MESSAGE "no y")\n')
    assert (list(export.targets), export.notes) == (["t"], ["x: CMake does not accept it. no y"])
    assert read(tmp_path, "", x_config_version="set(PACKAGE_VERSION_UNSUITABLE 1)").notes == [
        "x: CMake does not accept it."
    ]


def test_links_within_the_prefix_stay(tmp_path: Path) -> None:
    writer = PrefixWriter(tmp_path)
    writer.write("lib/libx.so.1")
    (tmp_path / "lib/libx.so").symlink_to("libx.so.1")
    (tmp_path / "lib64").symlink_to("lib")
    found = value(tmp_path, 'get_filename_component(V "${CMAKE_CURRENT_LIST_DIR}/../../../lib64/libx.so" REALPATH)')
    assert found == [f"{ROOT}/lib/libx.so.1"]


def test_cmake_that_cannot_be_run(tmp_path: Path) -> None:
    PrefixWriter(tmp_path / "prefix").write("lib/cmake/x/x-config.cmake")
    with pytest.raises(CatalogError, match="/none: No such file or directory; expected CMake, which reads the SDK"):
        CMake(Path("/none"), tmp_path / "prefix", [], tmp_path / "scratch").read("x", "lib/cmake/x")


@pytest.mark.parametrize(
    ("path", "expected"),
    [(ROOT, ""), (f"{ROOT}/lib/./x/..", "lib"), (f"{ROOT}x", None), (f"{ROOT}/../secret", None), ("/usr", None)],
)
def test_paths_of_the_prefix(path: str, expected: str | None) -> None:
    assert below(path) == expected


def test_lists() -> None:
    assert split_list("a;;b\\;c;") == ["a", "b;c"]


def mutated(content: bytes, choose: random.Random) -> bytes:
    """Return a file with something removed, repeated, replaced or put in."""
    at, length = choose.randrange(len(content)), choose.randrange(1, 40)
    inserted = choose.choice([b"(", b")", b'"', b"${", b"}", b"\\", b"[[", b"#", b"\0", b"\xff", b";", b"$<", b">"])
    return choose.choice(
        [
            content[:at] + content[at + length :],
            content[:at] + content[at : at + length] * 3 + content[at + length :],
            content[:at] + inserted + content[at:],
            content[:at] + bytes([choose.randrange(256)]) + content[at + 1 :],
            content[:at],
        ]
    )


def test_damaged_files_end_with_a_note_or_a_result(tmp_path: Path) -> None:
    writer = write_prefix(tmp_path)
    choose = random.Random(7)
    stopped = 0
    for path in sorted(tmp_path.glob("lib/cmake/*/*.cmake")):
        content, package = path.read_bytes(), path.parent.name
        for _ in range(3):
            writer.write(str(path.relative_to(tmp_path)), mutated(content, choose))
            begun = time.monotonic()
            with tempfile.TemporaryDirectory() as scratch:
                export = CMake(CMAKE, tmp_path, [], Path(scratch)).read(package, f"lib/cmake/{package}")
            assert time.monotonic() - begun < SECONDS
            assert export.is_read or export.notes[-1].startswith(f"{package}: CMake stops")
            stopped += not export.is_read
        path.write_bytes(content)
    assert stopped > 10
