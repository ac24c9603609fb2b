"""Analysis tests of mistakes in BUILD files and on command lines: each gets one sentence with target, attribute and remedy.

Mistakes that only real builds show are in hip/tests/e2e/mistakes.py: in MODULE.bazel, in sources, and Bazel's own errors.
"""

load("@bazel_skylib//rules:write_file.bzl", "write_file")
load("@rules_cc//cc:defs.bzl", "cc_library")
load("//develop/testing:analysis.bzl", "failure_test")
load("//hip:defs.bzl", "hip_binary", "hip_compile_commands", "hip_library")
load(":sdk.bzl", "HIP_SDK", "HIP_TARGETS")

visibility("private")

_refused_test = failure_test(HIP_SDK)
_disabled_test = failure_test(HIP_SDK | {str(Label("//hip:enabled")): False})
_windows_test = failure_test({"//command_line_option:platforms": [str(Label("//hip/tests/sdk:windows"))]})
_without_compiler_test = failure_test({"//command_line_option:extra_toolchains": ["//hip/tests/sdk:no_hip_toolchain"]})
_for_two_gpus_test = failure_test(HIP_SDK | {HIP_TARGETS: ["gfx90a", "gfx1100"]})

# Attributes of a `hip_library` -> what the refusal says, after the target.
_REFUSED = {
    "compression": ({"copts": ["--offload-compress"]}, "copts: --offload-compress; expected the attribute `compress`, which also says how programs are linked. Remove the option, and set the attribute"),
    "commands": ({"copts": ["-emit-llvm"]}, "copts: -emit-llvm; expected no such option: the rule compiles each source for the host and for each GPU, to object files. Remove it"),
    "define": ({"local_defines": ["A=1 B=2"]}, "local_defines: [\"A=1 B=2\"]; expected one word in each, such as NAME=value. Quote spaces"),
    "define_for_others": ({"defines": ["A=1 B=2"]}, "defines: [\"A=1 B=2\"]; expected one word in each"),
    "dependency_file": ({"copts": ["-Wall -MD", "-MF x.d"]}, "copts: -MD; expected no option about dependency files: the rule has clang list what sources include, and reads that. Remove it"),
    "dependency_file_of_devices": ({"device_copts": ["-Xclang -dependency-file -Xclang x.d"]}, "device_copts: -dependency-file; expected no option about"),
    "gpu": ({"copts": ["-Wall --offload-arch=gfx942"]}, "copts: --offload-arch=gfx942; expected the attribute `targets`, which also says how programs are linked. Remove the option, and set the attribute"),
    "gpu_of_cuda": ({"device_copts": ["--cuda-gpu-arch=gfx942"]}, "device_copts: --cuda-gpu-arch=gfx942; expected the attribute `targets`"),
    "host_alone": ({"host_copts": ["--cuda-host-only"]}, "host_copts: --cuda-host-only; expected no such option"),
    "language": ({"copts": ["-x c++"]}, "copts: -x; expected no such option: sources are HIP, whatever their suffix; plain C++ belongs into a `cc_library`. Remove it"),
    "mixed_features": ({"targets": ["gfx90a:xnack+", "gfx90a"]}, "targets: gfx90a and gfx90a:xnack+ cannot be in one program; expected the same features, each with + or -, or none"),
    "no_target": ({"targets": []}, "there is no GPU target to compile for; expected one, such as gfx942. Set `targets` of hip.sdk() in MODULE.bazel, or here"),
    "rdc": ({"copts": ["-fgpu-rdc"]}, "copts: -fgpu-rdc; expected the attribute `relocatable`, which also says how programs are linked. Remove the option, and set the attribute"),
    "sdk": ({"copts": ["--rocm-path=/opt/rocm-6.4"]}, "copts: --rocm-path=/opt/rocm-6.4; expected no such option: `hip.sdk` in MODULE.bazel says which SDK compiles. Remove it"),
    "two_targets_in_one": ({"targets": ["gfx90a,gfx942"]}, "targets: there is no GPU target or family \"gfx90a,gfx942\"; expected names such as gfx942"),
    "unknown_target": ({"targets": ["gfx90a", "sm_90"]}, "targets: there is no GPU target or family \"sm_90\"; expected names such as gfx942, gfx90a:xnack+, gfx11-generic or gfx110X-all"),
}

# Without HIP, each reason has a sentence of its own -> the test's rule, and what it says after the target.
_REMEDY = "Or let builds without HIP skip the target: target_compatible_with = requires_hip()"
_WITHOUT_HIP = {
    "disabled": (_disabled_test, "HIP is turned off (--@rules_rocm_python//hip:enabled=false), and the target needs it. Turn it on. " + _REMEDY),
    "windows": (_windows_test, "no toolchain compiles HIP for this platform; expected --platforms for Linux on x86_64, and a machine or remote workers of that kind. Change the platform. " + _REMEDY),
    "without_compiler": (_without_compiler_test, "the SDK @acme has no clang for HIP; expected one. Add it. " + _REMEDY),
}

def _other_targets(name, source):
    """Declares a program whose relocatable library is for the build's GPUs and not its own; returns its name and the messages."""
    hip_library(name = name + "_relocatable", srcs = [source], relocatable = True, tags = ["manual"])
    hip_binary(name = name + "_other_targets", srcs = [source], relocatable = True, tags = ["manual"], targets = ["gfx942"], deps = [name + "_relocatable"])
    message = "//hip/tests:{0}_relocatable is compiled for gfx1100, gfx90a, and //hip/tests:{0}_other_targets for gfx942; expected the same GPU targets in all relocatable code of a program. Change `targets`"
    return "_{}_other_targets_hip".format(name), [message.format(name)]

def hip_mistake_test_suite(name):
    """Declares targets that are refused, and their tests.

    Args:
        name: name of the suite.
    """
    source = name + ".hip"
    write_file(name = name + "_written", out = source, tags = ["manual"])
    tests = {}
    for what, (attributes, message) in _REFUSED.items():
        hip_library(name = "{}_{}".format(name, what), srcs = [source], tags = ["manual"], **({"targets": ["gfx90a"]} | attributes))
        tests[what] = (_refused_test, "{}_{}".format(name, what), ["//hip/tests:{}_{}: {}".format(name, what, message)])
    hip_library(name = name + "_right", srcs = [source], tags = ["manual"], targets = ["gfx90a"])
    for what, (test, message) in _WITHOUT_HIP.items():
        tests[what] = (test, name + "_right", ["//hip/tests:{}_right: {}".format(name, message)])
    target, messages = _other_targets(name, source)
    tests["other_targets"] = (_for_two_gpus_test, target, messages)
    cc_library(name = name + "_plain", tags = ["manual"])
    hip_compile_commands(name = name + "_nothing", tags = ["manual"], targets = [name + "_plain"])
    messages = ["//hip/tests:{0}_nothing: targets: //hip/tests:{0}_plain and what they depend on have no HIP source; expected a hip_library, or what depends on one. Change `targets`".format(name)]
    tests["nothing"] = (_refused_test, name + "_nothing.index", messages)
    for what, (test, target, messages) in tests.items():
        test(name = "{}_{}_test".format(name, what), messages = messages, target_under_test = target)
    native.test_suite(name = name, tests = ["{}_{}_test".format(name, what) for what in tests])
