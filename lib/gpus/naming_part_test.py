"""Files that are loaded for some GPUs, by the names that ROCm's libraries give them."""

import pytest

from lib.gpus.paths import is_code_file, named_targets, naming_part


def targets(path: str) -> str:
    """Return which GPUs the path of a file says that it is loaded for; `""` for any."""
    part = naming_part(path)
    return "" if part is None else " ".join(map(str, named_targets(part)))


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("lib/rocblas/library/TensileLibrary_gfx1100.co", "gfx1100"),
        ("lib/rocblas/library/TensileLibrary_fallback.dat", ""),
        ("lib/rocblas/library/TensileManifest.txt", ""),
        ("torch/lib/rocblas/library/gfx942/TensileManifest.txt", "gfx942"),
        ("lib/hipblaslt/library/gfx1100/TensileLibrary_fallback.dat", "gfx1100"),
        ("lib/hipblaslt/library/gfx90a-xnack+/TensileLibrary.co", "gfx90a:xnack+"),
        ("hipsparselt/library/gfx950/Tensile/Kernels.json", "gfx950"),
        ("lib/hipblaslt/library/gfx942/K_gfx90a.hsaco", "gfx90a"),
        ("lib/other/library/gfx942/notes.txt", ""),
        ("lib/rocblas/library/gfx942", ""),
        ("lib/hipblaslt/library/gfx942_notes.txt", ""),
        ("torch/lib/aotriton.images/amd-gfx942/flash/attn_fwd/kernel.aks2", "gfx942"),
        ("aotriton.images/amd-gfx90a/__signature__", "gfx90a"),
        ("lib/aotriton.images/amd-gfx11xx/flash/attn_fwd.zip", "gfx11xx"),
        ("lib/aotriton.images/amd-gfx110x/flash/F__bf16@16___gfx11xx.aks2", "gfx110x"),
        ("lib/aotriton.images/signature", ""),
        ("lib/images/amd-gfx942/a.aks2", ""),
        ("lib/hipdnn_plugins/engines/arch_content/rocke/gfx942/kernels.json", "gfx942"),
        ("engines/arch_content/gfx1201/a/b.txt", "gfx1201"),
        ("engines/test_arch_content/unit/shared/gfx1201/a.txt", "gfx1201"),
        ("engines/content/gfx1201/a.txt", ""),
        ("acme/gfx942.py", ""),
        ("acme/gfx942/kernels.hpp", ""),
        ("acme/gfx942.db.txt", ""),
        ("acme/gfx942/flatmm_gfx9.co", "gfx9"),
    ],
)
def test_names_and_directories(path: str, expected: str) -> None:
    assert targets(path) == expected


#: The processors that AMD's splitter lists for MIOpen.
MIOPENS = (
    *("gfx803", "gfx900", "gfx906", "gfx908", "gfx90a", "gfx940", "gfx941", "gfx942", "gfx950", "gfx1010", "gfx1030"),
    *("gfx1100", "gfx1101", "gfx1102", "gfx1150", "gfx1151", "gfx1200", "gfx1201", "gfx1250", "gfx1250-strict"),
)


@pytest.mark.parametrize("processor", MIOPENS)
@pytest.mark.parametrize(
    "rest",
    ["_36.db.txt", ".HIP.fdb.txt", "_64.OpenCL.fdb.txt", "_ConvAsm1x1U_decoder.ktn.model", ".tn.model", ".kdb", ".db"],
)
def test_databases_of_miopen(processor: str, rest: str) -> None:
    """The project's tables know each of them."""
    assert targets(f"share/miopen/db/{processor}{rest}") == processor


@pytest.mark.parametrize("units", ["130", "78", "6e", "3c", "64"])
@pytest.mark.parametrize("processor", ["gfx908", "gfx90a", "gfx942", "gfx1100", "gfx1151"])
def test_compute_units_follow_the_processor_without_a_separator(processor: str, units: str) -> None:
    assert targets(f"torch/share/miopen/db/{processor}{units}.db.txt") == processor


def test_which_of_them_are_code() -> None:
    assert is_code_file("a/K_gfx942.co")
    assert is_code_file("share/miopen/db/gfx942.kdb")
    assert is_code_file("aotriton.images/amd-gfx942/a.zip")
    assert not is_code_file("share/miopen/db/gfx942130.db.txt")
    assert not is_code_file("rocblas/library/gfx942/TensileManifest.txt")
