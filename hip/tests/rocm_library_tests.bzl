"""Analysis tests of libraries of an SDK: what of their device code and of their data comes to programs."""

load("@bazel_skylib//lib:unittest.bzl", "analysistest", "asserts", "unittest")
load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")
load("//develop/testing:analysis.bzl", "actions_of", "assert_hermetic")
load("//hip/private:hip_targets.bzl", "may_run")  # buildifier: disable=bzl-visibility

visibility("private")

_TARGETS = str(Label("//hip/tests/sdk:targets"))
_LIBRARY = "hip/tests/sdk/prefix/lib/librocrand.so.1"
_DATA = "hip/tests/sdk/prefix/lib/rocrand/"

def _library_impl(ctx):
    env = analysistest.begin(ctx)
    target = analysistest.target_under_test(env)
    runfiles = {file.short_path: file for file in target[DefaultInfo].default_runfiles.files.to_list()}
    data = [path.removeprefix(_DATA) for path in runfiles if path.startswith(_DATA)]
    asserts.equals(env, sorted(ctx.attr.data), sorted(data))

    # The library has one place, whole or sliced, from which it finds those that it needs.
    asserts.equals(env, ctx.attr.is_sliced, not runfiles[_LIBRARY].is_source)
    libraries = [library for given in target[CcInfo].linking_context.linker_inputs.to_list() for library in given.libraries]
    (own,) = [library for library in libraries if library.resolved_symlink_dynamic_library.basename == "librocrand.so.1"]
    asserts.equals(env, runfiles[_LIBRARY], own.resolved_symlink_dynamic_library)
    asserts.true(env, own.dynamic_library.path.endswith("/" + _LIBRARY), own.dynamic_library.path)
    asserts.true(env, own.interface_library.path.endswith("/{}.tbd".format(_LIBRARY)), own.interface_library.path)

    # Libraries look for data beside themselves.
    beside = {link.path: link.target_file.basename for link in target[DefaultInfo].default_runfiles.symlinks.to_list()}
    root = own.dynamic_library.short_path.removesuffix(_LIBRARY)
    asserts.equals(env, {root + _DATA + name: name for name in ctx.attr.data}, beside)

    # What the runtime needs, it finds itself. What nobody finds, the program names.
    asserts.true(env, "hip/tests/sdk/prefix/lib/libsystem.so.1" in runfiles, "libraries without a search path come to programs")
    interfaces = {library.resolved_symlink_dynamic_library.basename: library.resolved_symlink_interface_library.basename for library in libraries}
    asserts.equals(env, "nothing.tbd", interfaces["libhsa-runtime64.so.1"])
    asserts.equals(env, "libsystem.so.1.tbd", interfaces["libsystem.so.1"])
    asserts.equals(env, "libamdhip64.so.7.tbd", interfaces["libamdhip64.so.7"])
    return analysistest.end(env)

_ATTRS = {
    "data": attr.string_list(doc = "The data files that come to programs."),
    "is_sliced": attr.bool(doc = "Whether the library loses device code."),
}

_every_gpu_test = analysistest.make(_library_impl, attrs = _ATTRS)
_one_gpu_test = analysistest.make(_library_impl, attrs = _ATTRS, config_settings = {_TARGETS: ["gfx90a:xnack+"]})
_covered_gpu_test = analysistest.make(_library_impl, attrs = _ATTRS, config_settings = {_TARGETS: ["gfx11-generic"]})

def _slice_impl(ctx):
    env = analysistest.begin(ctx)
    (action,) = actions_of(env, "HipSlice")
    assert_hermetic(env, action)
    (interface,) = actions_of(env, "HipInterface")
    asserts.true(env, _LIBRARY in [file.path for file in interface.inputs.to_list()], "the interface comes from the whole library, for all GPUs")
    return analysistest.end(env)

_slice_test = analysistest.make(_slice_impl, config_settings = {_TARGETS: ["gfx1100", "gfx90a"]})

# Targets that programs are compiled for, and a target or family that code is for -> whether the code is fetched.
_FETCHED = {
    ("", "gfx942"): True,
    ("gfx11-generic", "gfx1100"): True,
    ("gfx110X-all", "gfx1100"): True,
    ("gfx115x", "gfx1151"): True,
    ("gfx9", "gfx942"): True,
    ("gfx90a", "gfx90a:xnack+"): True,
    ("gfx90a", "gfx942"): False,
    ("gfx90a:xnack+", "gfx90a"): True,
    ("gfx1100", "gfx110x"): True,
}

def _fetched_impl(ctx):
    env = unittest.begin(ctx)
    for (word, target), is_fetched in _FETCHED.items():
        asserts.equals(env, is_fetched, may_run([word] if word else [], target), "{} for {}".format(target, word))
    return unittest.end(env)

_fetched_test = unittest.make(_fetched_impl)

def rocm_library_test_suite(name):
    """Declares the tests of libraries of an SDK.

    Args:
        name: name of the suite.
    """
    library = "//hip/tests/sdk:rocrand"
    every = ["kernels_gfx1100.dat", "kernels_gfx90a.dat", "names.dat"]
    _every_gpu_test(name = name + "_every_gpu_test", data = every, is_sliced = False, target_under_test = library)
    _one_gpu_test(name = name + "_one_gpu_test", data = ["kernels_gfx90a.dat", "names.dat"], is_sliced = True, target_under_test = library)
    _covered_gpu_test(name = name + "_covered_gpu_test", data = ["kernels_gfx1100.dat", "names.dat"], is_sliced = True, target_under_test = library)
    _slice_test(name = name + "_slice_test", target_under_test = "//hip/tests/sdk:lib/librocrand.so.1")
    _fetched_test(name = name + "_fetched_test")
    native.test_suite(name = name, tests = ["{}_{}_test".format(name, what) for what in ["covered_gpu", "every_gpu", "fetched", "one_gpu", "slice"]])
