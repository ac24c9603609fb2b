"""Tests of the selection: which artifacts and packages ROCM_TARGETS selects, and what GPUs have in common."""

load("@bazel_skylib//lib:unittest.bzl", "asserts", "unittest")
load("//lib/gpus:gpu_table.bzl", "FAMILIES", "TARGETS")
load("//lib/gpus:gpus.bzl", "family_has", "is_target", "overlap", "package_owner")
load("//packaging:selection.bzl", "select_artifacts", "target_refusal")
load("//tests/names:gpu_cases.bzl", "OVERLAPS")

visibility("private")

_SPLIT = ["generic", "gfx1100", "gfx1102", "gfx1151", "gfx90a", "gfx942", "gfx942:xnack+", "gfx950"]
_FAMILY = ["generic", "gfx110X-all", "gfx94X-dcgpu", "gfx1151"]

# What ROCM_TARGETS says -> targets of the artifacts that are packaged.
_SELECTED = {
    "": _SPLIT,
    "gfx110X": ["generic", "gfx1100", "gfx1102"],
    "gfx110X-all": ["generic", "gfx1100", "gfx1102"],
    "gfx1151": ["generic", "gfx1151"],
    "gfx90X-dcgpu": ["generic", "gfx90a"],
    "gfx942": ["generic", "gfx942", "gfx942:xnack+"],
    "gfx94X,gfx950-dcgpu": ["generic", "gfx942", "gfx942:xnack+", "gfx950"],
    "gfx9-all": ["generic", "gfx90a", "gfx942", "gfx942:xnack+", "gfx950"],
    "igpu-all": ["generic", "gfx1151"],
}
_SELECTED_FAMILIES = {
    "": _FAMILY,
    "gfx1101": ["generic", "gfx110X-all"],
    "gfx110X": ["generic", "gfx110X-all"],
    "gfx110X-all": ["generic", "gfx110X-all"],
    "gfx115X-all": ["generic", "gfx1151"],
    "gfx942,gfx1151": ["generic", "gfx94X-dcgpu", "gfx1151"],
    "gfx9-all": ["generic", "gfx94X-dcgpu"],
}

def _artifacts(targets):
    return [struct(name = "blas", component = "lib", target = target, label = "//:" + target) for target in targets]

def _selected(targets, wanted):
    return [artifact.target for artifact in select_artifacts(_artifacts(targets), wanted.split(",") if wanted else [])]

def _selection_impl(ctx):
    env = unittest.begin(ctx)
    for wanted, expected in _SELECTED.items():
        asserts.equals(env, expected, _selected(_SPLIT, wanted), wanted)
    for wanted, expected in _SELECTED_FAMILIES.items():
        asserts.equals(env, expected, _selected(_FAMILY, wanted), wanted)
    asserts.equals(env, None, target_refusal(_artifacts(_SPLIT + _FAMILY + ["gfx1250-strict"])))
    asserts.equals(
        env,
        "//:gfx90a-xnack+: an artifact of the target gfx90a-xnack+, with features after '-'; expected gfx90a:xnack+. Declare it with that target",
        target_refusal(_artifacts(["gfx1100", "gfx90a-xnack+"])),
    )
    return unittest.end(env)

_selection_test = unittest.make(_selection_impl)

def _gpus_impl(ctx):
    env = unittest.begin(ctx)
    for one, others in OVERLAPS.items():
        asserts.equals(env, others, [other for other in OVERLAPS if overlap(one, other)], one)
    for family, targets in FAMILIES.items():
        asserts.equals(env, [], [target for target in targets if not family_has(family, target)], family)
    asserts.equals(env, TARGETS.keys(), [target for target in TARGETS if is_target(target)])
    asserts.equals(env, ["gfx1250", "gfx90a", "gfx110X"], [package_owner(name) for name in ["gfx1250-strict", "gfx90a:xnack+", "gfx110X"]])
    asserts.equals(env, [], [name for name in ["gfx90a:xnack+", "gfx110X", "gfx9-4-generic", "gfx103", "gfx90a68"] if is_target(name)])
    return unittest.end(env)

_gpus_test = unittest.make(_gpus_impl)

def selection_test_suite(name):
    """Declares the tests of the selection of artifacts.

    Args:
        name: name of the suite.
    """
    unittest.suite(name, _selection_test, _gpus_test)
