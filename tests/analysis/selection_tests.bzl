"""Tests of the matrix: which artifacts and packages ROCM_TARGETS selects, and what is combined."""

load("@bazel_skylib//lib:unittest.bzl", "asserts", "unittest")
load("//packaging:matrix.bzl", "FAMILIES", "MATRIX", "combinations")
load("//packaging:selection.bzl", "compared_targets", "select_artifacts")

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
}
_SELECTED_FAMILIES = {
    "": _FAMILY,
    "gfx1101": ["generic", "gfx110X-all"],
    "gfx110X": ["generic", "gfx110X-all"],
    "gfx110X-all": ["generic", "gfx110X-all"],
    "gfx115X-all": ["generic", "gfx1151"],
    "gfx942,gfx1151": ["generic", "gfx94X-dcgpu", "gfx1151"],
}

def _selected(targets, wanted):
    artifacts = [struct(name = "blas", component = "lib", target = target, label = target) for target in targets]
    return [artifact.target for artifact in select_artifacts(artifacts, wanted.split(",") if wanted else [])]

def _selection_impl(ctx):
    env = unittest.begin(ctx)
    for wanted, expected in _SELECTED.items():
        asserts.equals(env, expected, _selected(_SPLIT, wanted), wanted)
    for wanted, expected in _SELECTED_FAMILIES.items():
        asserts.equals(env, expected, _selected(_FAMILY, wanted), wanted)
    return unittest.end(env)

_selection_test = unittest.make(_selection_impl)

def _compared_impl(ctx):
    env = unittest.begin(ctx)
    split, family = [[struct(name = "blas", component = "lib", target = target, label = target) for target in targets] for targets in [_SPLIT, _FAMILY]]
    asserts.equals(env, [], compared_targets(split, split), "all are packaged, so all is compared")
    asserts.equals(env, ["gfx1151", "gfx942"], compared_targets(split, select_artifacts(split, ["gfx942", "gfx1151"])))
    asserts.equals(env, FAMILIES["gfx94X-dcgpu"] + ["gfx1151"], sorted(compared_targets(family, select_artifacts(family, ["gfx942", "gfx1151"])), reverse = True))
    asserts.equals(env, [], compared_targets(family + family, [struct(name = "blas", component = "lib", target = "gfx9-all", label = "")]), "a family that is not known")
    return unittest.end(env)

_compared_test = unittest.make(_compared_impl)

def _matrix_impl(ctx):
    env = unittest.begin(ctx)
    names = [value for values in MATRIX.values() for value in values]
    asserts.equals(env, len(names), len({name: None for name in names}), "each value is a --config, so none may be in two dimensions")
    asserts.equals(env, ["platform", "layout", "targets", "version"], MATRIX.keys())
    count = 1
    for values in MATRIX.values():
        count *= len(values)
    found = combinations(MATRIX)
    asserts.equals(env, count, len({str(choice): None for choice in found}))
    asserts.equals(env, [{"a": "1", "b": "3"}, {"a": "2", "b": "3"}], combinations({"a": {"1": [], "2": []}, "b": {"3": []}}))
    for family, targets in FAMILIES.items():
        asserts.equals(env, sorted(targets), targets, family)
    return unittest.end(env)

_matrix_test = unittest.make(_matrix_impl)

def selection_test_suite(name):
    """Declares the tests of the matrix and of the selection of artifacts.

    Args:
        name: name of the suite.
    """
    unittest.suite(name, _selection_test, _compared_test, _matrix_test)
