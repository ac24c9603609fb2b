"""Generator expressions, for C++ on Linux."""

import pytest

from tools.fetch.prefix.cmake_syntax import CMakeError
from tools.fetch.prefix.cmake_values import UNKNOWN
from tools.fetch.prefix.generator_expressions import evaluated


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("plain, text: >", "plain, text: >"),
        ("$<$<COMPILE_LANGUAGE:HIP>:-x hip>", ""),
        ("$<$<COMPILE_LANGUAGE:CXX,HIP>:a>", "a"),
        ("$<$<LINK_LANGUAGE:CXX>:--hip-link>", "--hip-link"),
        ("$<BUILD_INTERFACE:/src>$<INSTALL_INTERFACE:include>", "include"),
        ("$<LINK_ONLY:dl>", "dl"),
        ("$<1:a,b:c>", "a,b:c"),
        ("$<$<BOOL:OFF>:a>$<$<NOT:$<BOOL:x>>:b>", ""),
        ("$<CONFIG>$<$<STREQUAL:$<PLATFORM_ID>,Linux>:-$<COMPILE_LANGUAGE>>", "Release-CXX"),
        ("$<$<AND:1,$<CONFIG:Debug,Release>>:a>", "a"),
        ("$<IF:$<PLATFORM_ID:Windows>,w,l>", "l"),
        ("$<$<OR:0,1>:$<COMMA>$<SEMICOLON>$<ANGLE-R>>", ",;>"),
        ("$<$<CXX_COMPILER_ID:Clang>:a>", UNKNOWN),
        ("$<$<AND:$<CXX_COMPILER_ID:Clang>,0>:a>", ""),
        ("$<$<COMPILE_LANG_AND_ID:HIP,Clang>:a>", ""),
        ("$<$<COMPILE_LANG_AND_ID:CXX,Clang>:a>", UNKNOWN),
        ("$<BUILD_INTERFACE:$<TARGET_FILE:x>>", ""),
    ],
)
def test_expressions(text: str, value: str) -> None:
    assert evaluated(text) == value


@pytest.mark.parametrize("text", ["$<1:a", "$<", "$<$<1:a>", "$<1:" * 1000])
def test_damage(text: str) -> None:
    with pytest.raises(CMakeError, match="generator expression"):
        evaluated(text)
