"""Names of libraries: what auditwheel made of them, and what the SDK calls them."""

from dataclasses import replace
from io import BytesIO

import pytest

from develop.testing.elf_sample import Sample
from lib.common.program import ToolError
from lib.elf import constants as c
from wheels.require_sdk.libraries import COLLECTOR, SYMBOLS, known_as, stem, symbols_of, ungrafted
from wheels.require_sdk.needs import directory_entries
from wheels.verify.model import FileFacts
from wheels.verify.wheel import read_program

KNOWN = ("libhip.so.7", "libblas.so.5.1", "libopen.so", "libz-ng.so.2", "libLLVM.so.23.0git")


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("libhip.so.7", "libhip.so.7"),
        ("libhip.so.7.1.2", "libhip.so.7"),
        ("libhip-1a2b3c4d.so.7.1.2", "libhip.so.7"),
        ("libhip-1a2b3c4d.so.7", "libhip.so.7"),
        ("libblas-00000000.so.5.1.9", "libblas.so.5.1"),
        ("libz-ng-deadbeef.so.2.0", "libz-ng.so.2"),
        ("libopen.so", "libopen.so"),
        ("libLLVM-1a2b3c4d.so.23.0git", "libLLVM.so.23.0git"),
        ("libLLVM.so.23.0git.1", "libLLVM.so.23.0git"),
        ("libLLVM.so.23.1", None),
        ("libopen.so.1", None),
        ("libhip.so", None),
        ("libhip.so.6.1", None),
        ("libblas.so.5", None),
        ("libhip-1a2b.so.7", None),
        ("readme-1a2b3c4d.txt", None),
    ],
)
def test_what_a_name_stands_for(name: str, known: str | None) -> None:
    assert known_as(name, KNOWN) == known


def test_search_paths_to_directories_of_site_packages() -> None:
    assert list(directory_entries("a/lib/x.so", ["", "sdk/lib"])) == ["$ORIGIN/../..", "$ORIGIN/../../sdk/lib"]
    assert list(directory_entries("x.so", ["", "sdk/lib"])) == ["$ORIGIN/.", "$ORIGIN/sdk/lib"]


def test_symbols_are_of_the_host_and_whole() -> None:
    host, gpu = (Sample(machine=machine).build() for machine in (c.EM_X86_64, c.EM_AMDGPU))
    inspect = COLLECTOR.inspect
    assert inspect is not None
    facts = {}
    for name, data in {"liba.so": host, "libb.so": gpu, "libc.so": host[:400]}.items():
        one = read_program(BytesIO(data), FileFacts(name, len(data), 0, ""))
        facts[name] = replace(one, collected={SYMBOLS: inspect(BytesIO(data), one)})
    with pytest.raises(ToolError, match=r"^a\.whl: libc\.so: .*\. Build the wheel again$"):
        symbols_of(facts, "a.whl")
    del facts["libc.so"]
    assert list(symbols_of(facts, "a.whl")) == ["liba.so"]


def test_parts_of_names() -> None:
    assert [ungrafted(name) for name in ("liba-1a2b3c4d.so.1", "liba-b.so.1")] == ["liba.so.1", "liba-b.so.1"]
    assert [stem(name) for name in ("liba-1a2b3c4d.so.1.2", "liba.so", "a.txt")] == ["liba", "liba", "a.txt"]
