"""hip_library: compiles HIP sources to a library for C++."""

load("@bazel_skylib//lib:paths.bzl", "paths")
load("@rules_cc//cc:find_cc_toolchain.bzl", "find_cc_toolchain", "use_cc_toolchain")
load("@rules_cc//cc/common:cc_common.bzl", "cc_common")
load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")
load("//rules/private/common:labels.bzl", "shown", "written")
load(":compile.bzl", "bundle", "compile_device", "compile_host", "described", "hip_compiler")
load(":find_hip_toolchain.bzl", "HIP_TOOLCHAIN_ATTRS", "find_hip_toolchain", "use_hip_toolchain")
load(":hip_targets.bzl", "expanded_targets")
load(":one_runtime.bzl", "check_one_runtime")
load(":options.bzl", "compiler_options", "expanded_defines", "expanded_options")
load(":providers.bzl", "HipCommandsInfo", "HipInfo", "merge_hip_infos")
load(":static_library.bzl", "static_library")

visibility(["//rules", "//rules/private/hip"])

SOURCES = [".c++", ".cc", ".cpp", ".cu", ".cxx", ".hip"]
HEADERS = [".cuh", ".h", ".hh", ".hpp", ".hxx", ".inc", ".inl", ".ipp"]

def _targets(ctx, hip, sources):
    """Returns the GPU targets to compile for: the rule's own, or the build's. Without sources, there may be none."""
    expanded = expanded_targets(ctx.attr.targets)
    if expanded.error:
        fail("{}: targets: {}".format(shown(written(ctx)), expanded.error))
    targets = expanded.targets or hip.targets
    if not targets and sources:
        fail("{}: there is no GPU target to compile for; expected one, such as gfx942. Set `targets` of rocm.sdk() in MODULE.bazel, or here".format(shown(written(ctx))))
    return targets

def _own_context(ctx, headers):
    """Returns the CompilationContext of the rule's own headers, search paths and defines, which others get, too."""
    roots = [ctx.label.workspace_root, paths.join(ctx.bin_dir.path, ctx.label.workspace_root)]
    return cc_common.create_compilation_context(
        defines = depset(expanded_defines(ctx, "defines")),
        headers = depset(headers),
        includes = depset([paths.normalize(paths.join(root, ctx.label.package, path)) for path in ctx.attr.includes for root in roots]),
        quote_includes = depset([root or "." for root in roots]),
    )

def _compile(compiler, source, targets, compressed):
    """Compiles one source. Returns struct(object: File, device: dict from a GPU target to a File of bitcode)."""
    path = source.short_path.removeprefix("../")
    stem = "_hip/{}/{}".format(compiler.ctx.label.name, path.removeprefix(compiler.ctx.label.package + "/"))
    device = {target: compile_device(compiler, source, stem, target) for target in targets}
    if compiler.relocatable:
        return struct(device = device, object = compile_host(compiler, source, stem, targets[0], None))
    bundled = bundle(compiler, device, stem, compressed)
    return struct(device = {}, object = compile_host(compiler, source, stem, targets[0], bundled))

def _hip_library_impl(ctx):
    hip, cc_toolchain = find_hip_toolchain(ctx), find_cc_toolchain(ctx)
    public = [dep[CcInfo] for dep in ctx.attr.deps] + [hip.runtime]
    private = [dep[CcInfo] for dep in ctx.attr.implementation_deps]
    check_one_runtime(ctx.label, public + private)
    sources = [file for file in ctx.files.srcs if "." + file.extension in SOURCES]
    own = _own_context(ctx, ctx.files.hdrs + ctx.files.textual_hdrs + [file for file in ctx.files.srcs if "." + file.extension not in SOURCES])
    context = cc_common.merge_compilation_contexts(compilation_contexts = [own] + [info.compilation_context for info in public])
    copts = ["-D" + define for define in expanded_defines(ctx, "local_defines")] + compiler_options(ctx, "copts")
    compiler = hip_compiler(
        ctx,
        hip,
        cc_toolchain,
        cc_common.merge_compilation_contexts(compilation_contexts = [context] + [info.compilation_context for info in private]),
        ctx.attr.relocatable,
        copts = copts,
        device_copts = compiler_options(ctx, "device_copts"),
        host_copts = compiler_options(ctx, "host_copts"),
    )
    targets = _targets(ctx, hip, sources)
    compiled = [_compile(compiler, source, targets, ctx.attr.compress) for source in sources]
    objects = [one.object for one in compiled]
    library = static_library(
        ctx,
        cc_toolchain,
        objects,
        ctx.attr.alwayslink,
        additional_inputs = ctx.files.additional_linker_inputs,
        contexts = [info.linking_context for info in public + private],
        linkopts = expanded_options(ctx, "linkopts"),
    )
    device = {target: depset([one.device[target] for one in compiled]) for target in targets} if ctx.attr.relocatable else {}
    mine = HipInfo(
        device_objects = device,
        host_objects = depset(objects if ctx.attr.relocatable else []),
        libraries = depset([struct(label = written(ctx), targets = ", ".join(targets))] if device and sources else []),
    )
    deps = ctx.attr.deps + ctx.attr.implementation_deps
    runfiles = ctx.runfiles(ctx.files.data).merge_all([dep[DefaultInfo].default_runfiles for dep in deps + ctx.attr.data])
    return [
        CcInfo(compilation_context = context, linking_context = library.linking_context),
        DefaultInfo(files = depset([library.file] if library.file else []), runfiles = runfiles),
        merge_hip_infos([mine] + [dep[HipInfo] for dep in deps if HipInfo in dep]),
        described(compiler, zip(sources, objects), targets),
        OutputGroupInfo(hip_objects = depset(objects)),
        coverage_common.instrumented_files_info(ctx, dependency_attributes = ["data", "deps", "implementation_deps"], extensions = [suffix[1:] for suffix in SOURCES + HEADERS], source_attributes = ["hdrs", "srcs"]),
    ]

hip_library = rule(
    doc = """Compiles HIP sources to a static library with code for the host and for GPUs.

Each source is compiled once for each GPU target, in actions that run side by side and are cached by target, and once for
the host. `cc_binary`, `cc_library` and `hip_binary` can depend on it.""",
    implementation = _hip_library_impl,
    attrs = HIP_TOOLCHAIN_ATTRS | {
        "additional_linker_inputs": attr.label_list(allow_files = True, doc = "Files that `linkopts` name with `$(location)`, such as version scripts."),
        "alwayslink": attr.bool(doc = "Link the whole library into programs, also code that they do not refer to."),
        "compress": attr.bool(doc = "Compress device code (zstd)."),
        "copts": attr.string_list(doc = "Options of clang, for the host and for GPUs. These and all other options are read as `cc_library` reads them: Make variables, `$(location)`, several words."),
        "data": attr.label_list(allow_files = True, doc = "Files that programs need when they run."),
        "defines": attr.string_list(doc = "Macros for this library and for what depends on it."),
        "deps": attr.label_list(providers = [CcInfo], doc = "Libraries: of C++, of HIP, and of `@rocm`. The HIP runtime need not be named."),
        "device_copts": attr.string_list(doc = "Options of clang for GPU code only."),
        "hdrs": attr.label_list(allow_files = HEADERS, doc = "Headers for this library and for what depends on it."),
        "host_copts": attr.string_list(doc = "Options of clang for host code only."),
        "implementation_deps": attr.label_list(providers = [CcInfo], doc = "Libraries for the sources alone: what depends on this library does not get their headers."),
        "includes": attr.string_list(doc = "Directories to search for headers, relative to the package, for this library and for what depends on it."),
        "linkopts": attr.string_list(doc = "Options of the linker of programs."),
        "local_defines": attr.string_list(doc = "Macros for this library."),
        "relocatable": attr.bool(doc = "Device code may call device code of other sources (`-fgpu-rdc`). `hip_binary` links it, once for each GPU target."),
        "srcs": attr.label_list(allow_files = SOURCES + HEADERS, doc = "HIP sources, and headers that only they include. clang compiles sources of any suffix as HIP."),
        "targets": attr.string_list(doc = "GPU targets and families to compile for, instead of the build's targets. Libraries of the SDK always have device code for the build's targets."),
        "textual_hdrs": attr.label_list(allow_files = True, doc = "Files of any suffix that sources include, for this library and for what depends on it."),
    },
    fragments = ["cpp"],
    provides = [CcInfo, HipCommandsInfo, HipInfo],
    toolchains = use_cc_toolchain() + use_hip_toolchain(),
)
