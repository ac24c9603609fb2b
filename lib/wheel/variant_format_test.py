"""Tests of the format of wheel variants: labels in file names, `variant.json`, and the index's file."""

import json

import pytest

from lib.common.program import ToolError
from lib.wheel.variant_format import (
    NULL,
    check_label,
    index_json,
    merge_variants,
    split_label,
    variant_json,
    variants_in,
)

WHEEL = "rocm-7.10.0-py3-none-any-gfx942.whl"
OTHER = "rocm-7.10.0-py3-none-any-gfx110x_all.whl"


@pytest.mark.parametrize(
    ("filename", "expected"),
    [
        (WHEEL, ("rocm-7.10.0-py3-none-any.whl", "gfx942")),
        ("rocm-7.10.0-1x-py3-none-any-null.whl", ("rocm-7.10.0-1x-py3-none-any.whl", "null")),
        ("rocm-7.10.0-1x-py3-none-any.whl", ("rocm-7.10.0-1x-py3-none-any.whl", "")),
        ("rocm-7.10.0-py3-none-any.whl", ("rocm-7.10.0-py3-none-any.whl", "")),
        ("rocm-7.10.0.tar.gz", ("rocm-7.10.0.tar.gz", "")),
        ("a-b-c-d-e-f-g-h.whl", ("a-b-c-d-e-f-g-h.whl", "")),
        ("rocm.whl", ("rocm.whl", "")),
    ],
)
def test_the_label_is_the_last_part(filename: str, expected: tuple[str, str]) -> None:
    assert split_label(filename) == expected


@pytest.mark.parametrize("label", ["gfx942", "gfx110x_all", "null", "1.2", "a" * 100])
def test_labels(label: str) -> None:
    check_label(label)


@pytest.mark.parametrize("label", ["", "GFX942", "gfx110x-all", "gfx942\n"])
def test_what_is_no_label(label: str) -> None:
    with pytest.raises(ValueError, match="expected one or more of the characters 0-9, a-z, _ and"):
        check_label(label)


def test_an_index_lists_what_its_wheels_say() -> None:
    files = {WHEEL: variant_json("gfx942", ["gfx942"]), OTHER: variant_json("gfx110x_all", ["gfx1101", "gfx1100"])}
    merged = merge_variants(files)
    assert merged == index_json({"gfx942": ["gfx942"], "gfx110x_all": ["gfx1100", "gfx1101"]}, None, "")
    assert merge_variants(dict(reversed(files.items()))) == merged
    twice = files | {WHEEL.replace("py3", "cp312"): files[WHEEL]}
    assert merge_variants(twice) == merged


def test_wheels_of_one_label_agree() -> None:
    other = WHEEL.replace("py3", "cp312")
    files = {WHEEL: variant_json("gfx942", ["gfx942"]), other: variant_json("gfx942", ["gfx950"])}
    with pytest.raises(ToolError, match="with the same properties in each wheel of this label"):
        merge_variants(files)


def test_a_wheel_is_of_its_label() -> None:
    with pytest.raises(ToolError, match="expected the variant 'gfx942'"):
        merge_variants({WHEEL: variant_json("gfx950", ["gfx950"])})
    with pytest.raises(ToolError, match=f"{WHEEL}: variant.json: is not JSON"):
        merge_variants({WHEEL: b"{"})


def test_all_wheels_of_a_version_have_the_same_provider() -> None:
    document = json.loads(variant_json("gfx942", ["gfx942"]))
    document["providers"]["amd"]["requires"] = ["other"]
    files = {WHEEL: json.dumps(document).encode(), OTHER: variant_json("gfx110x_all", ["gfx1100"])}
    with pytest.raises(ToolError, match="expected the same in all variants of a version"):
        merge_variants(files)


def test_the_null_variant_has_no_properties() -> None:
    document = json.loads(variant_json("gfx942", ["gfx942"]))
    for label, properties, is_right in (
        (NULL, {}, True),
        (NULL, {"amd": {"gfx_arch": ["gfx942"]}}, False),
        ("gfx942", {}, False),
    ):
        content = json.dumps(document | {"variants": {label: properties}}).encode()
        if is_right:
            assert variants_in(content) == {label: properties}
        else:
            with pytest.raises(ValueError, match="properties; expected"):
                variants_in(content)


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (b"\xff", "is not JSON"),
        (b"[" * 100_000, "is not JSON"),
        (b"[]", "has no object `variants`"),
        (b'{"variants": []}', "has no object `variants`"),
        (b'{"variants": {"GFX": {}}}', "the variant label 'GFX' is not valid"),
        (b'{"variants": {"a": []}}', "a: has no properties by namespace and feature"),
        (b'{"variants": {"a": {"amd": {}}}}', "a: has no properties by namespace and feature"),
        (b'{"variants": {"a": {"amd": {"gfx_arch": []}}}}', "a: has a feature without values"),
        (b'{"variants": {"a": {"amd": {"gfx_arch": [1]}}}}', "a: has a feature without values"),
        (b'{"variants": {"a": {"amd": {"gfx_arch": ["b"]}}}}', "a: has properties of amd, which `default-priorities`"),
    ],
)
def test_what_is_no_file_of_the_format(content: bytes, fault: str) -> None:
    with pytest.raises(ValueError, match=fault):
        variants_in(content)
