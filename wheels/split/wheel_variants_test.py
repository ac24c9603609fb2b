"""Wheel variants: what is written, and which wheel a machine gets, as the drafts choose and rocm-bootstrap reports."""

import hashlib
import importlib
import json
import re
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from packaging.utils import InvalidWheelFilename, parse_wheel_filename
from packaging.version import Version

from develop.testing.fat_wheel import FAT, MACHINES, METADATA, VARIANTS, WORDS, content, written
from develop.testing.wheel_sample import Sample
from lib.common.program import ToolError
from lib.device.content import digests
from lib.device.reader import read_device_code
from lib.gpus.table import TARGETS
from lib.wheel.variant_format import (
    FEATURE,
    NAMESPACE,
    PLUGIN_API,
    SCHEMA,
    index_json,
    index_name,
    variant_json,
    variant_label,
)
from wheels.split import tool
from wheels.split.device_files import parse_groups
from wheels.verify.engine import Request, verify
from wheels.verify.finding import Severity

TAGS = "cp311-cp311-manylinux_2_17_x86_64.manylinux2014_x86_64"
WHEEL = f"acme-1.0-{TAGS}-gfx1100.whl"
INDEX = "acme-1.0-variants.json"
VARIANT_JSON = "acme-1.0.dist-info/variant.json"


def split(fat: Path, output: Path, targets: str = "gfx1100,gfx942", status: int = 0) -> dict[str, bytes]:
    """Split a wheel; returns the files of the output directory."""
    given = [str(fat), "--shape=wheel-variants", f"--targets={targets}", f"--output={output}"]
    assert tool.main(given) == status
    return {path.name: path.read_bytes() for path in sorted(output.iterdir())} if output.exists() else {}


def document(data: bytes) -> dict[str, Any]:
    """Parse a JSON file and check what all of them have."""
    found: dict[str, Any] = json.loads(data)
    assert (found["$schema"], found["default-priorities"]) == (SCHEMA, {"namespace": ["amd"]})
    assert list(found["providers"]) == ["amd"]
    assert set(found) == {"$schema", "default-priorities", "providers", "variants"}
    return found


def errors(path: Path) -> set[tuple[str, str]]:
    """Return the errors that rocm-wheels verify finds."""
    found = verify([path], Request(wheel_set=False, processes=1)).judged.findings
    return {(one.id, one.evidence) for one in found if one.severity is Severity.ERROR}


def test_a_variant_has_a_label_and_says_what_it_stands_for(tmp_path: Path) -> None:
    fat = written(tmp_path)
    files = split(fat, tmp_path / "thin")
    names = [WHEEL, WHEEL.replace("gfx1100", "gfx942"), FAT.filename, INDEX]
    assert list(files) == sorted(names)
    thin = content(tmp_path / "thin" / WHEEL)
    said = document(thin[VARIANT_JSON])["variants"]
    assert said == {"gfx1100": {"amd": {"gfx_arch": ["gfx1100"]}}}
    gone = {"acme/kernels/old.hipfb", "acme/kernels/gfx942/flatmm_gfx9.co", "acme/kernels/Tensile_gfx1030.dat"}
    assert set(thin) == {*FAT.members(), VARIANT_JSON} - gone
    assert thin["acme-1.0.dist-info/METADATA"].startswith(METADATA.encode())
    digest = hashlib.sha256(fat.read_bytes()).hexdigest()
    assert f"from {FAT.filename} (SHA-256 {digest})".encode() in thin["acme-1.0.dist-info/METADATA"]
    assert VARIANT_JSON.encode() in thin["acme-1.0.dist-info/RECORD"]
    assert errors(tmp_path / "thin" / WHEEL) <= errors(fat)


def test_an_index_lists_all_variants_and_the_fat_wheel_is_the_fallback(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fat = written(tmp_path)
    files = split(fat, tmp_path / "thin")
    assert files[FAT.filename] == fat.read_bytes()
    for name, data in files.items():
        if name.endswith(("gfx1100.whl", "gfx942.whl")):
            own = document(content(tmp_path / "thin" / name)[VARIANT_JSON])["variants"]
            assert own.items() <= document(files[INDEX])["variants"].items(), data
    said = capsys.readouterr().out
    assert f"{INDEX}: gfx1100, gfx942 (drafts PEP 825 and PEP 850, format 0.2.0)" in said
    assert f"for other machines and installers: {FAT.filename} (" in said


def test_installers_that_know_nothing_of_variants_see_one_wheel(tmp_path: Path) -> None:
    seen = []
    for name in split(written(tmp_path), tmp_path / "thin"):
        try:
            parse_wheel_filename(name)
        except InvalidWheelFilename:
            continue
        seen.append(name)
    assert seen == [FAT.filename]
    with pytest.raises(InvalidWheelFilename, match="Invalid build number: cp311"):
        parse_wheel_filename(WHEEL)


def test_equal_wheels_give_equal_bytes(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    first = split(written(tmp_path), tmp_path / "thin")
    assert first == split(written(tmp_path / "other"), tmp_path / "deep/er", "gfx942,gfx1100")
    assert first == split(tmp_path / FAT.filename, tmp_path / "thin")


def test_a_directory_that_has_variants_gets_more(tmp_path: Path) -> None:
    fat = written(tmp_path)
    other = tmp_path / "acme-1.0-2-cp312-cp312-linux_x86_64.whl"  # with a build tag
    other.write_bytes(Sample(FAT.files, name="acme", tag="cp312-cp312-linux_x86_64").build())
    split(fat, tmp_path / "thin", "gfx942")
    files = split(other, tmp_path / "thin", "gfx1100")
    assert files[INDEX] == split(fat, tmp_path / "both", "gfx942,gfx1100")[INDEX]
    assert {"acme-1.0-2-cp312-cp312-linux_x86_64-gfx1100.whl", WHEEL.replace("gfx1100", "gfx942")} < files.keys()


def test_wheels_of_several_projects_and_pythons_have_one_directory(tmp_path: Path) -> None:
    tags = ("cp311-cp311-linux_x86_64", "cp312-cp312-linux_x86_64")
    fats = [written(tmp_path, Sample(VARIANTS.files, name="acme", tag=tag)) for tag in tags]
    fats.append(written(tmp_path, Sample(VARIANTS.files, name="other", version="2.0+rocm7", tag=tags[0])))
    given = ["--shape=wheel-variants", "--targets=gfx1100", f"--output={tmp_path / 'thin'}"]
    assert tool.main([*map(str, fats), *given]) == 0
    names = {fat.name for fat in fats} | {f"{fat.stem}-gfx1100.whl" for fat in fats}
    names |= {INDEX, "other-2.0+rocm7-variants.json"}
    assert {path.name for path in (tmp_path / "thin").iterdir()} == names


@pytest.mark.parametrize(
    ("there", "message"),
    [
        (index_json({"gfx942": ("gfx90a",)}, None, ""), 'the variant gfx942 has other properties there: {"amd": {'),
        (b"[]", "lists variants in another form than rocm-wheels split does; expected drafts PEP 825 and PEP 850"),
        (b"\xff", "lists variants in another form"),
        (b"[" * 100_000, "lists variants in another form"),
        (index_json({}, None, "").replace(b"0.2.0", b"0.1.1"), "lists variants in another form"),
        (index_json({}, None, "").replace(b"{}", b"[]"), "lists variants in another form"),
    ],
)
def test_a_list_of_variants_that_does_not_agree(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], there: bytes, message: str
) -> None:
    (tmp_path / "thin").mkdir()
    (tmp_path / "thin" / INDEX).write_bytes(there)
    assert split(written(tmp_path), tmp_path / "thin", status=1) == {INDEX: there}
    assert message in capsys.readouterr().err


def test_a_fat_wheel_in_the_output_directory_stays(tmp_path: Path) -> None:
    fat = written(tmp_path)
    before = fat.stat()
    split(fat, tmp_path)
    assert (fat.stat().st_ino, fat.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_a_fat_wheel_that_has_a_variant_json_gets_another(tmp_path: Path) -> None:
    split(written(tmp_path, Sample({**FAT.files, VARIANT_JSON: b"{}"}, name="acme")), tmp_path / "thin")
    thin = content(tmp_path / "thin/acme-1.0-py3-none-linux_x86_64-gfx1100.whl")
    assert list(document(thin[VARIANT_JSON])["variants"]) == ["gfx1100"]


def test_names_are_normalised_as_in_wheels() -> None:
    assert index_name("My.Acme", Version("1.0.0+ROCm-7")) == "my_acme-1.0.0+rocm.7-variants.json"


def test_labels_and_values_have_the_form_of_the_draft() -> None:
    words = [*(target.name for target in TARGETS), "gfx110X-all", "gfx94X-dcgpu", "gfx12-5", "gfx12_5", "gfx-all"]
    for group in parse_groups(",".join(words)):
        assert re.fullmatch(r"[0-9a-z_.]+", variant_label(group.label))
        assert all(re.fullmatch(r"[0-9a-z_.]+", target.processor) for target in group.targets)
    assert document(variant_json("a", ("gfx942", "gfx1100")))["variants"]["a"] == {
        "amd": {"gfx_arch": ["gfx1100", "gfx942"]}
    }


def plugin() -> Any:
    """Load the provider as an installer does."""
    module, _, name = PLUGIN_API.partition(":")
    return getattr(importlib.import_module(module), name)


def test_the_provider_reports_what_the_wheels_say() -> None:
    assert plugin().namespace == NAMESPACE
    [feature] = plugin().get_all_configs()
    assert (feature.name, feature.multi_value) == (FEATURE, True)
    owners = {one.processor for group in parse_groups("gfx-all") for one in group.targets}
    assert owners == set(feature.values)


def ranked(variants: Mapping[str, Mapping[str, Mapping[str, list[str]]]]) -> list[str]:
    """Return the labels of variants that suit the machine, best first (PEP 825, "Variant ordering").

    The order of values is the provider's. There is one feature, so a wheel ranks by its best value, then by its label.
    """
    values = {feature.name: feature.values for feature in plugin().get_supported_configs()}
    keys = []
    for label, properties in variants.items():
        wanted = properties[NAMESPACE][FEATURE]
        if suits := [rank for rank, value in enumerate(values.get(FEATURE, ())) if value in wanted]:
            keys.append((suits[0], label))
    return [label for _, label in sorted(keys)]


@pytest.mark.parametrize(("gpus", "labels"), MACHINES.items())
def test_each_machine_gets_its_wheel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, gpus: str, labels: tuple[str, ...]
) -> None:
    variants = document(split(written(tmp_path, VARIANTS), tmp_path / "thin", WORDS)[INDEX])["variants"]
    assert sorted(variants) == ["gfx1100", "gfx110x_all", "gfx1250", "gfx942"]
    monkeypatch.setenv("ROCM_BOOTSTRAP_FORCE_GFX_ARCH", gpus)
    monkeypatch.setenv("ROCM_BOOTSTRAP_DISABLE_DETECTION", "0" if gpus else "1")
    assert tuple(ranked(variants)) == labels


def test_a_gpu_that_the_provider_does_not_know_is_its_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROCM_BOOTSTRAP_FORCE_GFX_ARCH", "gfx9999")
    with pytest.raises(ValueError, match="Unknown GFX target: 'gfx9999'"):
        plugin().get_supported_configs()


def test_a_wheel_has_the_code_for_both_settings_of_a_feature(tmp_path: Path) -> None:
    """The provider tells no settings of features, such as XNACK."""
    split(written(tmp_path, VARIANTS), tmp_path / "thin", "gfx942")
    file = BytesIO(content(tmp_path / "thin/acme-1.0-py3-none-linux_x86_64-gfx942.whl")["acme/lib.so"])
    device = read_device_code(file, "x")
    found = [one for bundle in device.bundles for one in digests(file, device, bundle)]
    assert sorted(str(one.entry.target) for one in found if one.size) == ["gfx942:xnack+", "gfx942:xnack-"]


@pytest.mark.parametrize("failing", ["index_json", "shutil.copyfile"])
def test_what_fails_late_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: str) -> None:
    def fail(*arguments: object) -> None:
        raise ToolError("x")

    monkeypatch.setattr(f"wheels.split.write.{failing}", fail)
    assert split(written(tmp_path), tmp_path / "thin", status=1) == {}


def test_a_fat_wheel_that_changes_meanwhile(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def copied(_: Path, to: Path) -> None:
        to.write_bytes(b"other")

    monkeypatch.setattr("wheels.split.write.shutil.copyfile", copied)
    assert split(written(tmp_path), tmp_path / "thin", status=2) == {}
    assert f"{FAT.filename}: was changed while it was read; nothing was written" in capsys.readouterr().err
