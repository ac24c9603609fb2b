"""Tests of the order of local versions (S143)."""

import pytest
from packaging.version import Version

from wheels.verify.settings import Settings
from wheels.verify.wheel_set.closure import by_name
from wheels.verify.wheel_set.model import Package
from wheels.verify.wheel_set.requirements import ORDER, check_requirements


@pytest.mark.parametrize(
    ("locals_", "is_found"),
    [
        (("rocm7.15", "rocm10.1"), True),
        (("rocm7.15.gfx942", "rocm10.1.gfx942"), True),
        (("rocm7.15.gfx942", "rocm10.1.gfx1100"), True),
        (("sdk.7.15.0.0", "sdk.10.1.0.0", "sdk.10.1.0.pre.rc.2.0", "sdk.10.1.0.dev.0"), False),
        (("sdk.7.15.0.0.gfx942", "sdk.10.1.0.0.gfx1100"), False),
        (("gfx942", "gfx1100", "gfx110x.all"), False),
        (("rocm7.gfx90a", "rocm7.gfx1100"), False),
    ],
)
def test_order_of_local_versions(locals_: tuple[str, ...], is_found: bool) -> None:
    """GPUs are alternatives: none is newer."""
    packages = [Package(f"acme-1.0+{one}.whl", "acme", Version(f"1.0+{one}")) for one in locals_]
    findings = list(check_requirements(packages, by_name(packages), Settings()))
    assert bool([one for one in findings if one.rule is ORDER]) == is_found
