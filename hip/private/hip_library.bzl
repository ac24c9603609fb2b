"""hip_library: compiles HIP sources to a library for C++."""

load("@bazel_skylib//lib:paths.bzl", "paths")
load("@bazel_skylib//rules:common_settings.bzl", "BuildSettingInfo")
load("@rules_cc//cc:find_cc_toolchain.bzl", "find_cc_toolchain", "use_cc_toolchain")
load("@rules_cc//cc/common:cc_common.bzl", "cc_common")
load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")
load("//rules/shared:names.bzl", "shown", "written")
load(":compile.bzl", "bundle", "compile_device", "compile_host", "described", "hip_compiler")
load(":device_link.bzl", "DEVICE_LINK_ATTRS", "linked_device_code")
load(":hip_targets.bzl", "expanded_targets")
load(":hip_toolchain.bzl", "HIP_TOOLCHAIN_ATTRS", "find_hip_toolchain", "use_hip_toolchain")
load(":linking.bzl", "library_of", "linking_context")
load(":options.bzl", "compiler_options", "expanded_defines", "expanded_options")
load(":providers.bzl", "EDGES", "HipCommandsInfo", "HipInfo", "collect_hip", "hip_infos", "merge_hip_infos")
load(":toolchain_flags.bzl", "compile_features")

visibility(["//hip", "//hip/private"])

SOURCES = [".c++", ".cc", ".cpp", ".cu", ".cxx", ".hip"]
HEADERS = [".cuh", ".h", ".hh", ".hpp", ".hxx", ".inc", ".inl", ".ipp"]

def _targets(ctx, hip, sources):
    """Returns the GPU targets to compile for: the rule's own, or the build's. Without sources, there may be none."""
    expanded = expanded_targets(ctx.attr.targets)
    if expanded.error:
        fail("{}: targets: {}".format(shown(written(ctx)), expanded.error))
    targets = expanded.targets or hip.targets
    if not targets and sources:
        fail("{}: there is no GPU target to compile for; expected one, such as gfx942. Set `targets` of hip.sdk() in MODULE.bazel, or here".format(shown(written(ctx))))
    return targets

def _own_context(ctx, cc_toolchain):
    """Returns the CompilationContext of the rule's own headers, search paths and defines, which others get, too."""
    roots = [ctx.label.workspace_root, paths.join(ctx.bin_dir.path, ctx.label.workspace_root)]
    context, _ = cc_common.compile(
        actions = ctx.actions,
        cc_toolchain = cc_toolchain,
        defines = expanded_defines(ctx, "defines"),
        feature_configuration = compile_features(ctx, cc_toolchain),
        include_prefix = ctx.attr.include_prefix,
        includes = [paths.normalize(paths.join(root, ctx.label.package, path)) for path in ctx.attr.includes for root in roots],
        name = ctx.label.name,
        private_hdrs = [file for file in ctx.files.srcs if "." + file.extension not in SOURCES],
        public_hdrs = ctx.files.hdrs,
        strip_include_prefix = ctx.attr.strip_include_prefix,
        textual_hdrs = ctx.files.textual_hdrs,
    )
    return context

def _compile(compiler, source, targets, compressed):
    """Compiles one source. Returns struct(object: File, bundles: list of File, device: dict from a GPU target to a File: bitcode, or a code object)."""
    path = source.short_path.removeprefix("../")
    stem = "_hip/{}/{}".format(compiler.ctx.label.name, path.removeprefix(compiler.ctx.label.package + "/"))
    device = {target: compile_device(compiler, source, stem, target) for target in targets}
    if compiler.relocatable:
        return struct(bundles = [], device = device, object = compile_host(compiler, source, stem, targets[0], None))
    bundled = bundle(compiler, device, stem, compressed)
    return struct(bundles = [bundled], device = device, object = compile_host(compiler, source, stem, targets[0], bundled))

def _own_device_code(ctx, targets, sources, compiled):
    """Returns a HipInfo of the rule's device code, in a list; an empty list if it has none."""
    if not compiled:
        return []
    if not ctx.attr.relocatable:
        code_objects = [
            struct(file = file, label = written(ctx), source = source, target = target)
            for source, one in zip(sources, compiled)
            for target, file in one.device.items()
        ]
        return [HipInfo(code_objects = depset(code_objects), libraries = depset(), links = depset())]
    library = struct(
        device_objects = tuple([tuple([one.device[target] for one in compiled]) for target in targets]),
        host_objects = tuple([one.object for one in compiled]),
        label = written(ctx),
        targets = tuple(targets),
    )
    return [HipInfo(code_objects = depset(), libraries = depset([library]), links = depset())]

def _compiler(ctx, hip, cc_toolchain, context):
    """Returns what all compilations of the rule share."""
    local = ["-D" + define for define in expanded_defines(ctx, "local_defines")]
    return hip_compiler(
        ctx,
        hip,
        cc_toolchain,
        context,
        ctx.attr.relocatable,
        copts = local + compiler_options(ctx, "copts"),
        device_copts = compiler_options(ctx, "device_copts", ctx.attr._device_copt),
        host_copts = compiler_options(ctx, "host_copts", ctx.attr._host_copt),
    )

def _hip_library_impl(ctx):
    hip, cc_toolchain = find_hip_toolchain(ctx), find_cc_toolchain(ctx)
    public = [dep[CcInfo] for dep in ctx.attr.deps]
    private = [dep[CcInfo] for dep in ctx.attr.implementation_deps]
    sources = [file for file in ctx.files.srcs if "." + file.extension in SOURCES]
    own = _own_context(ctx, cc_toolchain)
    context = cc_common.merge_compilation_contexts(compilation_contexts = [own] + [info.compilation_context for info in public + [hip.runtime]])
    compiler = _compiler(ctx, hip, cc_toolchain, cc_common.merge_compilation_contexts(compilation_contexts = [context] + [info.compilation_context for info in private]))
    targets = _targets(ctx, hip, sources)
    compiled = [_compile(compiler, source, targets, ctx.attr.compress) for source in sources]
    objects = [one.object for one in compiled]
    device_code = linked_device_code(compiler, merge_hip_infos(_own_device_code(ctx, targets, sources, compiled) + hip_infos(ctx.attr)))
    library = library_of(ctx, cc_toolchain, objects, ctx.attr.alwayslink, is_static = ctx.attr.linkstatic or ctx.attr.relocatable)

    # A linker takes all of this one, so it finds the device code whatever it has read before.
    device_library = library_of(ctx, cc_toolchain, device_code.objects, alwayslink = True, is_static = True, name = "_{}_device".format(ctx.label.name))
    linked = linking_context(
        ctx,
        struct(linkopts = expanded_options(ctx, "linkopts"), own = library + device_library),
        hip.runtime.linking_context,
        [info.linking_context for info in public + private],
    )
    runfiles = ctx.runfiles(ctx.files.data).merge_all([dep[DefaultInfo].default_runfiles for dep in ctx.attr.deps + ctx.attr.implementation_deps + ctx.attr.data])
    return [
        CcInfo(compilation_context = context, linking_context = linked),
        DefaultInfo(files = depset([file for one in library for file in [one.pic_static_library, one.resolved_symlink_dynamic_library] if file]), runfiles = runfiles),
        device_code.info,
        described(compiler, zip(sources, objects), targets),
        OutputGroupInfo(hip_code_objects = depset(device_code.bundles, transitive = [depset(one.bundles) for one in compiled]), hip_objects = depset(objects)),
        coverage_common.instrumented_files_info(ctx, dependency_attributes = ["data"] + EDGES, extensions = [suffix[1:] for suffix in SOURCES + HEADERS], source_attributes = ["hdrs", "srcs"]),
    ]

hip_library = rule(
    doc = """Compiles HIP sources to a static library with code for the host and for GPUs.

Each source is compiled once for each GPU target, in actions that run side by side and are cached by target, and once for
the host. `cc_binary`, `cc_library` and `hip_binary` can depend on it.""",
    implementation = _hip_library_impl,
    attrs = HIP_TOOLCHAIN_ATTRS | DEVICE_LINK_ATTRS | {
        "additional_linker_inputs": attr.label_list(allow_files = True, doc = "Files that `linkopts` name with `$(location)`, such as version scripts."),
        "alwayslink": attr.bool(doc = "Link the whole library into programs, also code that they do not refer to."),
        "compress": attr.bool(doc = "Compress device code (zstd)."),
        "copts": attr.string_list(doc = "Options of clang, for the host and for GPUs. These and all other options are read as `cc_library` reads them: Make variables, `$(location)`, several words."),
        "data": attr.label_list(allow_files = True, doc = "Files that programs need when they run."),
        "defines": attr.string_list(doc = "Macros for this library and for what depends on it."),
        "deps": attr.label_list(aspects = [collect_hip], providers = [CcInfo], doc = "Libraries: of C++, of HIP, and of `@rocm`. The HIP runtime need not be named."),
        "device_copts": attr.string_list(doc = "Options of clang for GPU code only."),
        "hdrs": attr.label_list(allow_files = HEADERS, doc = "Headers for this library and for what depends on it."),
        "host_copts": attr.string_list(doc = "Options of clang for host code only."),
        "implementation_deps": attr.label_list(aspects = [collect_hip], providers = [CcInfo], doc = "Libraries for the sources alone: what depends on this library does not get their headers."),
        "include_prefix": attr.string(doc = "Directory in which sources find the headers in `hdrs`, in front of their own."),
        "includes": attr.string_list(doc = "Directories to search for headers, relative to the package, for this library and for what depends on it."),
        "linkopts": attr.string_list(doc = "Options of the linker of programs."),
        "linkstatic": attr.bool(default = True, doc = "Make a static library alone. With False, tests and programs with `linkstatic = False` use a shared library, as of a `cc_library`. Relocatable code is always in static libraries."),
        "local_defines": attr.string_list(doc = "Macros for this library."),
        "relocatable": attr.bool(doc = "Device code may call device code of other sources (`-fgpu-rdc`). `hip_binary` and a library with `link_device` link it, once for each GPU target."),
        "srcs": attr.label_list(allow_files = SOURCES + HEADERS, doc = "HIP sources, and headers that only they include. clang compiles sources of any suffix as HIP."),
        "strip_include_prefix": attr.string(doc = "Directory, relative to the package or from the top (`/dir`), that sources leave out of the names of the headers in `hdrs`."),
        "targets": attr.string_list(doc = "GPU targets and families to compile for, instead of the build's targets. Libraries of the SDK always have device code for the build's targets."),
        "textual_hdrs": attr.label_list(allow_files = True, doc = "Files of any suffix that sources include, for this library and for what depends on it."),
        "_device_copt": attr.label(default = "//hip:device_copt", providers = [BuildSettingInfo]),
        "_host_copt": attr.label(default = "//hip:host_copt", providers = [BuildSettingInfo]),
    },
    fragments = ["cpp"],
    provides = [CcInfo, HipCommandsInfo, HipInfo],
    toolchains = use_cc_toolchain() + use_hip_toolchain(),
)
