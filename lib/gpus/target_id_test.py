"""Target IDs: parsed, in canonical form, and which GPUs load what."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lib.gpus.target_id import GENERIC_PROCESSORS, SPIRV, TargetId, can_load, parse_target_id

FEATURES = st.dictionaries(st.sampled_from(("sramecc", "xnack", "future-feature")), st.booleans())
PROCESSORS = st.sampled_from(("gfx906", "gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1250", *GENERIC_PROCESSORS))
TARGETS = st.builds(
    lambda processor, features: TargetId(processor, tuple(sorted(features.items()))), PROCESSORS, FEATURES
)


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("gfx1030", "gfx1030"),
        ("gfx90a:xnack+", "gfx90a:xnack+"),
        ("gfx90a:xnack-:sramecc+", "gfx90a:sramecc+:xnack-"),
        ("gfx11-generic", "gfx11-generic"),
        ("gfx9-4-generic:xnack+", "gfx9-4-generic:xnack+"),
        ("gfx1250:gfx1250-b0-specific-", "gfx1250:gfx1250-b0-specific-"),
        ("amdgcnspirv", "amdgcnspirv"),
    ],
)
def test_canonical_form(text: str, canonical: str) -> None:
    assert str(parse_target_id(text)) == canonical


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "expected a processor"),
        ("sm_70", "expected a processor"),
        ("GFX1030", "expected a processor"),
        ("gfx", "expected a processor"),
        ("gfx1030\n", "expected a processor"),
        ("gfx10-", "expected a processor"),
        ("gfx90a:xnack", "expected features that end with"),
        ("gfx90a:", "expected features that end with"),
        ("gfx90a:xnack+:xnack-", "named twice"),
        ("gfx90a+xnack+", "expected a processor"),
        ("gfx90a-xnack+", "expected a processor"),
    ],
)
def test_what_is_no_target_id(text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason) as caught:
        parse_target_id(text)
    assert repr(text) in str(caught.value)


@given(TARGETS, st.randoms())
def test_any_order_of_features_gives_the_same(target: TargetId, rng: object) -> None:
    parts = str(target).split(":")
    rest = parts[1:]
    rng.shuffle(rest)  # type: ignore[attr-defined]
    assert parse_target_id(":".join([parts[0], *rest])) == target
    assert str(parse_target_id(str(target))) == str(target)


@pytest.mark.parametrize(
    ("code", "target", "loads"),
    [
        ("gfx1030", "gfx1030", True),
        ("gfx1030", "gfx1031", False),
        ("gfx90a", "gfx90a:sramecc+:xnack-", True),
        ("gfx90a:xnack+", "gfx90a:sramecc+:xnack-", False),
        ("gfx90a:xnack-", "gfx90a:sramecc+:xnack-", True),
        ("gfx90a:sramecc-:xnack-", "gfx90a:sramecc+:xnack-", False),
        ("gfx90a:xnack+", "gfx90a", True),
        ("gfx90a:xnack-", "gfx90a", True),
        ("gfx11-generic", "gfx1103", True),
        ("gfx11-generic", "gfx1201", False),
        ("gfx11-generic", "gfx1170", False),
        ("gfx9-generic", "gfx908", False),
        ("gfx9-generic:xnack+", "gfx906:sramecc+:xnack-", False),
        ("gfx9-generic:xnack-", "gfx906:sramecc+:xnack-", True),
        ("gfx11-generic", "gfx11-generic", True),
        ("gfx1100", "gfx11-generic", False),
        ("amdgcnspirv", "gfx1030", True),
        ("gfx1030", "amdgcnspirv", False),
    ],
)
def test_what_a_gpu_loads(code: str, target: str, *, loads: bool) -> None:
    assert can_load(parse_target_id(code), parse_target_id(target)) is loads


@given(TARGETS, TARGETS)
def test_a_gpu_of_which_less_is_known_loads_no_less(code: TargetId, target: TargetId) -> None:
    if can_load(code, target):
        assert can_load(code, TargetId(target.processor))
        assert can_load(TargetId(code.processor), target)


@given(TARGETS, FEATURES)
def test_code_for_one_setting_or_the_other_loads_on_every_gpu(target: TargetId, features: dict[str, bool]) -> None:
    """Of code that fixes a feature on and code that fixes it off, a fully described GPU loads exactly one."""
    full = TargetId(target.processor, tuple(sorted({"xnack": True, **features}.items())))
    loaded = [can_load(TargetId(target.processor, (("xnack", on),)), full) for on in (True, False)]
    assert sorted(loaded) == [False, True]


@given(TARGETS)
def test_everything_loads_its_own_code(target: TargetId) -> None:
    assert can_load(target, target)
    assert can_load(parse_target_id(SPIRV), target)


def test_the_tables_make_sense() -> None:
    covered = [processor for processors in GENERIC_PROCESSORS.values() for processor in processors]
    assert len(covered) == len(set(covered))
    for name in (*covered, *GENERIC_PROCESSORS):
        assert parse_target_id(name) == TargetId(name)


def test_the_owner_of_a_package_stands_for_all_whose_code_it_holds() -> None:
    strict, plain = TargetId("gfx1250-strict"), TargetId("gfx1250")
    assert can_load(strict, plain)
    assert can_load(strict, strict)
    assert not can_load(plain, strict)
    assert not can_load(TargetId("gfx1250-strict", (("xnack", True),)), TargetId("gfx1250", (("xnack", False),)))
