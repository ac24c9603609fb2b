"""The GPU targets, by AMD's own table: rocm-bootstrap on PyPI.

Written by `bazel run //tests/golden:update`: change tests/names/gpu_tables.py, not this.
"""

from typing import NamedTuple


class Target(NamedTuple):
    """A GPU target."""

    name: str
    kind: str
    """`dcgpu` (data centre), `dgpu` (discrete) or `igpu` (part of a processor)."""
    family: str
    sub_family: str
    owner: str
    """The target whose package holds its code."""
    xnack: str
    """`unsupported`, `supported` (off unless asked for) or `default_on`."""
    built: bool
    """Whether ROCm's own builds make code for it."""


TARGETS = (
    Target("gfx900", "dgpu", "gfx9", "gfx9_0", "gfx900", "supported", True),
    Target("gfx902", "igpu", "gfx9", "gfx9_0", "gfx902", "supported", False),
    Target("gfx904", "dgpu", "gfx9", "gfx9_0", "gfx904", "supported", False),
    Target("gfx906", "dgpu", "gfx9", "gfx9_0", "gfx906", "supported", True),
    Target("gfx908", "dcgpu", "gfx9", "gfx9_0", "gfx908", "supported", True),
    Target("gfx909", "igpu", "gfx9", "gfx9_0", "gfx909", "supported", False),
    Target("gfx90a", "dcgpu", "gfx9", "gfx9_0", "gfx90a", "supported", True),
    Target("gfx90c", "igpu", "gfx9", "gfx9_0", "gfx90c", "supported", True),
    Target("gfx942", "dcgpu", "gfx9", "gfx9_4", "gfx942", "supported", True),
    Target("gfx950", "dcgpu", "gfx9", "gfx9_5", "gfx950", "supported", True),
    Target("gfx1010", "dgpu", "gfx10", "gfx10_1", "gfx1010", "supported", True),
    Target("gfx1011", "dgpu", "gfx10", "gfx10_1", "gfx1011", "supported", True),
    Target("gfx1012", "dgpu", "gfx10", "gfx10_1", "gfx1012", "supported", True),
    Target("gfx1013", "igpu", "gfx10", "gfx10_1", "gfx1013", "supported", False),
    Target("gfx1030", "dgpu", "gfx10", "gfx10_3", "gfx1030", "unsupported", True),
    Target("gfx1031", "dgpu", "gfx10", "gfx10_3", "gfx1031", "unsupported", True),
    Target("gfx1032", "dgpu", "gfx10", "gfx10_3", "gfx1032", "unsupported", True),
    Target("gfx1033", "igpu", "gfx10", "gfx10_3", "gfx1033", "unsupported", True),
    Target("gfx1034", "dgpu", "gfx10", "gfx10_3", "gfx1034", "unsupported", True),
    Target("gfx1035", "igpu", "gfx10", "gfx10_3", "gfx1035", "unsupported", True),
    Target("gfx1036", "igpu", "gfx10", "gfx10_3", "gfx1036", "unsupported", True),
    Target("gfx1100", "dgpu", "gfx11", "gfx110x", "gfx1100", "unsupported", True),
    Target("gfx1101", "dgpu", "gfx11", "gfx110x", "gfx1101", "unsupported", True),
    Target("gfx1102", "dgpu", "gfx11", "gfx110x", "gfx1102", "unsupported", True),
    Target("gfx1103", "igpu", "gfx11", "gfx110x", "gfx1103", "unsupported", True),
    Target("gfx1150", "igpu", "gfx11", "gfx115x", "gfx1150", "unsupported", True),
    Target("gfx1151", "igpu", "gfx11", "gfx115x", "gfx1151", "unsupported", True),
    Target("gfx1152", "igpu", "gfx11", "gfx115x", "gfx1152", "unsupported", True),
    Target("gfx1153", "igpu", "gfx11", "gfx115x", "gfx1153", "unsupported", True),
    Target("gfx1200", "dgpu", "gfx12", "gfx12_0", "gfx1200", "unsupported", True),
    Target("gfx1201", "dgpu", "gfx12", "gfx12_0", "gfx1201", "unsupported", True),
    Target("gfx1250", "dcgpu", "gfx12", "gfx12_5", "gfx1250", "default_on", True),
    Target("gfx1250-strict", "dcgpu", "gfx12", "gfx12_5", "gfx1250", "default_on", False),
    Target("gfx1251", "dcgpu", "gfx12", "gfx12_5", "gfx1251", "default_on", False),
)
