"""Tests of what a table says of targets: what they lack, and which should not be offered."""

import pytest

from develop.testing.coverage_sample import ALL, BASE, ROCM_7
from lib.device.coverage import Coverage, base_libraries, lacking, lacks_by_processor, processors, refused


def test_what_a_target_lacks() -> None:
    assert lacking(ROCM_7, "gfx1030") == ("lib/libhipblaslt.so.1", "lib/libhipsparselt.so.0")
    assert lacking(ROCM_7, "gfx90a:xnack+") == ("lib/libhipsparselt.so.0",)
    assert lacks_by_processor(ROCM_7)["gfx950"] == ("lib/libhipblaslt.so.1", *BASE)


def test_features_generic_code_and_spirv_count() -> None:
    coverage = Coverage(
        {"a": ("gfx90a:xnack+",), "b": ("gfx10-3-generic",), "c": ("amdgcnspirv",), "d": ("gfx90a:xnack-",)}
    )
    assert lacking(coverage, "gfx1031") == ("a", "d")
    assert lacking(coverage, "gfx90a") == ("b",)
    assert lacking(coverage, "gfx90a:xnack+") == ("b", "d")
    assert "gfx1036" in processors(coverage)
    assert "amdgcnspirv" not in processors(coverage)


def test_processors_are_sorted_as_people_do() -> None:
    assert processors(ROCM_7) == (*ALL[:6], "gfx950", *ALL[6:])


def test_of_a_real_rocm_one_target_should_not_be_offered() -> None:
    (one,) = refused(ROCM_7, [*ALL, "gfx950"])
    assert (one.target, one.libraries) == ("gfx950", BASE)
    for target in ("gfx1030", "gfx1102", "gfx90a", "gfx950"):
        assert base_libraries(ROCM_7, target) == BASE


def test_one_base_library_may_be_missing() -> None:
    wide = Coverage({**ROCM_7.libraries, "lib/librccl.so.1": tuple(one for one in ALL if one != "gfx1102")})
    assert "lib/librccl.so.1" in base_libraries(wide, "gfx1102")
    assert refused(wide, ALL) == []
    only = Coverage({"lib/librocblas.so.5": tuple(ALL[1:]), "lib/libother.so": (ALL[0], ALL[1])})
    assert [one.target for one in refused(only, ALL)] == [ALL[0]]


@pytest.mark.parametrize(("others", "base"), [(2, ()), (3, ("a",))])
def test_with_few_targets_there_are_no_base_libraries(others: int, base: tuple[str, ...]) -> None:
    coverage = Coverage({"a": tuple(ALL[:others]), "b": (ALL[0], "gfx950")})
    assert base_libraries(coverage, "gfx950") == base


def test_a_target_without_any_code_should_not_be_offered() -> None:
    coverage = Coverage({"a": ("gfx942",), "b": ("gfx942", "gfx90a")})
    assert [(one.target, one.libraries) for one in refused(coverage, ["gfx90a", "gfx1030"])] == [
        ("gfx1030", ("a", "b"))
    ]
    assert refused(Coverage(), ["gfx1030"]) == []
