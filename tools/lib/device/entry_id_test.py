"""Entry IDs, as compilers of many years have written them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tools.lib.device.entry_id import parse_entry_id


@pytest.mark.parametrize(
    ("text", "kind", "triple", "target"),
    [
        ("hipv4-amdgcn-amd-amdhsa--gfx1030", "hipv4", "amdgcn-amd-amdhsa", "gfx1030"),
        ("hipv4-amdgcn-amd-amdhsa--gfx90a:xnack-:sramecc+", "hipv4", "amdgcn-amd-amdhsa", "gfx90a:sramecc+:xnack-"),
        ("hipv4-amdgcn-amd-amdhsa-unknown-gfx942", "hipv4", "amdgcn-amd-amdhsa-unknown", "gfx942"),
        ("hipv4-amdgcn-amd-amdhsa--gfx10-3-generic", "hipv4", "amdgcn-amd-amdhsa", "gfx10-3-generic"),
        ("hip-amdgcn-amd-amdhsa-gfx906+sram-ecc", "hip", "amdgcn-amd-amdhsa", "gfx906:sramecc+"),
        ("hip-amdgcn-amd-amdhsa-gfx9-4-generic", "hip", "amdgcn-amd-amdhsa", "gfx9-4-generic"),
        ("hip-spirv64-amd-amdhsa--amdgcnspirv", "hip", "spirv64-amd-amdhsa", "amdgcnspirv"),
        ("hip-spirv64-amd-amdhsa-unknown-amdgcnspirv", "hip", "spirv64-amd-amdhsa-unknown", "amdgcnspirv"),
        ("hipv4-amdgpu11-amd-amdhsa--gfx1100", "hipv4", "amdgpu11-amd-amdhsa", "gfx1100"),
        ("openmp-nvptx64-nvidia-cuda-sm_70", "openmp", "nvptx64-nvidia-cuda", None),
        ("openmp-amdgcn-amd-amdhsa", "openmp", "amdgcn-amd-amdhsa", None),
        ("host-x86_64-unknown-linux", "host", "x86_64-unknown-linux", None),
        ("host-x86_64-unknown-linux--", "host", "x86_64-unknown-linux", None),
        ("host-x86_64-unknown-linux-gnu-", "host", "x86_64-unknown-linux-gnu", None),
        # What clang-offload-bundler 18 and 19 make of an ID with an environment.
        (
            "host-x86_64-unknown-linux-gnu-host-x86_64-unknown-linux-gnu-",
            "host",
            "x86_64-unknown-linux-gnu",
            None,
        ),
    ],
)
def test_what_compilers_write(text: str, kind: str, triple: str, target: str | None) -> None:
    entry = parse_entry_id(text)
    assert (entry.text, entry.kind, entry.triple) == (text, kind, triple)
    assert (str(entry.target) if entry.target else None) == target
    assert entry.is_host == (kind == "host")


@pytest.mark.parametrize(
    "text",
    ["", "host", "hip-amdgcn", "hip-amdgcn-amd", "-amdgcn-amd-amdhsa--gfx1030", "hip-a-b-../../c", "hip-a-b-c\0"],
)
def test_what_is_no_entry_id(text: str) -> None:
    with pytest.raises(ValueError, match="expected KIND-TRIPLE-TARGET"):
        parse_entry_id(text)


def test_a_target_that_is_none() -> None:
    with pytest.raises(ValueError, match="target ID 'gfx90a:xnack'"):
        parse_entry_id("hipv4-amdgcn-amd-amdhsa--gfx90a:xnack")


@given(st.text(max_size=60) | st.from_regex(r"[a-z0-9-]{1,9}(-[a-z0-9:+-]{0,12}){0,5}", fullmatch=True))
def test_any_text_is_parsed_or_refused(text: str) -> None:
    try:
        entry = parse_entry_id(text)
    except ValueError:
        return
    assert entry.text == text
    assert text.startswith(f"{entry.kind}-{entry.triple}")
    assert "/" not in text
