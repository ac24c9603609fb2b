"""The artifacts of the mini SDK, as the catalog would list them, in both layouts."""

visibility("public")

SPLIT = True
DIST_TARGETS = ["gfx1100", "gfx942"]

def _artifact(name, component, target, label = None):
    label = label or "{}_{}_{}".format(name, component, target.replace(":", "%3A"))
    return struct(name = name, component = component, target = target, label = str(Label("//examples/mini_sdk:" + label)))

_GENERIC = [
    _artifact("amd-llvm", "lib", "generic"),
    _artifact("amd-llvm", "run", "generic"),
    _artifact("core-amdsmi", "lib", "generic"),
    _artifact("core-amdsmi", "run", "generic"),
    _artifact("core-hip", "dev", "generic"),
    _artifact("core-hip", "lib", "generic"),
    _artifact("core-hip", "run", "generic"),
    _artifact("core-runtime", "lib", "generic"),
    _artifact("core-runtime", "run", "generic"),
    _artifact("prim", "dev", "generic"),
    _artifact("rocprofiler-compute", "run", "generic"),
    _artifact("rocprofiler-systems", "lib", "generic"),
    _artifact("rocprofiler-systems", "run", "generic"),
    _artifact("sysdeps", "lib", "generic"),
]

ARTIFACTS = _GENERIC + [
    _artifact("base", "lib", "generic"),
    _artifact("blas", "dev", "generic"),
    _artifact("blas", "lib", "generic"),
    _artifact("blas", "lib", "gfx1100"),
    _artifact("blas", "lib", "gfx942"),
    _artifact("blas", "lib", "gfx942:xnack+"),
    _artifact("blas", "test", "generic"),
    _artifact("rand", "lib", "generic"),
    _artifact("rand", "lib", "gfx1100"),
    _artifact("rand", "lib", "gfx942"),
]

# Two families, each with libraries of its own that hold its device code.
FAMILY_ARTIFACTS = _GENERIC + [
    _artifact("base", "lib", "generic", label = "base_lib_generic_family"),
] + [
    _artifact("blas", component, family)
    for family in ["gfx110X-all", "gfx94X-dcgpu"]
    for component in ["dev", "lib"]
]
