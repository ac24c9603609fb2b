"""Which files have device code, and for which GPUs: their code says it, else their headers, else their names."""

from pathlib import Path

import pytest

from develop.testing.fat_wheel import FAT, TARGETS, code_object, written
from develop.testing.wheel_sample import Sample
from wheels.common.sound_wheel import read_sound_wheel
from wheels.split.device_files import DeviceFile, Form, device_files, parse_groups


def found(folder: Path, sample: Sample, whole: tuple[str, ...] = ()) -> dict[str, tuple[Form, str]]:
    """Return form and targets by path."""

    def shown(one: DeviceFile) -> tuple[Form, str]:
        return one.form, " ".join(sorted(map(str, one.codes)))

    files = device_files(read_sound_wheel(written(folder, sample)).wheel, whole)
    return {path: shown(one) for path, one in files.items()}


def test_every_form_of_device_code(tmp_path: Path) -> None:
    every = " ".join(sorted(TARGETS))
    assert found(tmp_path, FAT) == {
        "acme/kernels/Tensile_gfx1030.dat": (Form.WHOLE, "gfx1030"),
        "acme/kernels/Tensile_gfx1100.dat": (Form.WHOLE, "gfx1100"),
        "acme/kernels/all.hipfb": (Form.BUNDLE, every),
        "acme/kernels/anonymous.hsaco": (Form.WHOLE, "gfx1100"),
        "acme/kernels/gfx942/flatmm_gfx9.co": (Form.WHOLE, "gfx942"),
        "acme/kernels/old.hipfb": (Form.BUNDLE, "gfx1030 gfx1031"),
        "acme/lib/libacme.so": (Form.EMBEDDED, every),
        "acme/lib/libpacked.so": (Form.EMBEDDED, every),
    }
    assert "acme/lib/libacme.so" not in found(tmp_path, FAT, ("*.so",))


@pytest.mark.parametrize(
    ("path", "content", "expected"),
    [
        ("a/gfx90a.co", code_object(0x4C), (Form.WHOLE, "gfx942")),
        ("a/gfx90a.co", code_object(0xFE), (Form.WHOLE, "gfx90a")),
        ("a/new.co", code_object(0xFE), None),
        ("a/K_gfx1030_gfx1100.co", b"text", (Form.WHOLE, "gfx1030 gfx1100")),
        ("a/K_gfx12_fp8.dat", b"", (Form.WHOLE, "gfx1200 gfx1201 gfx1250 gfx1250-strict gfx1251")),
        ("a/K_gfx11-generic.co", b"", (Form.WHOLE, "gfx11-generic")),
        ("a/K_gfx94.dat", b"", None),
        ("a/K_gfx942_gfx94.dat", b"", None),
        ("a/gfx942/K_gfx9zz.dat", b"", None),
        ("a/K.dat", b"", None),
        ("a/share/miopen/db/gfx942130.db.txt", b"", (Form.DATA, "gfx942")),
        ("a/share/miopen/db/gfx90878.HIP.fdb.txt", b"", (Form.DATA, "gfx908")),
        ("a/share/miopen/db/gfx908_ConvAsm1x1U_decoder.ktn.model", b"", (Form.DATA, "gfx908")),
        ("a/share/miopen/db/gfx90a6e.kdb", b"", (Form.WHOLE, "gfx90a")),
        ("a/share/miopen/db/gfx9zz_36.db.txt", b"", None),
        ("a/rocblas/library/TensileManifest.txt", b"", None),
        ("a/rocblas/library/gfx942/TensileManifest.txt", b"", (Form.DATA, "gfx942")),
        ("a/hipblaslt/library/gfx942-xnack+/Tensile_fallback.dat", b"", (Form.WHOLE, "gfx942:xnack+")),
        ("a/rocblas/library/gfx9zz/TensileManifest.txt", b"", None),
        ("a/aotriton.images/amd-gfx942/flash/attn_fwd.zip", b"", (Form.WHOLE, "gfx942")),
        ("a/aotriton.images/amd-gfx110x/flash/a.aks2", b"", (Form.WHOLE, "gfx1100 gfx1101 gfx1102 gfx1103")),
        ("a/gfx942.py", b"", None),
        ("a/gfx942.kpack", b"KPAK?", None),
    ],
)
def test_files_by_themselves(tmp_path: Path, path: str, content: bytes, expected: tuple[Form, str] | None) -> None:
    assert found(tmp_path, Sample({path: content})) == ({path: expected} if expected else {})


@pytest.mark.parametrize(
    ("name", "target", "is_for"),
    [
        ("K_gfx9.dat", "gfx942", True),
        ("K_gfx9.dat", "gfx940", True),
        ("K_gfx9.dat", "gfx1100", False),
        ("K_gfx94x.dat", "gfx941", True),
        ("K_gfx1100_gfx9.dat", "gfx941", True),
        ("K_gfx1100_gfx9.dat", "gfx1030", False),
        ("aotriton.images/amd-gfx11xx/a.aks2", "gfx1151", True),
        ("aotriton.images/amd-gfx11xx/a.aks2", "gfx1201", False),
        ("aotriton.images/amd-gfx120x/a.aks2", "gfx1201", True),
    ],
)
def test_a_family_in_a_name_means_targets_that_no_table_has_as_well(
    tmp_path: Path, name: str, target: str, is_for: bool
) -> None:
    files = device_files(read_sound_wheel(written(tmp_path, Sample({f"a/{name}": b""}))).wheel)
    [group] = parse_groups(target)
    assert [one.is_for(group) for one in files.values()] == [is_for]
