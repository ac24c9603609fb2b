"""Names of libraries, generated: stems and versions as linkers and LLVM write them, and names of other files."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lib.elf.library_name import LibraryName, parse_library_name

#: Parts of versions: of libtool, of LLVM's development (`0git`), its releases (`1-rc2`, `1+libcxx`), and of OpenSSL.
PARTS = st.builds(
    "{}{}".format, st.integers(0, 20261128), st.sampled_from(("", "", "a", "git", "-rc2", "+libcxx", "_1"))
)
STEMS = st.builds(
    "{}{}{}".format,
    st.sampled_from(("lib", "lib", "")),
    st.sampled_from(("LLVM", "stdc++", "z-ng", "python3.12", "a_b", "so", "socks", "x.solver", "a.so.b")),
    st.sampled_from(("", "", "-1a2b3c4d", "-22", ".cpython-312-x86_64-linux-gnu", ".abi3")),
)
#: Ends of files that lie beside libraries.
OTHERS = st.sampled_from(("txt", "debug", "dwp", "py", "conf", "old", "gz", "kpack", "a", "x.1", "", "1~", "1 ", "1.d"))


@given(STEMS, st.lists(PARTS, max_size=4), st.sampled_from(("", "lib/", "a/b.so.1/")))
def test_libraries(stem: str, parts: list[str], directory: str) -> None:
    name = ".".join([f"{stem}.so", *parts])
    assert parse_library_name(directory + name) == LibraryName(stem, ".".join(parts))


@given(STEMS, st.lists(PARTS, max_size=4), OTHERS)
def test_other_files(stem: str, parts: list[str], end: str) -> None:
    assert parse_library_name(".".join([f"{stem}.so", *parts, end])) is None


@pytest.mark.parametrize("name", ["", ".so", ".so.1", "so", "libso", "libfoo.so2", "libfoo.sol", "libfoo.so.1/readme"])
def test_names_without_a_suffix_or_a_stem(name: str) -> None:
    assert parse_library_name(name) is None


@pytest.mark.parametrize(
    ("name", "stem", "version"),
    [
        ("libLLVM.so.23.0git", "libLLVM", "23.0git"),
        ("libbar.so.1a", "libbar", "1a"),
        ("libfoo.solver.so.1", "libfoo.solver", "1"),
        ("liba.so.b.so.1", "liba.so.b", "1"),
        ("libstdc++.so.6.0.33", "libstdc++", "6.0.33"),
        ("_ext.cpython-312-x86_64-linux-gnu.so", "_ext.cpython-312-x86_64-linux-gnu", ""),
    ],
)
def test_parts(name: str, stem: str, version: str) -> None:
    assert parse_library_name(name) == LibraryName(stem, version)
