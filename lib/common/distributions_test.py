"""Tests of what the selector chooses from."""

import json
from typing import Any

import pytest

from lib.common.distributions import parse_distributions

SPLIT: dict[str, Any] = {
    "version": "7.0",
    "layout": "split",
    "targets": ["gfx1100", "gfx90a:xnack+"],
    "default_target": "gfx1100",
    "packages": {
        "core": {"distribution": "sdk-core", "tree": "_core", "import": "core"},
        "device": {"distribution": "sdk-device-{target}", "tree": "_device"},
        "libraries": {"distribution": "sdk-libraries", "tree": "_libraries"},
    },
}


def test_split_by_device_packages() -> None:
    known = parse_distributions(json.dumps(SPLIT))
    assert known.selected() == {
        "sdk-core": ("core", ""),
        "sdk-device-gfx1100": ("device", "gfx1100"),
        "sdk-device-gfx90a": ("device", "gfx90a:xnack+"),
        "sdk-libraries": ("libraries", ""),
    }
    pins = known.pins()
    assert pins[""] == ["sdk-core==7.0"]
    assert pins["device"] == ["sdk-libraries==7.0", "sdk-device-gfx1100==7.0", "sdk-device-gfx90a==7.0"]
    assert pins["device-gfx1100"] == ["sdk-libraries==7.0", "sdk-device-gfx1100==7.0"]


def test_libraries_by_family() -> None:
    packages = {"core": SPLIT["packages"]["core"], "libraries": {"distribution": "l-{target}", "tree": "_l_{target}"}}
    known = parse_distributions(
        json.dumps(SPLIT | {"layout": "family", "packages": packages, "targets": ["gfx110X-all"]})
    )
    assert known.pins()["libraries-gfx110x-all"] == ["l-gfx110X-all==7.0"]
    assert known.packages["libraries"].for_target("gfx110X-all").tree == "_l_gfx110X_all"


def test_a_build_for_two_platforms() -> None:
    windows = {"default_target": "gfx1100", "packages": ["core", "device"], "targets": ["gfx1100"]}
    known = parse_distributions(json.dumps(SPLIT | {"platforms": {"win32": windows}}))
    assert known.selected().keys() == parse_distributions(json.dumps(SPLIT)).selected().keys()
    assert known.on("win32").selected() == {"sdk-core": ("core", ""), "sdk-device-gfx1100": ("device", "gfx1100")}
    assert known.on("darwin") is known
    linux = {"default_target": "gfx1100", "packages": list(SPLIT["packages"]), "targets": SPLIT["targets"]}
    pins = parse_distributions(json.dumps(SPLIT | {"platforms": {"linux": linux, "win32": windows}})).pins()
    assert pins[""] == ["sdk-core==7.0"]
    assert pins["device-all"] == [
        'sdk-libraries==7.0; sys_platform == "linux"',
        "sdk-device-gfx1100==7.0",
        'sdk-device-gfx90a==7.0; sys_platform == "linux"',
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (json.dumps({key: value for key, value in SPLIT.items() if key != "targets"}), "lacks 'targets'"),
        (json.dumps(SPLIT | {"packages": {"core": {"distribution": "", "tree": "a"}}}), "an empty name in"),
        (json.dumps(SPLIT | {"packages": 1}), "expected version, layout, targets"),
        ("[", "Expecting"),
    ],
)
def test_a_file_of_another_form_is_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse_distributions(text)
