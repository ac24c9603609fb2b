"""Lists which names of GPU targets and families have a GPU in common.

Written by `bazel run //tests/golden:update`: change tests/names/gpu_tables.py, not this.
"""

visibility(["//tests/analysis"])

OVERLAPS = {
    "all": ["all"],
    "dcgpu-all": ["dcgpu-all", "gfx-all", "gfx12-5", "gfx12-all", "gfx1250-strict", "gfx125X-all", "gfx12_5", "gfx9", "gfx9-0", "gfx9-4", "gfx9-all", "gfx908", "gfx908-dcgpu", "gfx90a:xnack+", "gfx942", "gfx94X", "gfx94X-all"],
    "dgpu-all": ["dgpu-all", "gfx-all", "gfx1012", "gfx101X-all", "gfx1032", "gfx110X", "gfx11XX", "gfx12-all", "gfx9", "gfx9-0", "gfx9-all", "gfx900"],
    "foo": ["foo"],
    "gfx-all": ["dcgpu-all", "dgpu-all", "gfx-all", "gfx1012", "gfx101X-all", "gfx1032", "gfx1036", "gfx103X-igpu", "gfx1103", "gfx110X", "gfx1153", "gfx115X-all", "gfx115x", "gfx11XX", "gfx12-5", "gfx12-all", "gfx1250-strict", "gfx125X-all", "gfx12_5", "gfx803", "gfx9", "gfx9-0", "gfx9-4", "gfx9-all", "gfx900", "gfx908", "gfx908-dcgpu", "gfx90a:xnack+", "gfx940", "gfx941", "gfx942", "gfx94X", "gfx94X-all", "igpu-all"],
    "gfx1012": ["dgpu-all", "gfx-all", "gfx1012", "gfx101X-all"],
    "gfx101X-all": ["dgpu-all", "gfx-all", "gfx1012", "gfx101X-all", "igpu-all"],
    "gfx103": ["gfx103"],
    "gfx1032": ["dgpu-all", "gfx-all", "gfx1032"],
    "gfx1036": ["gfx-all", "gfx1036", "gfx103X-igpu", "igpu-all"],
    "gfx103X-igpu": ["gfx-all", "gfx1036", "gfx103X-igpu", "igpu-all"],
    "gfx103X-none": ["gfx103X-none"],
    "gfx1103": ["gfx-all", "gfx1103", "gfx110X", "gfx11XX", "igpu-all"],
    "gfx110X": ["dgpu-all", "gfx-all", "gfx1103", "gfx110X", "gfx11XX", "igpu-all"],
    "gfx1153": ["gfx-all", "gfx1153", "gfx115X-all", "gfx115x", "gfx11XX", "igpu-all"],
    "gfx115X-all": ["gfx-all", "gfx1153", "gfx115X-all", "gfx115x", "gfx11XX", "igpu-all"],
    "gfx115x": ["gfx-all", "gfx1153", "gfx115X-all", "gfx115x", "gfx11XX", "igpu-all"],
    "gfx11XX": ["dgpu-all", "gfx-all", "gfx1103", "gfx110X", "gfx1153", "gfx115X-all", "gfx115x", "gfx11XX", "igpu-all"],
    "gfx12-5": ["dcgpu-all", "gfx-all", "gfx12-5", "gfx12-all", "gfx1250-strict", "gfx125X-all", "gfx12_5"],
    "gfx12-all": ["dcgpu-all", "dgpu-all", "gfx-all", "gfx12-5", "gfx12-all", "gfx1250-strict", "gfx125X-all", "gfx12_5"],
    "gfx1250-strict": ["dcgpu-all", "gfx-all", "gfx12-5", "gfx12-all", "gfx1250-strict", "gfx125X-all", "gfx12_5"],
    "gfx125X-all": ["dcgpu-all", "gfx-all", "gfx12-5", "gfx12-all", "gfx1250-strict", "gfx125X-all", "gfx12_5"],
    "gfx12_5": ["dcgpu-all", "gfx-all", "gfx12-5", "gfx12-all", "gfx1250-strict", "gfx125X-all", "gfx12_5"],
    "gfx803": ["gfx-all", "gfx803", "gfx80X-all"],
    "gfx80X-all": ["gfx803", "gfx80X-all"],
    "gfx9": ["dcgpu-all", "dgpu-all", "gfx-all", "gfx9", "gfx9-0", "gfx9-4", "gfx9-all", "gfx900", "gfx908", "gfx908-dcgpu", "gfx90a:xnack+", "gfx940", "gfx941", "gfx942", "gfx94X", "gfx94X-all", "igpu-all"],
    "gfx9-0": ["dcgpu-all", "dgpu-all", "gfx-all", "gfx9", "gfx9-0", "gfx9-all", "gfx900", "gfx908", "gfx908-dcgpu", "gfx90a:xnack+", "igpu-all"],
    "gfx9-4": ["dcgpu-all", "gfx-all", "gfx9", "gfx9-4", "gfx9-all", "gfx940", "gfx941", "gfx942", "gfx94X", "gfx94X-all"],
    "gfx9-4-generic": ["gfx9-4-generic"],
    "gfx9-all": ["dcgpu-all", "dgpu-all", "gfx-all", "gfx9", "gfx9-0", "gfx9-4", "gfx9-all", "gfx900", "gfx908", "gfx908-dcgpu", "gfx90a:xnack+", "gfx940", "gfx941", "gfx942", "gfx94X", "gfx94X-all", "igpu-all"],
    "gfx900": ["dgpu-all", "gfx-all", "gfx9", "gfx9-0", "gfx9-all", "gfx900"],
    "gfx908": ["dcgpu-all", "gfx-all", "gfx9", "gfx9-0", "gfx9-all", "gfx908", "gfx908-dcgpu"],
    "gfx908-dcgpu": ["dcgpu-all", "gfx-all", "gfx9", "gfx9-0", "gfx9-all", "gfx908", "gfx908-dcgpu"],
    "gfx90a:xnack+": ["dcgpu-all", "gfx-all", "gfx9", "gfx9-0", "gfx9-all", "gfx90a:xnack+"],
    "gfx940": ["gfx-all", "gfx9", "gfx9-4", "gfx9-all", "gfx940", "gfx94X", "gfx94X-all"],
    "gfx941": ["gfx-all", "gfx9", "gfx9-4", "gfx9-all", "gfx941", "gfx94X", "gfx94X-all"],
    "gfx942": ["dcgpu-all", "gfx-all", "gfx9", "gfx9-4", "gfx9-all", "gfx942", "gfx94X", "gfx94X-all"],
    "gfx94X": ["dcgpu-all", "gfx-all", "gfx9", "gfx9-4", "gfx9-all", "gfx940", "gfx941", "gfx942", "gfx94X", "gfx94X-all"],
    "gfx94X-all": ["dcgpu-all", "gfx-all", "gfx9", "gfx9-4", "gfx9-all", "gfx940", "gfx941", "gfx942", "gfx94X", "gfx94X-all"],
    "igpu-all": ["gfx-all", "gfx101X-all", "gfx1036", "gfx103X-igpu", "gfx1103", "gfx110X", "gfx1153", "gfx115X-all", "gfx115x", "gfx11XX", "gfx9", "gfx9-0", "gfx9-all", "igpu-all"],
}
