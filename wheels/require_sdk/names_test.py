"""Names of libraries: what auditwheel made of them, and what the SDK calls them."""

import pytest

from wheels.require_sdk.libraries import known_as, stem, ungrafted

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


def test_parts_of_names() -> None:
    assert [ungrafted(name) for name in ("liba-1a2b3c4d.so.1", "liba-b.so.1")] == ["liba.so.1", "liba-b.so.1"]
    assert [stem(name) for name in ("liba-1a2b3c4d.so.1.2", "liba.so", "a.txt")] == ["liba", "liba", "a.txt"]
