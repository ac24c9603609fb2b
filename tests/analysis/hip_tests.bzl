"""Analysis tests of HIP programs: which actions there are, what each names, and which declarations are refused.

Their toolchain is an SDK of empty files, in hip_sdk.
"""

load("@bazel_skylib//lib:unittest.bzl", "analysistest", "asserts", "unittest")
load("@bazel_skylib//rules:write_file.bzl", "write_file")
load("@rules_cc//cc:defs.bzl", "cc_library")
load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")
load("//rules:hip.bzl", "hip_binary", "hip_code_object", "hip_compile_commands", "hip_library")
load("//rules/private/rocm:native_targets.bzl", "with_native_targets")  # buildifier: disable=bzl-visibility
load(":util.bzl", "HIP_SDK", "HIP_TARGETS", "actions_of", "assert_hermetic", "failure_test")

visibility("private")

_TOOLCHAIN = HIP_SDK
_TARGETS = HIP_TARGETS

# The words of a command line of this test that depend on the machine or on the compilation mode.
_VARIABLE = ("-O", "-g", "-DNDEBUG", "-std=", "--sysroot=", "-iquote", "-isystem", "-I")

# What lists the headers that a compilation did not include.
_UNUSED = ".unused_headers"

def _outputs(action):
    """Returns the names of an action's outputs, except the list of unused headers."""
    return [file.basename for file in action.outputs.to_list() if not file.basename.endswith(_UNUSED)]

def _with_prefix(argv, prefix):
    """Returns what follows a prefix in the arguments that begin with it."""
    return [argument.removeprefix(prefix) for argument in argv if argument.startswith(prefix)]

def _normal(env, action):
    """Returns the compiler's arguments without directories of outputs and the name of the target, and without search paths."""
    command = action.argv[action.argv.index("--") + 1:]
    root = command[0].removesuffix("/bin/clang")
    name = analysistest.target_under_test(env).label.name
    outputs = analysistest.target_bin_dir_path(env) + "/"
    arguments = [argument.replace(root, "SDK").replace(outputs, "").replace(name, "NAME") for argument in command]
    normal = []
    for before, argument in zip([""] + arguments[:-1], arguments):
        if not argument.startswith(_VARIABLE) and before not in ["-iquote", "-isystem"]:
            normal.append(argument.rpartition("/")[2] if before == "-o" else argument)
    return normal

# What clang is told for gfx90a, whatever other targets there are.
_FOR_GFX90A = [
    "SDK/bin/clang",
    "-no-canonical-prefixes",
    "-x",
    "hip",
    "-fPIC",
    "-resource-dir=SDK/lib/clang/22",
    "--rocm-path=SDK",
    "--rocm-device-lib-path=SDK/lib/clang/22/lib/amdgcn/bitcode",
    "-Wno-builtin-macro-redefined",
    "-D__DATE__=\"redacted\"",
    "-D__TIMESTAMP__=\"redacted\"",
    "-D__TIME__=\"redacted\"",
    "-ffile-compilation-dir=.",
    "-DPUBLIC=1",
    "-D__HIP_PLATFORM_AMD__=1",
    "-DOWN",
    "-Wall",
    "-include",
    "tests/analysis/headers/data.h",
    "-DMODE=fastbuild",
    "-fgpu-flush-denormals-to-zero",
    "--cuda-device-only",
    "--no-gpu-bundle-output",
    "--offload-arch=gfx90a",
    "-c",
    "tests/analysis/data.hip",
    "-o",
    "data.hip.gfx90a.co",
]

def _assert_checked(env, action):
    """Asserts that a compilation is told which headers are declared, and says which of them it did not use."""
    (listed,) = _with_prefix(action.argv, "--headers=")
    asserts.true(env, listed in [file.path for file in action.inputs.to_list()], "the list is an input")
    asserts.equals(env, [file.path for file in action.outputs.to_list() if file.path.endswith(_UNUSED)], _with_prefix(action.argv, "--unused="))
    (written,) = [one for one in analysistest.target_actions(env) if listed in [file.path for file in one.outputs.to_list()]]
    asserts.equals(env, ["data.h", "hip_runtime.h"], sorted([line.rpartition("/")[2] for line in written.content.splitlines()]))
    system = [path.rpartition("/prefix/")[2] for path in _with_prefix(action.argv, "--system=")]
    asserts.true(env, "lib/clang/22" in system, "headers of the compiler need no target")
    asserts.true(env, "/usr/include" in system, "nor do headers of the system")

def _library_impl(ctx):
    env = analysistest.begin(ctx)
    targets = ctx.attr.targets
    device = actions_of(env, "HipCompileDevice")
    pairs = {tuple(_with_prefix(action.argv, "--offload-arch=") + [action.argv[action.argv.index("-c") + 1].rpartition("/")[2]]): None for action in device}
    asserts.equals(env, sorted([(target, source) for target in targets for source in ["data.cu", "data.hip"]]), sorted(pairs))
    asserts.equals(env, len(pairs), len(device), "one action for each source and target")
    for action in device:
        asserts.equals(env, ["data"], [line.partition(".")[0] for line in _outputs(action)])
        (libraries,) = _with_prefix(action.argv, "--variable=LD_LIBRARY_PATH=")
        asserts.true(env, libraries.endswith("/prefix/lib"), "the compiler finds its libraries")
        asserts.equals(env, {}, action.env, "the program that runs the compiler takes no library of the SDK")
        assert_hermetic(env, action)
        _assert_checked(env, action)
        (target,) = _with_prefix(action.argv, "--offload-arch=")
        others = [one for one in targets if one != target and [argument for argument in action.argv if one.replace(":", ".") in argument or one in argument]]
        asserts.equals(env, [], others, "the command line names one target")
    (mine,) = [action for action in device if "data.hip.gfx90a.co" in _outputs(action)]
    asserts.equals(env, _FOR_GFX90A, _normal(env, mine))
    asserts.equals(env, 2, len(actions_of(env, "HipCompileHost")))
    for action in actions_of(env, "HipBundle"):
        asserts.equals(env, [",".join(["host-x86_64-unknown-linux-gnu-"] + ["hipv4-amdgcn-amd-amdhsa--" + target for target in targets])], _with_prefix(action.argv, "-targets="))
        asserts.equals(env, 1 + len(targets), len(_with_prefix(action.argv, "-input=")))
        asserts.true(env, "-compress" in action.argv, "`compress` reaches the bundler")
    asserts.equals(env, ["data.cu.hipfb", "data.hip.hipfb"], sorted([name for action in actions_of(env, "HipBundle") for name in _outputs(action)]))
    return analysistest.end(env)

_ATTRS = {"targets": attr.string_list(doc = "The targets that are compiled for.")}

_one_target_test = analysistest.make(_library_impl, attrs = _ATTRS, config_settings = _TOOLCHAIN | {_TARGETS: ["gfx90a"]})
_three_targets_test = analysistest.make(_library_impl, attrs = _ATTRS, config_settings = _TOOLCHAIN | {_TARGETS: ["gfx90a", "gfx1100", "gfx908:sramecc+:xnack-"]})

def _host_impl(ctx):
    env = analysistest.begin(ctx)
    (action,) = [action for action in actions_of(env, "HipCompileHost") if _outputs(action) == ["data.hip.o"]]
    _assert_checked(env, action)
    asserts.true(env, "--cuda-host-only" in action.argv, "only the host's code")
    asserts.false(env, "cc" in action.argv, "a subcommand of zig is no option of clang")
    at = action.argv.index("-fcuda-include-gpubinary")
    asserts.true(env, action.argv[at + 2].endswith("/data.hip.hipfb"), "the bundle is embedded")
    asserts.true(env, action.argv[at + 2] in [file.path for file in action.inputs.to_list()], "the bundle is an input")
    asserts.false(env, "-fgpu-flush-denormals-to-zero" in action.argv, "device_copts are for GPUs alone")
    for option in ["-DPUBLIC=1", "-DOWN", "-Wall"]:
        asserts.true(env, option in action.argv, option)
    asserts.true(env, "-Itests/analysis/headers" in action.argv, "`includes` is relative to the package")
    asserts.true(env, "hip_runtime.h" in [file.basename for file in action.inputs.to_list()], "headers of the runtime are inputs")
    info = analysistest.target_under_test(env)[CcInfo]
    asserts.equals(env, ["PUBLIC=1", "__HIP_PLATFORM_AMD__=1"], sorted(info.compilation_context.defines.to_list()), "what depends on it has no local_defines")
    asserts.true(env, "data.h" in [file.basename for file in info.compilation_context.headers.to_list()], "hdrs")
    libraries = [library for given in info.linking_context.linker_inputs.to_list() for library in given.libraries]
    files = [library.pic_static_library or library.resolved_symlink_dynamic_library for library in libraries]
    flags = [flag for given in info.linking_context.linker_inputs.to_list() for flag in given.user_link_flags]
    asserts.equals(env, ["-Wl,-rpath,$ORIGIN/fastbuild", "-ldl"], flags)
    asserts.equals(env, ["libhip_library.a", "libamdhip64.so.7", "libhsa-runtime64.so.1"], [file.basename for file in files])
    asserts.equals(env, ["libhip_library.a"], [file.basename for file in analysistest.target_under_test(env)[DefaultInfo].files.to_list()])
    return analysistest.end(env)

_host_test = analysistest.make(_host_impl, config_settings = _TOOLCHAIN | {_TARGETS: ["gfx90a"]})

def _own_targets_impl(ctx):
    env = analysistest.begin(ctx)
    asserts.equals(env, ["gfx1100", "gfx1101", "gfx1102", "gfx1103", "gfx90a:xnack+"], sorted([target for action in actions_of(env, "HipCompileDevice") for target in _with_prefix(action.argv, "--offload-arch=")]))
    asserts.true(env, "data.hip.gfx90a.xnack+.co" in [name for action in actions_of(env, "HipCompileDevice") for name in _outputs(action)], "no colon in the name of a file")
    return analysistest.end(env)

def _features_impl(ctx):
    env = analysistest.begin(ctx)
    (host,) = actions_of(env, "HipCompileHost")
    asserts.equals(env, ctx.attr.sanitized, "-fsanitize=address" in host.argv, "a sanitizer instruments the host's code")
    for option in ["-fno-canonical-system-headers", "-xc++"]:
        asserts.false(env, option in host.argv, "clang does not take " + option)
    (device,) = actions_of(env, "HipCompileDevice")
    for option in ["-DHOST", "-fsanitize=address", "-fstack-protector"]:
        asserts.false(env, option in device.argv, "for the host alone: " + option)
    for option in ["-D_GLIBCXX_ASSERTIONS", "-std=c++20"]:
        asserts.true(env, option in host.argv and option in device.argv, "both read the same headers: " + option)
    asserts.equals(env, "own", device.argv[device.argv.index("-std=c++20") + 3])
    asserts.true(env, "-fstack-protector" in host.argv, "hardening")
    asserts.true(env, "-DHOST" in host.argv, "host_copts")
    asserts.true(env, "private.inc" in [file.basename for file in host.inputs.to_list()], "headers of implementation_deps are inputs")
    headers = [file.basename for file in analysistest.target_under_test(env)[CcInfo].compilation_context.headers.to_list()]
    asserts.true(env, "data.h" in headers, "textual_hdrs are for what depends on it, too")
    asserts.false(env, "private.inc" in headers, "implementation_deps are for its sources alone")
    return analysistest.end(env)

_FEATURES_ATTRS = {"sanitized": attr.bool(doc = "Whether the host's code is instrumented.")}
_WITH_FEATURES = {
    "//command_line_option:extra_toolchains": ["//tests/analysis/hip_sdk:" + name for name in ["cc_toolchain", "hip_toolchain"]],
    _TARGETS: ["gfx90a"],
}
_features_test = analysistest.make(_features_impl, attrs = _FEATURES_ATTRS, config_settings = _WITH_FEATURES)
_asan_build_test = analysistest.make(_features_impl, attrs = _FEATURES_ATTRS, config_settings = _WITH_FEATURES | {"//command_line_option:features": ["asan"]})

def _coverage_impl(ctx):
    env = analysistest.begin(ctx)
    (host,) = actions_of(env, "HipCompileHost")
    (device,) = actions_of(env, "HipCompileDevice")
    given = analysistest.target_under_test(env)[CcInfo].linking_context.linker_inputs.to_list()
    linked = [library.pic_static_library.basename for one in given for library in one.libraries if library.pic_static_library]
    counts = ["-fcoverage-mapping", "-fprofile-instr-generate"] if ctx.attr.counted else []
    asserts.equals(env, counts, sorted([option for option in host.argv if option.startswith(("-fcoverage", "-fprofile", "-ftest", "--coverage"))]), "LLVM's format alone")
    asserts.equals(env, [], [option for option in device.argv if option.startswith(("-fcoverage", "-fprofile"))], "GPUs count nothing")
    asserts.equals(env, ctx.attr.counted, "libclang_rt.profile-x86_64.a" in linked, "what writes the counts")
    asserts.equals(env, ctx.attr.counted, "-Wl,-u,__llvm_profile_runtime" in [flag for one in given for flag in one.user_link_flags])
    return analysistest.end(env)

_COVERAGE_ATTRS = {"counted": attr.bool(doc = "Whether the host's code counts its lines.")}

def _with_coverage(packages):
    return _WITH_FEATURES | {"//command_line_option:collect_code_coverage": True, "//command_line_option:instrumentation_filter": packages}

_coverage_test = analysistest.make(_coverage_impl, attrs = _COVERAGE_ATTRS, config_settings = _with_coverage("//tests/analysis"))
_no_coverage_test = analysistest.make(_coverage_impl, attrs = _COVERAGE_ATTRS, config_settings = _with_coverage("//elsewhere"))

def _features(name):
    """Declares libraries with features of the toolchain for C++, and their tests; returns the names of these."""
    hip_library(name = name + "_private", tags = ["manual"], textual_hdrs = ["private.inc"])
    common = dict(srcs = ["data.hip"], host_copts = ["-DHOST"], implementation_deps = [name + "_private"], tags = ["manual"], textual_hdrs = ["headers/data.h"])
    hip_library(name = name + "_usual", **common)
    hip_library(name = name + "_asan", features = ["asan"], **common)
    hip_library(name = name + "_no_asan", features = ["-asan"], **common)
    tested = {
        "asan": (_features_test, "asan", True),
        "asan_build": (_asan_build_test, "usual", True),
        "no_asan_build": (_asan_build_test, "no_asan", False),
        "usual": (_features_test, "usual", False),
    }
    for what, (test, library, sanitized) in tested.items():
        test(name = "{}_features_{}_test".format(name, what), sanitized = sanitized, target_under_test = "{}_{}".format(name, library))
    _coverage_test(name = name + "_coverage_test", counted = True, target_under_test = name + "_usual")
    _no_coverage_test(name = name + "_no_coverage_test", target_under_test = name + "_usual")
    return ["{}_features_{}_test".format(name, what) for what in tested] + [name + "_coverage_test", name + "_no_coverage_test"]

def _header_only_impl(ctx):
    env = analysistest.begin(ctx)
    asserts.equals(env, [], actions_of(env, "HipCompileDevice") + actions_of(env, "HipCompileHost"))
    return analysistest.end(env)

_header_only_test = analysistest.make(_header_only_impl, config_settings = _TOOLCHAIN)

_own_targets_test = analysistest.make(_own_targets_impl, config_settings = _TOOLCHAIN | {_TARGETS: ["gfx942"]})

def _relocatable_impl(ctx):
    env = analysistest.begin(ctx)
    device, host = actions_of(env, "HipCompileDevice"), actions_of(env, "HipCompileHost")
    asserts.equals(env, [], actions_of(env, "HipBundle"), "programs link and bundle")
    asserts.equals(env, ["data.cu.gfx1100.bc", "data.cu.gfx90a.xnack+.bc", "data.hip.gfx1100.bc", "data.hip.gfx90a.xnack+.bc"], sorted([name for action in device for name in _outputs(action)]))
    for action in device + host:
        asserts.true(env, "-fgpu-rdc" in action.argv, "relocatable")
        source = action.argv[action.argv.index("-c") + 1].removeprefix(analysistest.target_bin_dir_path(env) + "/")
        label = analysistest.target_under_test(env).label
        asserts.equals(env, ["{}:{}".format(label, source)], _with_prefix(action.argv, "-cuid="), "the host and GPUs have the same names")
    for action in device:
        asserts.true(env, "-emit-llvm" in action.argv, "bitcode")
    return analysistest.end(env)

_TWO = _TOOLCHAIN | {_TARGETS: ["gfx90a:xnack+", "gfx1100"]}
_relocatable_test = analysistest.make(_relocatable_impl, config_settings = _TWO)

def _device_link_impl(ctx):
    env = analysistest.begin(ctx)
    links = {_outputs(action)[0].removeprefix("_hip_program_hip."): action for action in actions_of(env, "HipLinkDevice")}
    asserts.equals(env, ["gfx1100.co", "gfx90a.xnack+.co"], sorted(links))
    asserts.equals(env, ["mcpu=gfx90a", "-mattr=+xnack"], [option for option in _with_prefix(links["gfx90a.xnack+.co"].argv, "-plugin-opt=") if option.startswith(("mcpu", "-mattr"))])
    asserts.equals(env, [], _with_prefix(links["gfx1100.co"].argv, "-plugin-opt=-mattr"))
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
    (device,) = [library for library in libraries if library.pic_static_library and library.pic_static_library.basename == "lib__hip_program_hip_device.lo"]
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
    (link,) = [action for action in actions_of(env, "HipLinkDevice") if [name for name in _outputs(action) if name.endswith(".gfx1100.co")]]
    bitcode = [argument.rpartition("/")[2] for argument in link.argv if argument.endswith(".bc")]
    asserts.equals(env, ["data.cu.gfx1100.bc", "data.hip.gfx1100.bc"], sorted(bitcode), "code of a library of HIP, found through one of C++")
    return analysistest.end(env)

_link_in_a_library_test = analysistest.make(_link_in_a_library_impl, config_settings = _TWO)

def _prefixed_impl(ctx):
    env = analysistest.begin(ctx)
    context = analysistest.target_under_test(env)[CcInfo].compilation_context
    (directory,) = [path for path in context.includes.to_list() if "_virtual_includes" in path]
    asserts.true(env, directory + "/acme/data.h" in [file.path for file in context.headers.to_list()], "sources include it as acme/data.h")
    libraries = [library for given in analysistest.target_under_test(env)[CcInfo].linking_context.linker_inputs.to_list() for library in given.libraries]
    shared = [library.resolved_symlink_dynamic_library.basename for library in libraries if library.pic_static_library and library.resolved_symlink_dynamic_library]
    asserts.equals(env, ["libhip_prefixed.so"], shared, "a shared library, besides the static one")
    return analysistest.end(env)

_prefixed_test = analysistest.make(_prefixed_impl, config_settings = _TWO)

def _code_object_impl(ctx):
    env = analysistest.begin(ctx)
    target = analysistest.target_under_test(env)
    (file,) = target[DefaultInfo].files.to_list()
    asserts.equals(env, target.label.name + ".hipfb", file.basename)
    asserts.true(env, file in target[DefaultInfo].default_runfiles.files.to_list(), "programs that name it in `data` find it")
    return analysistest.end(env)

_code_object_test = analysistest.make(_code_object_impl, config_settings = _TWO)

def _build_options_impl(ctx):
    env = analysistest.begin(ctx)
    (host,) = [action for action in actions_of(env, "HipCompileHost") if _outputs(action) == ["data.hip.o"]]
    (device,) = [action for action in actions_of(env, "HipCompileDevice") if "data.hip.gfx90a.co" in _outputs(action)]
    asserts.equals(env, ["-fapprox-func,"], [option for option in device.argv if option in ["-fapprox-func,", "-fhost"]], "one option in each flag, commas and all")
    asserts.equals(env, ["-fhost"], [option for option in host.argv if option in ["-fapprox-func,", "-fhost"]])
    asserts.true(env, device.argv.index("-fapprox-func,") < device.argv.index("-fgpu-flush-denormals-to-zero"), "options of a library win")
    return analysistest.end(env)

_DEVICE_COPT, _HOST_COPT = str(Label("//rules/hip:device_copt")), str(Label("//rules/hip:host_copt"))
_build_options_test = analysistest.make(_build_options_impl, config_settings = _TOOLCHAIN | {_DEVICE_COPT: ["-fapprox-func,"], _HOST_COPT: ["-fhost"], _TARGETS: ["gfx90a"]})

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

def _machine(gpus):
    """Returns a repository_ctx of a machine with a processor and GPUs, of which the kernel's driver tells the versions."""
    nodes = [
        struct(exists = True, get_child = lambda _, version = version: struct(exists = True, text = "simd_count 304\ngfx_target_version {}\n".format(version)))
        for version in [0] + gpus
    ]
    return struct(
        path = lambda _: struct(exists = bool(gpus), readdir = lambda watch: nodes),
        read = lambda file, watch: file.text,
    )

def _native_impl(ctx):
    env = unittest.begin(ctx)
    machine = _machine([90010, 90402, 100300, 110003, 90010])
    asserts.equals(env, ["gfx1030", "gfx1103", "gfx90a", "gfx942"], with_native_targets(machine, "tag", ["native"]))
    asserts.equals(env, ["gfx1201", "gfx90a"], with_native_targets(_machine([90010]), "tag", ["gfx1201", "native"]))
    asserts.equals(env, ["gfx942"], with_native_targets(None, "tag", ["gfx942"]), "no machine is asked")
    return unittest.end(env)

_native_test = unittest.make(_native_impl)

_refused_test = failure_test(_TOOLCHAIN)
_disabled_test = failure_test(_TOOLCHAIN | {str(Label("//rules/hip:enabled")): False})
_refused_flag_test = failure_test(_TOOLCHAIN | {_HOST_COPT: ["-MD"]})
_refused_link_test = failure_test(_TOOLCHAIN | {_TARGETS: ["gfx90a", "gfx1100"]})

def _refused(name):
    """Declares targets that are refused, and their tests; returns the names of these."""
    tests = []
    hip_binary(name = name + "_disabled_program", srcs = ["data.hip"], tags = ["manual"], targets = ["gfx90a"])
    tests.append(name + "_disabled_program_test")
    _disabled_test(name = tests[-1], messages = ["//tests/analysis:hip_disabled_program: HIP is turned off"], target_under_test = "_{}_disabled_program_hip".format(name))

    # A program would have the device code twice.
    hip_library(name = name + "_linked_again", link_device = True, tags = ["manual"], deps = [name + "_relocatable"])
    program = name + "_linked_twice"
    hip_binary(name = program, srcs = ["other.hip"], tags = ["manual"], deps = [name + "_linked", name + "_linked_again"])
    messages = ["//tests/analysis:{}: the device code of //tests/analysis:hip_relocatable is linked in //tests/analysis:hip_linked and in //tests/analysis:hip_linked_again; expected one link of it in a program. Remove `link_device` of one".format(program)]
    tests.append(program + "_test")
    _refused_link_test(name = tests[-1], messages = messages, target_under_test = "_{}_hip".format(program))

    hip_code_object(name = name + "_two_files", srcs = ["data.hip", "other.hip"], tags = ["manual"], targets = ["gfx90a"])
    tests.append(name + "_two_files_test")
    messages = ["//tests/analysis:hip_two_files: the sources make 2 files of device code; expected one. Name one source, or set `relocatable = True`"]
    _refused_test(name = tests[-1], messages = messages, target_under_test = name + "_two_files")
    tests.append(name + "_refused_flag_test")
    _refused_flag_test(name = tests[-1], messages = ["//tests/analysis:hip_own: --@rules_rocm_python//rules/hip:host_copt: -MD; expected no option about dependency files"], target_under_test = name + "_own")
    return tests

def _declare(name):
    """Declares what the tests look at."""
    for file in ["data.cu", "data.hip", "headers/data.h", "other.hip", "private.inc"]:
        write_file(name = name + "_" + file, out = file, tags = ["manual"])
    common = dict(srcs = ["data.cu", "data.hip", "headers/data.h"], tags = ["manual"])
    hip_library(
        name = name + "_library",
        hdrs = ["headers/data.h"],
        compress = True,
        copts = ["-Wall -include $(location headers/data.h)", "-DMODE=$(COMPILATION_MODE)"],
        defines = ["PUBLIC=1"],
        device_copts = ["-fgpu-flush-denormals-to-zero"],
        includes = ["headers"],
        linkopts = ["-Wl,-rpath,$ORIGIN/$(COMPILATION_MODE) -ldl"],
        local_defines = ["OWN"],
        **common
    )
    hip_library(name = name + "_own", srcs = ["data.hip"], tags = ["manual"], targets = ["gfx110X-all", "gfx90a:xnack+"])
    hip_library(name = name + "_relocatable", relocatable = True, **common)
    hip_binary(
        name = name + "_program",
        srcs = ["other.hip"],
        compress = True,
        copts = ["-DDATA=$(location headers/data.h)", "-DCC=$(CC)"],
        data = ["headers/data.h"],
        exec_properties = {"cpp_link.pool": "of the program alone", "pool": "of all"},
        relocatable = True,
        tags = ["manual"],
        toolchains = ["@bazel_tools//tools/cpp:current_cc_toolchain"],
        deps = [name + "_relocatable"],
    )
    hip_compile_commands(name = name + "_commands", tags = ["manual"], targets = [name + "_program", "//tests/analysis/hip_sdk:private"])
    hip_library(name = name + "_prefixed", srcs = ["data.hip"], hdrs = ["headers/data.h"], include_prefix = "acme", linkstatic = False, strip_include_prefix = "headers", tags = ["manual"])
    hip_code_object(name = name + "_module", srcs = ["data.hip"], tags = ["manual"])
    cc_library(name = name + "_of_cc", tags = ["manual"], deps = [name + "_relocatable"])
    hip_library(name = name + "_linked", link_device = True, tags = ["manual"], deps = [name + "_of_cc"])
    hip_binary(name = name + "_closed", srcs = ["other.hip"], tags = ["manual"], deps = [name + "_linked", name + "_relocatable"])
    hip_binary(name = name + "_plain", srcs = ["other.hip"], tags = ["manual"], deps = [name + "_library"])

def hip_test_suite(name):
    """Declares the tests of HIP programs.

    Args:
        name: name of the suite.
    """
    _declare(name)
    _build_options_test(name = name + "_build_options_test", target_under_test = name + "_library")
    _code_object_test(name = name + "_code_object_test", target_under_test = name + "_module")
    _one_target_test(name = name + "_one_target_test", target_under_test = name + "_library", targets = ["gfx90a"])
    _three_targets_test(name = name + "_three_targets_test", target_under_test = name + "_library", targets = ["gfx1100", "gfx908:sramecc+:xnack-", "gfx90a"])
    _host_test(name = name + "_host_test", target_under_test = name + "_library")
    _header_only_test(name = name + "_header_only_test", target_under_test = name + "_private")
    _own_targets_test(name = name + "_own_targets_test", target_under_test = name + "_own")
    _relocatable_test(name = name + "_relocatable_test", target_under_test = name + "_relocatable")
    _device_link_test(name = name + "_device_link_test", target_under_test = "_{}_program_hip".format(name))
    _commands_test(name = name + "_commands_test", target_under_test = name + "_commands.index")
    _native_test(name = name + "_native_test")
    _prefixed_test(name = name + "_prefixed_test", target_under_test = name + "_prefixed")
    _no_device_link_test(name = name + "_no_device_link_test", target_under_test = "_{}_plain_hip".format(name))
    _no_device_link_test(name = name + "_no_second_link_test", target_under_test = "_{}_closed_hip".format(name))
    _link_in_a_library_test(name = name + "_link_in_a_library_test", target_under_test = name + "_linked")
    native.test_suite(name = name, tests = _refused(name) + _features(name) + [
        "{}_{}_test".format(name, what)
        for what in ["build_options", "code_object", "commands", "native", "prefixed", "one_target", "three_targets", "header_only", "host", "own_targets", "relocatable", "device_link", "link_in_a_library", "no_device_link", "no_second_link"]
    ])
