"""The words of --targets."""

import pytest

from lib.common.program import ToolError
from lib.gpus.target_id import parse_target_id
from wheels.split.device_files import parse_groups


def test_targets_and_families_are_groups_sorted_by_label() -> None:
    family, target = parse_groups("gfx942, gfx110X-all")
    assert family.label == "gfx110x-all"
    assert [str(one) for one in family.targets] == ["gfx1100", "gfx1101", "gfx1102", "gfx1103"]
    assert (target.label, [str(one) for one in target.targets]) == ("gfx942", ["gfx942"])


def test_the_owner_of_a_package_stands_for_its_targets() -> None:
    assert [group.label for group in parse_groups("gfx1250-strict,gfx1250,gfx1250")] == ["gfx1250"]


def test_a_group_loads_generic_code_and_all_settings_of_features() -> None:
    [group] = parse_groups("gfx942")
    codes = [parse_target_id(text) for text in ("gfx942:xnack+", "gfx9-4-generic", "amdgcnspirv", "gfx90a")]
    assert [group.loads(one) for one in codes] == [True, True, True, False]
    assert group.missing(codes[3:]) == group.targets


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "names no GPU"),
        (" , ", "names no GPU"),
        ("gfx12345", "'gfx12345' is not a GPU target or family; expected"),
        ("gfx11022", "expected names such as gfx942 or gfx110X-all; near it are gfx1102; known are gfx900, "),
        ("all", "'all' is not a GPU target or family"),
        ("gfx94-2", "no GPU target is known of the family|is not a GPU target"),
        ("gfx90a:xnack+", "gfx90a:xnack. has features; expected gfx90a"),
    ],
)
def test_other_words_are_refused(text: str, message: str) -> None:
    with pytest.raises(ToolError, match=message):
        parse_groups(text)
