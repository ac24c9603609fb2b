"""The record of the choice at installation: as the build backend writes it, and as a wheel variant has it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from rocm_sdk import distributions
from rocm_sdk.distributions import SELECTED_FILE, load_selection

LINUX = {"target": "gfx942", "source": "variant", "reason": "the installer chose the wheel variant gfx942"}
WINDOWS = {**LINUX, "target": "gfx1100"}


@pytest.mark.parametrize(("platform", "expected"), [("linux", LINUX), ("win32", WINDOWS), ("other", LINUX)])
def test_a_wheel_variant_may_stand_for_another_target_on_each_platform(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, platform: str, expected: dict[str, str]
) -> None:
    record = {**LINUX, "platforms": {"linux": LINUX, "win32": WINDOWS}}
    (tmp_path / SELECTED_FILE).write_text(json.dumps(record))
    monkeypatch.setattr(distributions, "__file__", str(tmp_path / "distributions.py"))
    monkeypatch.setattr(sys, "platform", platform)
    found = load_selection()
    assert found is not None
    assert {key: found[key] for key in LINUX} == expected


def test_what_was_recorded_for_all_platforms(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(distributions, "__file__", str(tmp_path / "distributions.py"))
    assert load_selection() is None
    (tmp_path / SELECTED_FILE).write_text(json.dumps(LINUX))
    assert load_selection() == LINUX
