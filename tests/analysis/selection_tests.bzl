"""Tests of the matrix: which artifacts and packages ROCM_TARGETS selects, and what is combined."""

load("@bazel_skylib//lib:unittest.bzl", "asserts", "unittest")
load("//packaging:matrix.bzl", "FAMILIES", "MATRIX", "combinations")
load("//packaging:selection.bzl", "of_devel", "select_artifacts", "thin_refusal", "thin_selection")

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

def _artifacts(families):
    return [struct(name = "blas", component = "lib", target = target, label = target) for target in ["generic"] + families]

def _thin_impl(ctx):
    env = unittest.begin(ctx)
    asserts.equals(env, None, thin_selection("family", _artifacts(["gfx9-all"]), []))
    one = thin_selection("thin", _artifacts(["gfx9-all"]), ["gfx1030", "gfx90a"], left_out = ["gfx1011"])
    asserts.equals(env, ["gfx9-all"], one.keys())
    asserts.equals(env, {"gfx1030": ["gfx1030"], "gfx90a": ["gfx90a"]}, one["gfx9-all"].packages)
    asserts.equals(env, ["gfx1011"], one["gfx9-all"].left_out)
    several = thin_selection("thin", _artifacts(["gfx110X-all", "gfx94X-dcgpu"]), ["gfx1101", "gfx110X-all", "gfx942"], absent = ["gfx942=lib/*"])
    asserts.equals(env, ["gfx110X-all", "gfx94X-dcgpu"], several.keys())
    first, second = several.values()
    asserts.equals(env, {"gfx1101": ["gfx1101"], "gfx110X-all": FAMILIES["gfx110X-all"]}, first.packages)
    asserts.equals(env, {"gfx942": ["gfx942"]}, second.packages)
    asserts.equals(env, [["gfx942"], FAMILIES["gfx110X-all"]], [first.left_out, second.left_out], "they have packages of the other family")
    asserts.equals(env, [[], ["gfx942=lib/*"]], [first.absent, second.absent])
    families = ["gfx110X-all", "gfx94X-dcgpu"]
    second = thin_selection("thin", _artifacts(families), ["gfx942"])
    asserts.equals(env, ["generic", "gfx94X-dcgpu"], of_devel(False, families, second), "devel is of a family that has packages")
    asserts.equals(env, ["generic", "gfx110X-all"], of_devel(False, families, None))
    asserts.equals(env, ["generic"], of_devel(True, ["gfx1100"], None))
    return unittest.end(env)

# ROCM_TARGETS, ROCM_TARGETS_LEFT_OUT and ROCM_TARGETS_ABSENT -> what the refusal says.
_REFUSED = {
    ("", "", ""): "expected the GPU targets to make packages for",
    ("foo", "", ""): "ROCM_TARGETS names foo: for the layout thin, expected a GPU target like gfx1100",
    ("gfx10-3-generic", "", ""): "ROCM_TARGETS names gfx10-3-generic: ",
    ("gfx103X-none", "", ""): "or one of the families gfx101X-dgpu, ",
    ("gfx1100", "gfx1100", ""): "ROCM_TARGETS_LEFT_OUT names gfx1100, for which ROCM_TARGETS asks for a package",
    ("gfx1100", "gfx110X", ""): "ROCM_TARGETS_LEFT_OUT names gfx110X: ",
    ("gfx1100", "gfx110X-all", ""): "ROCM_TARGETS_LEFT_OUT names gfx1100, for which",
    ("gfx1100", "gfx1101", "gfx1100:lib/*"): "ROCM_TARGETS_ABSENT has gfx1100:lib/*: expected TARGET=PATTERN, of one of the targets gfx1100",
    ("gfx1100", "gfx1101", "gfx1101=lib/*"): "ROCM_TARGETS_ABSENT has gfx1101=lib/*: ",
    ("gfx110X", "", ""): "ROCM_TARGETS names gfx110X: ",
    ("gfx942:xnack+", "", ""): "without features",
}

def _split(text):
    return text.split(",") if text else []

def _thin_refusal_impl(ctx):
    env = unittest.begin(ctx)
    for (targets, left_out, absent), message in _REFUSED.items():
        refusal = thin_refusal(_split(targets), _split(left_out), _split(absent))
        asserts.true(env, refusal and message in refusal, "{}: {}".format(message, refusal))
    asserts.equals(env, None, thin_refusal(["gfx110X-all", "gfx90a"], ["gfx1011"], ["gfx1101=lib/*"]))
    return unittest.end(env)

_thin_refusal_test = unittest.make(_thin_refusal_impl)

_thin_test = unittest.make(_thin_impl)

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
    unittest.suite(name, _selection_test, _matrix_test, _thin_test, _thin_refusal_test)
