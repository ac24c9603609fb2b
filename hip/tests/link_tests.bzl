"""Analysis tests of linked device code: of relocatable libraries, in programs and in libraries, as files, and in lists of commands.

Their toolchain is an SDK of empty files, in hip_sdk. They use the sources of hip_tests.bzl.
"""

load("@bazel_skylib//lib:unittest.bzl", "analysistest", "asserts")
load("@rules_cc//cc:defs.bzl", "cc_library")
load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")
load("//develop/testing:analysis.bzl", "actions_of", "after_prefix", "assert_hermetic", "failure_test", "outputs_of")
load("//hip:defs.bzl", "hip_binary", "hip_code_object", "hip_compile_commands", "hip_library")
load(":sdk.bzl", "HIP_SDK", "HIP_TARGETS")

visibility("private")

_TWO = HIP_SDK | {HIP_TARGETS: ["gfx90a:xnack+", "gfx1100"]}

def _relocatable_impl(ctx):
    env = analysistest.begin(ctx)
    device, host = actions_of(env, "HipCompileDevice"), actions_of(env, "HipCompileHost")
    asserts.equals(env, [], actions_of(env, "HipBundle"), "programs link and bundle")
    asserts.equals(env, ["data.cu.gfx1100.bc", "data.cu.gfx90a.xnack+.bc", "data.hip.gfx1100.bc", "data.hip.gfx90a.xnack+.bc"], sorted([name for action in device for name in outputs_of(action)]))
    for action in device + host:
        asserts.true(env, "-fgpu-rdc" in action.argv, "relocatable")
        source = action.argv[action.argv.index("-c") + 1].removeprefix(analysistest.target_bin_dir_path(env) + "/")
        label = analysistest.target_under_test(env).label
        asserts.equals(env, ["{}:{}".format(label, source)], after_prefix(action.argv, "-cuid="), "the host and GPUs have the same names")
    for action in device:
        asserts.true(env, "-emit-llvm" in action.argv, "bitcode")
    return analysistest.end(env)

_relocatable_test = analysistest.make(_relocatable_impl, config_settings = _TWO)

def _device_link_impl(ctx):
    env = analysistest.begin(ctx)
    links = {outputs_of(action)[0].removeprefix("_hip_link_program_hip."): action for action in actions_of(env, "HipLinkDevice")}
    asserts.equals(env, ["gfx1100.co", "gfx90a.xnack+.co"], sorted(links))
    asserts.equals(env, ["mcpu=gfx90a", "-mattr=+xnack"], [option for option in after_prefix(links["gfx90a.xnack+.co"].argv, "-plugin-opt=") if option.startswith(("mcpu", "-mattr"))])
    asserts.equals(env, [], after_prefix(links["gfx1100.co"].argv, "-plugin-opt=-mattr"))
    asserts.equals(env, ["O2", "-amdgpu-x"], after_prefix(links["gfx1100.co"].argv, "-plugin-opt=")[-2:])
    for target in ["gfx1100", "gfx90a.xnack+"]:
        bitcode = [argument.rpartition("/")[2] for argument in links[target + ".co"].argv if argument.endswith(".bc")]
        asserts.equals(env, ["data.cu.{}.bc".format(target), "data.hip.{}.bc".format(target), "other.hip.{}.bc".format(target)], sorted(bitcode), "its own and its library's")
    (bundled,) = actions_of(env, "HipBundle")
    asserts.true(env, "-compress" in bundled.argv, "`compress` reaches the bundler")
    (embedded,) = actions_of(env, "HipEmbed")
    (assembled,) = actions_of(env, "HipAssemble")
    assert_hermetic(env, embedded)
    objects = [file.basename for file in embedded.inputs.to_list() if file.extension == "o"]
    asserts.equals(env, ["data.cu.o", "data.hip.o", "other.hip.o"], sorted(objects))
    asserts.true(env, bundled.outputs.to_list()[0] in assembled.inputs.to_list(), "the assembly includes the bundle")
    libraries = [library for given in analysistest.target_under_test(env)[CcInfo].linking_context.linker_inputs.to_list() for library in given.libraries]
    (device,) = [library for library in libraries if library.pic_static_library and library.pic_static_library.basename == "lib__hip_link_program_hip_device.lo"]
    asserts.true(env, device.alwayslink, "nothing else refers to all of it")
    return analysistest.end(env)

_device_link_test = analysistest.make(_device_link_impl, config_settings = _TWO)

def _no_device_link_impl(ctx):
    env = analysistest.begin(ctx)
    asserts.equals(env, [], actions_of(env, "HipLinkDevice") + actions_of(env, "HipEmbed"), "nothing is to be linked")
    return analysistest.end(env)

_no_device_link_test = analysistest.make(_no_device_link_impl, config_settings = _TWO)

def _link_in_a_library_impl(ctx):
    env = analysistest.begin(ctx)
    (link,) = [action for action in actions_of(env, "HipLinkDevice") if [name for name in outputs_of(action) if name.endswith(".gfx1100.co")]]
    bitcode = [argument.rpartition("/")[2] for argument in link.argv if argument.endswith(".bc")]
    asserts.equals(env, ["data.cu.gfx1100.bc", "data.hip.gfx1100.bc"], sorted(bitcode), "code of a library of HIP, found through one of C++")
    return analysistest.end(env)

_link_in_a_library_test = analysistest.make(_link_in_a_library_impl, config_settings = _TWO)

def _code_object_impl(ctx):
    env = analysistest.begin(ctx)
    target = analysistest.target_under_test(env)
    (file,) = target[DefaultInfo].files.to_list()
    asserts.equals(env, target.label.name + ".hipfb", file.basename)
    asserts.true(env, file in target[DefaultInfo].default_runfiles.files.to_list(), "programs that name it in `data` find it")
    return analysistest.end(env)

_code_object_test = analysistest.make(_code_object_impl, config_settings = _TWO)

def _commands_impl(ctx):
    env = analysistest.begin(ctx)
    (written,) = [action.content for action in analysistest.target_actions(env) if action.mnemonic == "FileWrite"]
    libraries = json.decode(written)
    listed = {source["file"].rpartition("/")[2]: source for library in libraries for source in library["sources"]}
    asserts.equals(env, ["data.cu", "data.hip", "other.hip", "private.hip"], sorted(listed), "sources of all that the program depends on, and of a private target of another package")
    asserts.equals(env, ["--cuda-host-only", "--offload-arch=gfx1100", "-fgpu-rdc"], listed["other.hip"]["options"][:3])
    asserts.true(env, listed["other.hip"]["output"].endswith("/other.hip.o"), "the object file")
    arguments = [library["arguments"] for library in libraries]
    built = [file.path for file in analysistest.target_under_test(env)[DefaultInfo].default_runfiles.files.to_list()]
    asserts.equals(env, [], [path for path in arguments if path not in built], "the arguments are built")
    asserts.true(env, [path for path in built if path.endswith("/other.hip")], "a generated source is built")
    return analysistest.end(env)

_commands_test = analysistest.make(_commands_impl, config_settings = _TWO)

_refused_test = failure_test(HIP_SDK)
_disabled_test = failure_test(HIP_SDK | {str(Label("//hip:enabled")): False})
_refused_link_test = failure_test(_TWO)

def _refused(name):
    """Declares targets that are refused, and their tests; returns the names of these."""
    here = "//hip/tests:" + name
    hip_binary(name = name + "_disabled_program", srcs = ["data.hip"], tags = ["manual"], targets = ["gfx90a"])
    messages = [here + "_disabled_program: HIP is turned off"]
    _disabled_test(name = name + "_disabled_program_test", messages = messages, target_under_test = "_{}_disabled_program_hip".format(name))

    # A program would have the device code twice.
    hip_library(name = name + "_linked_again", link_device = True, tags = ["manual"], deps = [name + "_relocatable"])
    hip_binary(name = name + "_linked_twice", srcs = ["other.hip"], tags = ["manual"], deps = [name + "_linked", name + "_linked_again"])
    messages = ["{0}_linked_twice: the device code of {0}_relocatable is linked in {0}_linked and in {0}_linked_again; expected one link of it in a program. Remove `link_device` of one".format(here)]
    _refused_link_test(name = name + "_linked_twice_test", messages = messages, target_under_test = "_{}_linked_twice_hip".format(name))

    hip_code_object(name = name + "_two_files", srcs = ["data.hip", "other.hip"], tags = ["manual"], targets = ["gfx90a"])
    messages = [here + "_two_files: the sources make 2 files of device code; expected one. Name one source, or set `relocatable = True`"]
    _refused_test(name = name + "_two_files_test", messages = messages, target_under_test = name + "_two_files")
    return ["{}_{}_test".format(name, what) for what in ["disabled_program", "linked_twice", "two_files"]]

def _declare(name):
    """Declares what the tests look at."""
    common = dict(srcs = ["data.cu", "data.hip", "headers/data.h"], tags = ["manual"])
    hip_library(name = name + "_library", **common)
    hip_library(name = name + "_relocatable", relocatable = True, **common)
    hip_binary(
        name = name + "_program",
        srcs = ["other.hip"],
        compress = True,
        copts = ["-DDATA=$(location headers/data.h)", "-DCC=$(CC)"],
        data = ["headers/data.h"],
        device_copts = ["-mllvm -amdgpu-x", "-O2"],
        exec_properties = {"cpp_link.pool": "of the program alone", "pool": "of all"},
        relocatable = True,
        tags = ["manual"],
        toolchains = ["@bazel_tools//tools/cpp:current_cc_toolchain"],
        deps = [name + "_relocatable"],
    )
    hip_compile_commands(name = name + "_commands", tags = ["manual"], targets = [name + "_program", "//hip/tests/sdk:private"])
    hip_code_object(name = name + "_module", srcs = ["data.hip"], tags = ["manual"])
    cc_library(name = name + "_of_cc", tags = ["manual"], deps = [name + "_relocatable"])
    hip_library(name = name + "_linked", link_device = True, tags = ["manual"], deps = [name + "_of_cc"])
    hip_binary(name = name + "_closed", srcs = ["other.hip"], tags = ["manual"], deps = [name + "_linked", name + "_relocatable"])
    hip_binary(name = name + "_plain", srcs = ["other.hip"], tags = ["manual"], deps = [name + "_library"])

def hip_link_test_suite(name):
    """Declares the tests of linked device code.

    Args:
        name: name of the suite.
    """
    _declare(name)
    tested = {
        "closed": (_no_device_link_test, "_{}_closed_hip"),
        "code_object": (_code_object_test, "{}_module"),
        "commands": (_commands_test, "{}_commands.index"),
        "device_link": (_device_link_test, "_{}_program_hip"),
        "link_in_a_library": (_link_in_a_library_test, "{}_linked"),
        "no_device_link": (_no_device_link_test, "_{}_plain_hip"),
        "relocatable": (_relocatable_test, "{}_relocatable"),
    }
    for what, (test, subject) in tested.items():
        test(name = "{}_{}_test".format(name, what), target_under_test = subject.format(name))
    native.test_suite(name = name, tests = _refused(name) + ["{}_{}_test".format(name, what) for what in tested])
