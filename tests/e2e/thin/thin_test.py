"""What real.py says where packages do not hold what they should: its comparisons, on code objects made up here."""

import pytest

from develop.testing.device_sample import HOST, PREFIX
from lib.gpus.target_id import parse_target_id
from tests.e2e.thin.code import Bundle, Code, kept, same
from tests.e2e.thin.readers import Library
from tests.e2e.thin.real import check_union

GFX1011, GFX1030, GFX90A = map(parse_target_id, ("gfx1011", "gfx1030", "gfx90a"))


def made(*targets: str, sha256: str = "0") -> Bundle:
    """Make a bundle of the host's entry and one for each target."""
    return tuple(sorted([Code(HOST, 0, ""), *(Code(PREFIX + target, 4, sha256) for target in targets)]))


ALL = made("gfx1030", "gfx90a:xnack+", "gfx90a:xnack-")


def test_what_a_slice_is_to_have() -> None:
    assert kept(ALL, [GFX1030]) == made("gfx1030")
    assert kept(ALL, [GFX90A]) == made("gfx90a:xnack+", "gfx90a:xnack-")
    assert kept(ALL, [GFX1011]) == made()


@pytest.mark.parametrize(
    ("found", "message"),
    [
        ([made("gfx1030")], "libx.so: 1 bundles; expected 2"),
        ([ALL, made("gfx1030")], f"libx.so: bundle 1 lacks Code(entry='{PREFIX}gfx90a:xnack+', size=4"),
        ([made("gfx1030", "gfx90a:xnack+", "gfx90a:xnack-", sha256="1"), ALL], "libx.so: bundle 0 lacks Code"),
        ([ALL, tuple(sorted({*ALL, *made("gfx1011")}))], f"libx.so: bundle 1 has Code(entry='{PREFIX}gfx1011', size=4"),
    ],
)
def test_bundles_that_are_not_the_same(found: list[Bundle], message: str) -> None:
    same("libx.so", [ALL, ALL], [ALL, ALL])
    with pytest.raises(SystemExit) as caught:
        same("libx.so", [ALL, ALL], found)
    assert message in str(caught.value)


def test_what_all_slices_have_together() -> None:
    libraries = {"libx.so": Library([made("gfx1011", "gfx1030", "gfx90a")], [], [None])}
    slices = [{"libx.so": [made("gfx1030")]}, {"libx.so": [made("gfx90a")]}]
    assert check_union(libraries, slices, [GFX1030, GFX90A], [GFX1011]) == 1
    with pytest.raises(SystemExit, match=r"libx.so: no slice has Code\(entry='.*gfx1011', .* of bundle 0"):
        check_union(libraries, slices, [GFX1030, GFX90A], [])
    with pytest.raises(SystemExit, match=r"no slice has .*gfx90a"):
        check_union(libraries, slices[:1], [GFX1030, GFX90A], [GFX1011])
    with pytest.raises(SystemExit, match="--left-out gfx90a: there is no code that only this can load"):
        check_union(libraries, slices, [GFX1030, GFX90A], [GFX1011, GFX90A])
