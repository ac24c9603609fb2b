"""`rocm-sdk env`: the order of search paths, and that each shell gets exactly these values back."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from environments import Environment
from hypothesis import given
from hypothesis import strategies as st
from rocm_sdk.environment import SHELLS, build_variables, format_variables, join_paths
from rocm_sdk.errors import RocmSdkError

ODD = "a b'c\"d$HOME`id`\\e\\\\*?[x]{1,2}~;&|<>(#)!%\tï\nnext\\'"
# No NUL: it ends an environment variable.
VALUES = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=30)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in ("sdk", "venv"):
        for below in ("bin", "include", "lib/llvm/bin"):
            (tmp_path / name / below).mkdir(parents=True)
    return tmp_path


def test_rocm_comes_first_then_the_environment_then_what_was_there(root: Path) -> None:
    before = {"CPATH": f"/own:{root}/sdk/include::/own", "PATH": "/usr/bin", "LD_LIBRARY_PATH": "/x"}
    assert build_variables(root / "sdk", root / "venv", before) == {
        "ROCM_PATH": f"{root}/sdk",
        "HIP_PATH": f"{root}/sdk",
        "HIP_PLATFORM": "amd",
        "HIP_CLANG_PATH": f"{root}/sdk/lib/llvm/bin",
        "HIPCC_LINK_FLAGS_APPEND": "-frtlib-add-rpath",
        "PATH": f"{root}/sdk/bin:{root}/venv/bin:/usr/bin",
        "CMAKE_PREFIX_PATH": f"{root}/sdk:{root}/venv",
        "CPATH": f"{root}/sdk/include:{root}/venv/include:/own",
        "LIBRARY_PATH": f"{root}/sdk/lib:{root}/venv/lib",
        **{
            f"CMAKE_{language}_IMPLICIT_LINK_DIRECTORIES_EXCLUDE": f"{root}/sdk/lib;{root}/venv/lib"
            for language in ("C", "CXX", "Fortran", "HIP")
        },
    }


def test_directories_that_cmake_was_told_of_are_kept(root: Path) -> None:
    name = "CMAKE_CXX_IMPLICIT_LINK_DIRECTORIES_EXCLUDE"
    value = "/own"
    for _ in range(2):
        value = build_variables(root / "sdk", None, {name: value})[name]
    assert value == f"{root}/sdk/lib;/own"


def test_options_for_hipcc_are_kept_and_added_to_once(root: Path) -> None:
    options = "-lm"
    for _ in range(2):
        options = build_variables(root, None, {"HIPCC_LINK_FLAGS_APPEND": options})["HIPCC_LINK_FLAGS_APPEND"]
    assert options == "-lm -frtlib-add-rpath"


@pytest.mark.parametrize("files", [[""], ["", ".2", ".2.1"], [".2"]])
@pytest.mark.parametrize("place", ["lib", "lib/opencl"])
def test_the_loader_of_opencl_is_told_where_the_driver_is(root: Path, place: str, files: list[str]) -> None:
    """AMD moved it in 2026; a runtime package has the file that is named like the SONAME alone."""
    assert "OCL_ICD_FILENAMES" not in build_variables(root / "sdk", None, {})
    (root / "sdk" / place).mkdir(parents=True, exist_ok=True)
    for suffix in reversed(files):
        (root / "sdk" / place / f"libamdocl64.so{suffix}").touch()
    driver = root / "sdk" / place / f"libamdocl64.so{files[0]}"
    before = {"OCL_ICD_FILENAMES": "/other.so"}
    assert build_variables(root / "sdk", None, before)["OCL_ICD_FILENAMES"] == f"{driver}:/other.so"


@pytest.mark.parametrize("place", ["amdgcn/bitcode", "lib/llvm/amdgcn/bitcode", "lib/llvm/lib/clang/22/amdgcn/bitcode"])
def test_compilers_are_told_where_the_device_libraries_are(root: Path, place: str) -> None:
    """With ROCM_PATH set, clang looks for them in one place below that alone."""
    assert "HIP_DEVICE_LIB_PATH" not in build_variables(root / "sdk", None, {})
    (root / "sdk" / place).mkdir(parents=True)
    (root / "sdk" / place / "ockl.bc").touch()
    assert build_variables(root / "sdk", None, {})["HIP_DEVICE_LIB_PATH"] == f"{root}/sdk/{place}"


def test_the_systems_python_adds_no_directories_of_its_own(root: Path) -> None:
    """With /usr/include in CPATH, `#include_next` of the C++ library fails."""
    assert build_variables(root / "sdk", None, {})["CPATH"] == f"{root}/sdk/include"


def test_a_directory_that_no_search_path_can_hold_is_an_error() -> None:
    with pytest.raises(RocmSdkError, match=r"/a:b has ':' in its name, which no search path can hold"):
        join_paths(["/a:b"], "")


@given(st.lists(VALUES.filter(lambda text: text and ":" not in text)), VALUES)
def test_joining_twice_changes_nothing(first: list[str], value: str) -> None:
    once = join_paths(first, value)
    assert join_paths(first, once) == once
    assert once.split(":")[: len(set(first))] == (list(dict.fromkeys(first)) or [""])[: len(set(first))]
    assert set(once.split(":")) - {""} == {*first, *value.split(":")} - {""}


def read_back(shell: str, text: str, names: list[str]) -> list[str]:
    """Let a shell take the commands twice, and return the variables as a program started by it sees them."""
    ask = "\n".join(f"printenv {name}; printf '\\0'" for name in names)
    script = f"{text}\n{text}\n{ask}\n"
    done = subprocess.run([shell], input=script, capture_output=True, text=True, check=False, env=dict(os.environ))
    assert done.returncode == 0, done.stderr
    return [value[:-1] for value in done.stdout.split("\0")[:-1]]


@pytest.mark.parametrize("shell", ["bash", "sh", "fish"])
def test_shells_give_back_what_they_got(shell: str) -> None:
    if shutil.which(shell) is None and shell == "fish":
        pytest.skip("fish is not on this machine; test_fish_words has its rules")
    values = {"ROCM_ONE": ODD, "ROCM_TWO": "", "ROCM_THREE_PATH": "/a:/b c:/d'e"}
    assert read_back(shell, format_variables(values, "fish" if shell == "fish" else "bash"), list(values)) == [
        *values.values()
    ]


def test_fish_words() -> None:
    """In single quotes fish knows two escapes, of backslash and quote (its manual, "Quotes"): no other may occur."""
    text = format_variables({"X": ODD}, "fish")
    assert text.startswith("set -gx X '")
    assert text.endswith("'")
    word, value, escaped = text[len("set -gx X '") : -1], "", False
    for character in word:
        assert escaped or character != "'"
        if escaped or character != "\\":
            assert not escaped or character in "\\'"
            value += character
        escaped = character == "\\" and not escaped
    assert value == ODD


@given(st.dictionaries(st.sampled_from(["A", "B_PATH"]), VALUES))
def test_json_is_the_variables(values: dict[str, str]) -> None:
    assert json.loads(format_variables(values, "json")) == values
    assert "json" in SHELLS


def test_an_installation_prints_what_builds_against_it(shared_environment: Environment) -> None:
    environment = shared_environment
    values = json.loads(environment.rocm_sdk("env", "--shell", "json", CPATH="/own"))
    root = environment.site / "_rocm_sdk_devel"
    assert values["ROCM_PATH"] == str(root)
    assert values["CPATH"] == f"{root}/include:{environment.root}/include:/own"
    assert (root / "include/hip.h").is_file()
    text = environment.rocm_sdk("env", CPATH="/own").rstrip("\n")
    again = environment.rocm_sdk("env", **values).rstrip("\n")
    assert text == again
    assert "LD_LIBRARY_PATH" not in text


def test_a_reader_may_stop_reading(shared_environment: Environment) -> None:
    command = f"{shared_environment.root}/bin/rocm-sdk targets --json | :"
    assert shared_environment.run("sh", "-c", command) == ""
