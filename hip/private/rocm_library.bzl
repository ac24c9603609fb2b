"""Libraries and programs of an SDK, for C++ and HIP, as the repository `@rocm` declares them."""

load("@bazel_skylib//rules:common_settings.bzl", "BuildSettingInfo")
load("@rules_cc//cc:find_cc_toolchain.bzl", "find_cc_toolchain", "use_cc_toolchain")
load("@rules_cc//cc/common:cc_common.bzl", "cc_common")
load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")
load("//rules/shared:run_tool.bzl", "run_tool", "tool_attr")
load(":providers.bzl", "RocmSharedLibraryInfo")

visibility(["//hip"])

def _place(file):
    """Returns where a file lies below its repository's directory, with the name of the repository before."""
    return file.short_path.removeprefix("../")

def _to_link(ctx, cc_toolchain, features, target, is_linked):
    """Returns the LibraryToLink of a shared library. Programs are linked with its interface, and run with the library.

    In Bazel's directory of shared libraries it has the same place as in the SDK: so its own search path, relative to its
    directory ($ORIGIN), leads to the libraries that it needs. The interface lies beside it, because Bazel makes the search
    path of a program of where that is. A library that others load has an interface without symbols: it comes to the
    directory, and not to the program's DT_NEEDED.
    """
    info = target[RocmSharedLibraryInfo]
    place = _place(info.library)
    return cc_common.create_library_to_link(
        actions = ctx.actions,
        cc_toolchain = cc_toolchain,
        dynamic_library = info.library,
        dynamic_library_symlink_path = place,
        feature_configuration = features,
        interface_library = info.interface if is_linked else ctx.file._nothing,
        interface_library_symlink_path = place + (".tbd" if is_linked else ".nothing.tbd"),
    )

def _data(ctx):
    """Returns the data files without those whose names say other GPUs than programs are compiled for."""
    targets = [target.partition(":")[0] for target in ctx.attr.targets[BuildSettingInfo].value] if ctx.attr.targets else []
    wanted = [name for name, readers in ctx.attr.data_for.items() if [target for target in targets if target in readers]]
    other = [name for name in ctx.attr.data_for if name not in wanted]
    if not targets:
        return ctx.files.data
    return [
        file
        for file in ctx.files.data
        if not any([name in file.owner.name for name in other]) or any([name in file.owner.name for name in wanted])
    ]

def _beside(data, libraries):
    """Returns where runfiles have data files a second time: in Bazel's directory of shared libraries, where libraries look for them.

    Programs that run in their runfiles, and copied programs, load the libraries from there.
    """
    roots = [one.dynamic_library.short_path.removesuffix(_place(one.resolved_symlink_dynamic_library)) for one in libraries if one.dynamic_library]
    return {roots[0] + _place(file): file for file in data} if roots else {}

def _rocm_library_impl(ctx):
    cc_toolchain = find_cc_toolchain(ctx)
    features = cc_common.configure_features(cc_toolchain = cc_toolchain, ctx = ctx)
    linked = ([ctx.attr.shared_library] if ctx.attr.shared_library else []) + ctx.attr.linked
    libraries = [_to_link(ctx, cc_toolchain, features, target, True) for target in linked]
    libraries += [_to_link(ctx, cc_toolchain, features, target, False) for target in ctx.attr.needed]
    if ctx.file.static_library:
        libraries.append(cc_common.create_library_to_link(
            actions = ctx.actions,
            cc_toolchain = cc_toolchain,
            feature_configuration = features,
            pic_static_library = ctx.file.static_library,
        ))
    own = cc_common.create_linker_input(
        libraries = depset(libraries),
        owner = ctx.label,
        user_link_flags = ctx.attr.linkopts,
    )
    infos = [dep[CcInfo] for dep in ctx.attr.deps]
    data = _data(ctx)
    files = data + ctx.files.shared_library + ctx.files.linked + ctx.files.needed
    root = ctx.label.workspace_root
    context = cc_common.create_compilation_context(
        defines = depset(ctx.attr.defines),
        headers = depset(ctx.files.hdrs),
        system_includes = depset([root + "/" + path if root else path for path in ctx.attr.includes]),
    )
    return [
        CcInfo(
            compilation_context = cc_common.merge_compilation_contexts(compilation_contexts = [context] + [info.compilation_context for info in infos]),
            linking_context = cc_common.merge_linking_contexts(linking_contexts = [cc_common.create_linking_context(linker_inputs = depset([own]))] + [info.linking_context for info in infos]),
        ),
        DefaultInfo(
            files = depset(ctx.files.shared_library + ctx.files.static_library),
            runfiles = ctx.runfiles(files, symlinks = _beside(data, libraries)).merge_all([dep[DefaultInfo].default_runfiles for dep in ctx.attr.deps]),
        ),
    ]

rocm_library = rule(
    doc = "A library of an SDK that lies built in a directory. Programs are linked with its interface library, and run with the library.",
    implementation = _rocm_library_impl,
    attrs = {
        "data": attr.label_list(allow_files = True, doc = "Files that the library reads when it runs."),
        "data_for": attr.string_list_dict(doc = "GPU in names of `data` -> GPU targets whose programs read such files. Those for other targets are left out."),
        "defines": attr.string_list(doc = "Macros for what includes its headers."),
        "deps": attr.label_list(providers = [CcInfo], doc = "Libraries whose headers its headers include, or that have to be linked with it."),
        "hdrs": attr.label_list(allow_files = True, doc = "Headers."),
        "includes": attr.string_list(doc = "Directories to search for headers, relative to the repository."),
        "linked": attr.label_list(providers = [RocmSharedLibraryInfo], doc = "More shared libraries that programs are linked with: the others need them, and do not find them through their search paths."),
        "linkopts": attr.string_list(doc = "Options of the linker."),
        "needed": attr.label_list(providers = [RocmSharedLibraryInfo], doc = "Shared libraries that these need (DT_NEEDED), directly or indirectly, and find through their search paths."),
        "shared_library": attr.label(allow_single_file = True, providers = [RocmSharedLibraryInfo], doc = "The shared library."),
        "static_library": attr.label(allow_single_file = [".a"], doc = "The static library."),
        "targets": attr.label(providers = [BuildSettingInfo], doc = "The `hip_targets` that programs are compiled for. Mandatory with `data_for`."),
        "_nothing": attr.label(default = "//hip/tools:nothing.tbd", allow_single_file = True),
    },
    fragments = ["cpp"],
    provides = [CcInfo],
    toolchains = use_cc_toolchain(),
)

def _rocm_program_impl(ctx):
    link = ctx.actions.declare_file(ctx.label.name)
    ctx.actions.symlink(output = link, target_file = ctx.file.program, is_executable = True)

    # `bazel run` starts programs in the directory of the main repository's runfiles.
    directories = {file.short_path.rpartition("/")[0]: None for file in ctx.files.needed}
    return [
        DefaultInfo(executable = link, runfiles = ctx.runfiles([ctx.file.program] + ctx.files.needed + ctx.files.data)),
        RunEnvironmentInfo(environment = {"LD_LIBRARY_PATH": ":".join(directories.keys())} if directories else {}),
    ]

rocm_program = rule(
    doc = "A program of an SDK that lies built in a directory.",
    implementation = _rocm_program_impl,
    attrs = {
        "data": attr.label_list(allow_files = True, doc = "Files that the program reads when it runs."),
        "needed": attr.label_list(providers = [RocmSharedLibraryInfo], doc = "Shared libraries that it needs."),
        "program": attr.label(mandatory = True, allow_single_file = True, doc = "The program."),
    },
    executable = True,
)

def _made(ctx, tool, path, mnemonic, progress_message, targets = []):
    """Makes a file out of the library; `targets` are the GPU targets of which it has the device code."""
    output = ctx.actions.declare_file(path)
    run_tool(
        ctx,
        tool = tool,
        inputs = {"library": ctx.file.library},
        values = {"target": targets},
        outputs = {"output": output},
        mnemonic = mnemonic,
        progress_message = progress_message + ctx.file.library.basename,
    )
    return output

def _interface(ctx):
    """Makes the interface library: all that a linker reads, which is the same for all GPUs.

    Both Bazel and zig accept the suffix .tbd. Linkers look at the content.
    """
    return _made(ctx, ctx.attr._interface_library, "_hip/{}.tbd".format(ctx.label.name), "HipInterface", "Reading the interface of ")

def _sliced(ctx, targets):
    """Makes the library with code for these GPU targets alone. It takes the same place in runfiles as the whole one."""
    return _made(ctx, ctx.attr._slice, ctx.file.library.owner.name, "HipSlice", "Slicing the device code of ", targets)

def _rocm_shared_library_impl(ctx):
    targets = ctx.attr.targets[BuildSettingInfo].value if ctx.attr.targets else []
    library = _sliced(ctx, targets) if targets else ctx.file.library
    return [
        DefaultInfo(files = depset([library])),
        RocmSharedLibraryInfo(interface = _interface(ctx), library = library),
    ]

rocm_shared_library = rule(
    doc = "A shared library of an SDK that lies built in a directory: the file that a `rocm_library` is, or needs.",
    implementation = _rocm_shared_library_impl,
    attrs = {
        "library": attr.label(mandatory = True, allow_single_file = True, doc = "The file, by its SONAME."),
        "targets": attr.label(providers = [BuildSettingInfo], doc = "The `hip_targets` of which it keeps the device code, if it has any; all of it if the setting is empty."),
        "_interface_library": tool_attr("//hip/tools:interface_library_tool"),
        "_slice": tool_attr("//hip/tools:slice_tool"),
    },
)
