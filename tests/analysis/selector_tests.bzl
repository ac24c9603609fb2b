"""Tests of the wheel variants of `rocm`: which GPU gets which package, and what its variant requires."""

load("@bazel_skylib//lib:unittest.bzl", "asserts", "unittest")
load("//lib/gpus:gpus.bzl", "serving_package")
load("//packaging:selector.bzl", "selector_variants")

visibility("private")

_FAMILIES = ["dgpu-all", "gfx1030", "gfx103X-all", "gfx11-all", "gfx110X-dgpu", "gfx94X-dcgpu"]

# GPU -> the package of _FAMILIES that serves it: its own, else the package of its narrowest family.
_SERVED = {
    "gfx1030": "gfx1030",
    "gfx1031": "gfx103X-all",
    "gfx1100": "gfx110X-dgpu",
    "gfx1103": "gfx11-all",
    "gfx1201": "dgpu-all",
    "gfx906": "dgpu-all",
    "gfx90a": None,
    "gfx942": "gfx94X-dcgpu",
}

def _names(role):
    return {"distribution": "rocm-sdk-" + role}

def _content(layout, targets, default, **more):
    packages = {"core": _names("core"), "libraries": _names("libraries" if layout == "split" else "libraries-{target}")}
    if layout == "split":
        packages["device"] = _names("device-{target}")
    return {"default_target": default, "layout": layout, "packages": packages, "targets": targets} | more

def _serving_impl(ctx):
    env = unittest.begin(ctx)
    for gpu, expected in _SERVED.items():
        asserts.equals(env, expected, serving_package(gpu, _FAMILIES), gpu)
    asserts.equals(env, None, serving_package("gfx1103", ["gfx110X-all"], {"gfx110X-all": ["gfx1100"]}), "no code for it is in there")
    return unittest.end(env)

_serving_test = unittest.make(_serving_impl)

def _variants_impl(ctx):
    env = unittest.begin(ctx)
    one, other = selector_variants(_content("split", ["gfx1100", "gfx942"], "gfx1100"))
    asserts.equals(env, [("gfx1100", ["gfx1100"]), ("gfx942", ["gfx942"])], [(variant.label, variant.targets) for variant in [one, other]])
    asserts.equals(env, ["rocm-sdk-libraries=={version}", "rocm-sdk-device-gfx942=={version}"], other.extras["device"])
    asserts.true(env, "device-gfx1100" in other.extras, "all extras of the static wheel are there")
    (family,) = selector_variants(_content("family", ["gfx110X-all"], "gfx110X-all"))
    asserts.equals(env, "gfx110x_all", family.label)
    asserts.equals(env, ["gfx1100", "gfx1101", "gfx1102", "gfx1103"], family.targets)
    asserts.equals(env, ["rocm-sdk-libraries-gfx110X-all=={version}"], family.extras["libraries"])
    asserts.equals(env, [], selector_variants(_content("split", [], "")))
    asserts.equals(env, [], selector_variants(_content("split", ["gfx803"], "gfx803")), "rocm-bootstrap does not know it")
    return unittest.end(env)

_variants_test = unittest.make(_variants_impl)

def _two_platforms_impl(ctx):
    env = unittest.begin(ctx)
    platforms = {
        "linux": {"default_target": "gfx942", "packages": ["core", "libraries"], "targets": ["gfx110X-all", "gfx942"]},
        "win32": {"default_target": "gfx1103", "packages": ["core", "libraries"], "targets": ["gfx1103", "gfx110X-all"]},
    }
    found = {
        variant.label: variant
        for variant in selector_variants(_content("family", ["gfx1103", "gfx110X-all", "gfx942"], "gfx942", platforms = platforms))
    }
    asserts.equals(env, ["gfx1103", "gfx110x_all", "gfx942"], found.keys())
    asserts.equals(env, ["rocm-sdk-libraries-gfx110X-all=={version}"], found["gfx110x_all"].extras["libraries"])
    asserts.equals(
        env,
        ["rocm-sdk-libraries-gfx942=={version}; sys_platform == 'linux'", "rocm-sdk-libraries-gfx1103=={version}; sys_platform == 'win32'"],
        found["gfx942"].extras["libraries"],
        "where there is no package for it, the default one",
    )
    asserts.equals(env, {"linux": "gfx110X-all", "win32": "gfx1103"}, found["gfx1103"].chosen)
    return unittest.end(env)

_two_platforms_test = unittest.make(_two_platforms_impl)

def selector_test_suite(name):
    """Declares the tests of the selector's wheel variants.

    Args:
        name: name of the suite.
    """
    unittest.suite(name, _serving_test, _variants_test, _two_platforms_test)
