"""`_rocm_init.py`: what the generated module calls, and how its list comes from an extension."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rocm_sdk.init_py import init_py_text, preload_names, unlisted_names
from rocm_sdk.library_table import LIBRARIES

from develop.testing.tiny_library import tiny_library

VERSIONS = st.from_regex(r"[0-9]+\.([0-9]+|\*)(\.[0-9a-z+*]+)?", fullmatch=True)


def call(text: str) -> dict[str, Any]:
    """Run the module's `initialize` with a `rocm_sdk` that remembers, and return what it was called with."""
    called: list[dict[str, Any]] = []
    module: dict[str, Any] = {}
    exec(compile(text, "_rocm_init.py", "exec"), module)
    fake = SimpleNamespace(initialize_process=lambda **arguments: called.append(arguments))
    before = sys.modules.get("rocm_sdk")
    sys.modules["rocm_sdk"] = fake  # type: ignore[assignment]
    try:
        module["initialize"]()
    finally:
        sys.modules.pop("rocm_sdk")
        if before is not None:
            sys.modules["rocm_sdk"] = before
    assert len(called) == 1
    return called[0]


def test_text() -> None:
    assert init_py_text(["amdhip64", "hipblas"], "7.10.*", True).partition("def initialize")[2] == (
        "():\n"
        '    """Check the installed ROCm and load its libraries; raises what rocm_sdk.initialize_process raises."""\n'
        "    import rocm_sdk\n"
        "\n"
        "    rocm_sdk.initialize_process(\n"
        "        preload_shortnames=[\n"
        '            "amdhip64",\n'
        '            "hipblas",\n'
        "        ],\n"
        '        check_version="7.10.*",\n'
        "        fail_on_version_mismatch=True,\n"
        "    )\n"
    )


@given(st.lists(st.sampled_from(sorted(LIBRARIES))), st.none() | VERSIONS, st.booleans())
def test_the_module_calls_what_it_was_made_from(names: list[str], version: str | None, fail: bool) -> None:
    called = call(init_py_text(names, version, fail))
    assert called.pop("preload_shortnames") == list(dict.fromkeys(names))
    expected = {"check_version": version, "fail_on_version_mismatch": fail}
    assert called == ({} if version is None else expected)


@given(st.text(max_size=20))
def test_no_version_can_break_out_of_the_text(version: str) -> None:
    if re.fullmatch(r"[0-9A-Za-z.+!_*-]+", version):
        assert call(init_py_text(["amdhip64"], version, False))["check_version"] == version
        return
    with pytest.raises(ValueError, match=r"is not a version; expected one such as 7\.10\.0"):
        init_py_text(["amdhip64"], version, False)


def test_an_unknown_library_is_an_error() -> None:
    with pytest.raises(ValueError, match="unknown ROCm library nosuch; known: amd_comgr, "):
        init_py_text(["amdhip64", "nosuch"], None, False)


def extension(directory: Path, *needed: str) -> str:
    path = directory / "_C.so"
    path.write_bytes(tiny_library("_C.so", needed))
    return str(path)


def test_names_come_from_needed_entries_in_the_order_of_the_table(tmp_path: Path) -> None:
    needed = (
        "libc.so.6",
        "libhipblaslt.so.1",
        "libMIOpen.so.1",
        "librocblas.so.5",
        "libamdhip64.so.7",
        "libhipfftw.so.0",
    )
    file = extension(tmp_path, *needed)
    assert preload_names(file) == ["amdhip64", "hipblaslt", "miopen", "rocblas"]
    assert unlisted_names(file, ["libhipfftw.so.0", "libamdhip64.so.7", "libother.so.1"]) == ["libhipfftw.so.0"]


def test_a_name_that_only_begins_alike_is_another_library() -> None:
    assert not LIBRARIES["hipblas"].is_named("libhipblaslt.so.1")
    assert not LIBRARIES["hipblas"].is_named("libhipblas.so_1")
    assert not LIBRARIES["hipblas"].is_named("libhipblas.so.3.debug")
    assert not LIBRARIES["hipblas"].is_named("libhipblas.so.txt")
    assert LIBRARIES["hipblas"].is_named("libhipblas.so.3")
    assert LIBRARIES["hipblas"].is_named("libhipblas.so")


def test_what_is_no_library_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.o").write_bytes(b"no library")
    with pytest.raises(ValueError, match=r"x\.o: not a shared library .* Name the extension module as it is built"):
        preload_names(str(tmp_path / "x.o"))
