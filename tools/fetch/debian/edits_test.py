"""Tests of texts that say where Debian has something: what CMake and Python files say where they have moved."""

import pytest

from tools.fetch.debian.edits import edited, is_text_to_mend

MULTIARCH = "usr/lib/x86_64-linux-gnu/cmake/x/x.cmake"
TARGETS = b"""\
# Compute the installation prefix relative to this file.
get_filename_component(_IMPORT_PREFIX "${CMAKE_CURRENT_LIST_FILE}" PATH)
get_filename_component(_realOrig "/usr/lib/x86_64-linux-gnu/cmake/x" REALPATH)
get_filename_component(_IMPORT_PREFIX "${_IMPORT_PREFIX}" PATH)
get_filename_component(_IMPORT_PREFIX "${_IMPORT_PREFIX}" PATH)
get_filename_component(_IMPORT_PREFIX "${_IMPORT_PREFIX}" PATH)
get_filename_component(_IMPORT_PREFIX "${_IMPORT_PREFIX}" PATH)
  IMPORTED_LOCATION_NONE "${_IMPORT_PREFIX}/lib/x86_64-linux-gnu/libx.so.2"
"""
MOVED_TARGETS = b"""\
# Compute the installation prefix relative to this file.
get_filename_component(_IMPORT_PREFIX "${CMAKE_CURRENT_LIST_FILE}" PATH)
get_filename_component(_realOrig "/usr/lib/cmake/x" REALPATH)
get_filename_component(_IMPORT_PREFIX "${_IMPORT_PREFIX}" PATH)
get_filename_component(_IMPORT_PREFIX "${_IMPORT_PREFIX}" PATH)
get_filename_component(_IMPORT_PREFIX "${_IMPORT_PREFIX}" PATH)
  IMPORTED_LOCATION_NONE "${_IMPORT_PREFIX}/lib/libx.so.2"
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (TARGETS, MOVED_TARGETS),
        (
            b'get_filename_component(PACKAGE_PREFIX_DIR "${CMAKE_CURRENT_LIST_DIR}/../../../../" ABSOLUTE)',
            b'get_filename_component(PACKAGE_PREFIX_DIR "${CMAKE_CURRENT_LIST_DIR}/../../../" ABSOLUTE)',
        ),
        (
            b'set(_IMPORT_PREFIX "/usr")',
            b'get_filename_component(_IMPORT_PREFIX "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)',
        ),
        (
            b'set(PREFIX "/usr/lib/llvm-17/lib/clang/17")',
            b'set(PREFIX "${CMAKE_CURRENT_LIST_DIR}/../../llvm/lib/clang/17")',
        ),
        (
            b'set_and_check(DIR "${PACKAGE_PREFIX_DIR}/lib/aarch64-linux-gnu" )',
            b'set_and_check(DIR "${PACKAGE_PREFIX_DIR}/lib" )',
        ),
        (b"include(${P}/lib/x86_64-linux-gnu/cmake/x/y.cmake)", b"include(${P}/lib/cmake/x/y.cmake)"),
    ],
)
def test_cmake_files_of_a_multiarch_directory(text: bytes, expected: bytes) -> None:
    assert edited(MULTIARCH, text) == expected


@pytest.mark.parametrize("path", ["usr/lib/llvm-17/lib/cmake/clang/x.cmake", "usr/share/cmake/x/x.cmake"])
def test_cmake_files_that_keep_their_depth(path: str) -> None:
    text = b'get_filename_component(PACKAGE_PREFIX_DIR "${CMAKE_CURRENT_LIST_DIR}/../../../../" ABSOLUTE)'
    assert edited(path, text) == text


def test_scripts() -> None:
    text = b"path = here + '/../../lib/x86_64-linux-gnu/libx.so'\nparent / Path(\"lib/x86_64-linux-gnu/libx.so\")\n"
    expected = b"path = here + '/../../lib/libx.so'\nparent / Path(\"lib/libx.so\")\n"
    assert edited("usr/libexec/x.py", text) == expected
    assert edited("usr/libexec/x.py", b"a triplet, x86_64-linux-gnu, alone") == b"a triplet, x86_64-linux-gnu, alone"


def test_which_files_are_read() -> None:
    assert is_text_to_mend(MULTIARCH)
    assert is_text_to_mend("usr/libexec/rocm_smi/rsmiBindings.py")
    assert not is_text_to_mend("usr/lib/x86_64-linux-gnu/libx.so.1")
