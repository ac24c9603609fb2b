"""A set is looked at as installed on a machine with one GPU, over the wheels of all who publish."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from packaging.version import Version

from develop.testing.device_sample import HOST, PREFIX, Part, bundle
from develop.testing.device_sample import Sample as DeviceSample
from develop.testing.elf_sample import Sample as ElfSample
from develop.testing.wheel_sample import METADATA, Sample
from lib.common.program import ToolError
from lib.gpus.paths import target_of_local_version
from wheels.verify.engine import Request, verify
from wheels.verify.finding import Finding
from wheels.verify.settings import Settings

#: As split wheels have it, `{name}-{version}+{target}`.
GFX942, GFX1100 = "1.0+gfx942", "1.0+gfx1100"


def library(*targets: str) -> bytes:
    """Return a library with code for these targets."""
    codes = [(PREFIX + target, target.encode() * 9) for target in targets]
    return DeviceSample((Part(bundle([(HOST, b""), *codes])),)).build()


def framework(version: str = "1.0", *targets: str, files: Mapping[str, bytes] | None = None) -> Sample:
    """Return a wheel whose library has code for these targets."""
    own = {"acme/__init__.py": b"", "acme/libacme.so": library(*targets)}
    return Sample({**own, **(files or {})}, name="acme", version=version)


def device(target: str) -> Sample:
    """Return the package of an SDK for one target."""
    return Sample({f"_sdk_{target}/libsolver.so": library(target)}, name=f"sdk_device_{target}")


def found(folder: Path, *samples: Sample, targets: tuple[str, ...], settings: Settings | None = None) -> list[Finding]:
    """Return what is found in a set of these wheels, except notes on the system that they need."""
    for sample in samples:
        (folder / sample.filename).write_bytes(sample.build())
    request = Request(settings or Settings(), targets=targets, processes=1)
    return [one for one in verify([folder], request).judged.findings if one.id[0] in "SD"]


def said(findings: list[Finding]) -> list[tuple[str, str, str]]:
    """Return rule, wheel, and what people read."""
    return [(one.id, one.wheel, one.said) for one in findings]


SPLIT = (framework(GFX942, "gfx942"), framework(GFX1100, "gfx1100"), device("gfx942"), device("gfx1100"))


def test_split_wheels_and_packages_of_the_sdk_are_one_set_for_each_gpu(tmp_path: Path) -> None:
    assert found(tmp_path, *SPLIT, targets=("gfx942", "gfx1100")) == []


def test_split_wheels_of_one_name_need_a_target(tmp_path: Path) -> None:
    with pytest.raises(
        ToolError, match=r"acme: the set has wheels for gfx1100, gfx942, .* choose a GPU with `targets`"
    ):
        found(tmp_path, *SPLIT, targets=())


def test_a_split_wheel_that_is_missing_is_found(tmp_path: Path) -> None:
    findings = found(tmp_path, *SPLIT[:1], *SPLIT[2:], targets=("gfx942", "gfx1100"))
    assert said(findings) == [("S140", "", "gfx1100: acme: the set has wheels for gfx942")]


def test_a_package_of_the_sdk_that_is_missing_is_found(tmp_path: Path) -> None:
    findings = found(tmp_path, *SPLIT[:3], targets=("gfx1100",))
    assert said(findings) == [("S140", "", "gfx1100: sdk-device: the set has wheels for gfx942")]


def test_families_serve_their_targets(tmp_path: Path) -> None:
    family = framework("1.0+rocm7.gfx110x.all", "gfx1100", "gfx1101")
    assert found(tmp_path, family, targets=("gfx1101",)) == []
    assert [one.id for one in found(tmp_path, family, targets=("gfx942",))] == ["S140"]


def test_a_library_of_others_without_code_for_the_gpu_is_found(tmp_path: Path) -> None:
    fat = framework("1.0", "gfx942", "gfx1030")
    findings = found(tmp_path, fat, device("gfx942"), device("gfx1100"), targets=("gfx942", "gfx1100"))
    assert said(findings) == [("D113", fat.filename, "gfx1100: there is code for gfx1030, gfx942")]
    assert findings[0].file == "acme/libacme.so"


def test_a_library_whose_code_was_all_taken_out_is_found(tmp_path: Path) -> None:
    empty = framework(GFX942, files={"acme/libempty.so": library()})
    findings = found(tmp_path, empty, targets=("gfx942",))
    assert {(one.id, one.file) for one in findings} == {("D113", "acme/libacme.so"), ("D113", "acme/libempty.so")}


def test_gaps_of_other_gpus_do_not_count(tmp_path: Path) -> None:
    codes = [[(PREFIX + one, b"x" * 9) for one in ("gfx942", "gfx1030")], [(PREFIX + "gfx942", b"x" * 9)]]
    uneven = DeviceSample(tuple(Part(bundle([(HOST, b""), *one])) for one in codes)).build()
    wheel = Sample({"acme/libacme.so": uneven}, name="acme")
    assert [one.id for one in found(tmp_path, wheel, targets=())] == ["D103"]
    assert found(tmp_path, wheel, targets=("gfx942",)) == []
    assert [one.id for one in found(tmp_path, wheel, targets=("gfx1030",))] == ["D103"]


def test_libraries_are_looked_for_over_all_wheels(tmp_path: Path) -> None:
    needs = ElfSample(soname="libuse.so", needed=("libsdk.so.1",), rpath="$ORIGIN/../_sdk/lib").build()
    metadata = METADATA.replace("License-File", "Requires-Dist: sdk-core\nLicense-File")
    user = Sample({"acme/libuse.so": needs}, name="acme", version=GFX942, metadata=metadata)
    core = Sample({"_sdk/lib/libsdk.so.1": ElfSample(soname="libsdk.so.1").build()}, name="sdk_core")
    assert found(tmp_path, user, core, targets=("gfx942",)) == []
    (tmp_path / core.filename).unlink()
    assert {one.id for one in found(tmp_path, user, targets=("gfx942",))} == {"S101", "S131"}


def test_a_preloaded_library_of_the_set_serves_wherever_it_lies(tmp_path: Path) -> None:
    needs = ElfSample(soname="libuse.so", needed=("libsdk.so.1",), versions=(("libsdk.so.1", ("SDK_2",)),)).build()
    user = Sample({"acme/libuse.so": needs}, name="acme")
    core = Sample({"_sdk/lib/libsdk.so.1": ElfSample(soname="libsdk.so.1").build()}, name="sdk_core")
    preloaded = Settings(preloaded_libraries=("libsdk.so.*",))
    assert {one.id for one in found(tmp_path, user, core, targets=())} == {"S101"}
    assert {one.id for one in found(tmp_path, user, core, targets=(), settings=preloaded)} == set()
    (tmp_path / core.filename).unlink()
    assert {one.id for one in found(tmp_path, user, targets=(), settings=preloaded)} == {"S101"}


def test_what_is_left_out_is_not_a_missing_requirement(tmp_path: Path) -> None:
    extras = "".join(
        f"Provides-Extra: device-{one}\nRequires-Dist: sdk-device-{one}==1.0; extra == 'device-{one}'\n"
        for one in ("gfx942", "gfx1100")
    )
    static = Sample(name="sdk", tag="py3-none-any", metadata=METADATA.replace("License-File", f"{extras}License-File"))
    assert found(tmp_path, static, device("gfx942"), device("gfx1100"), targets=("gfx942",)) == []


@pytest.mark.parametrize("word", ["gfx110X-all", "gfx942:xnack+", "gfx11-generic", "mi300"])
def test_a_target_is_one_gpu(word: str, tmp_path: Path) -> None:
    with pytest.raises(ToolError, match="is not a GPU target; expected one without features"):
        found(tmp_path, *SPLIT, targets=(word,))


@pytest.mark.parametrize(
    ("version", "target"),
    [
        ("1.0", None),
        ("1.0+rocm7.2", None),
        ("1.0+gfx942", "gfx942"),
        ("2.0+rocm7.gfx1100", "gfx1100"),
        ("1.0+gfx110X.all", "gfx110X-all"),
        ("1.0+gfx12.5", "gfx12-5"),
        ("1.0+gfx94X.dcgpu", "gfx94X-dcgpu"),
        ("1.0+gfx942.post2", None),
        ("1.0+gfxnew", None),
    ],
)
def test_the_target_of_a_version(version: str, target: str | None) -> None:
    assert target_of_local_version(Version(version).local) == target
