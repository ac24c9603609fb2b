"""The artifacts of the mini SDK for Windows, as the catalog would list them."""

visibility("public")

SPLIT = True
DIST_TARGETS = ["gfx1100"]

def _artifact(name, component, target = "generic"):
    label = str(Label("//examples/mini_sdk/windows:{}_{}_{}".format(name, component, target)))
    return struct(name = name, component = component, target = target, label = label)

ARTIFACTS = [
    _artifact("amd-llvm", "lib"),
    _artifact("amd-llvm", "run"),
    _artifact("base", "lib"),
    _artifact("blas", "dev"),
    _artifact("blas", "lib"),
    _artifact("blas", "lib", "gfx1100"),
    _artifact("core-hip", "dev"),
    _artifact("core-hip", "lib"),
    _artifact("core-hipinfo", "run"),
    _artifact("rand", "lib"),
]
