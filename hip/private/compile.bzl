"""The actions that compile HIP sources: for each GPU target, into one bundle, and for the host."""

load("//rules/shared:names.bzl", "shown", "written")
load(":options.bzl", "device_linker_options")
load(":providers.bzl", "HipCommandsInfo")
load(":toolchain_flags.bzl", "own_libcxx", "toolchain_flags")

visibility(["//hip/private"])

# The compiler's date and directories are no part of its output.
_REPRODUCIBLE = [
    "-Wno-builtin-macro-redefined",
    "-D__DATE__=\"redacted\"",
    "-D__TIMESTAMP__=\"redacted\"",
    "-D__TIME__=\"redacted\"",
    "-ffile-compilation-dir=.",
]

# By compilation mode (`--compilation_mode`). For the host, options of the toolchain for C++ come later, and win.
_MODES = {
    "dbg": ["-O0", "-g"],
    "fastbuild": ["-O1"],
    "opt": ["-O3", "-DNDEBUG"],
}

# Where clang looks for the headers of the C library and of C++, in the sysroot: gcc may be one of RHEL's toolsets.
_SYSTEM = ["/opt/rh", "/usr/include", "/usr/lib/gcc", "/usr/local/include"]

# How bundles name the host's part, which is empty, and a GPU's.
_HOST = "host-x86_64-unknown-linux-gnu-"
_DEVICE = "hipv4-amdgcn-amd-amdhsa--"

def _compiler_args(ctx, hip, cc_toolchain, context, flags, copts):
    """Returns the arguments that all compilations of a rule have for the host, or for GPUs: `flags` are the toolchain's."""
    given = ctx.fragments.cpp.copts + ctx.fragments.cpp.cxxopts + copts
    library = own_libcxx(cc_toolchain, flags + given)
    args = ctx.actions.args()
    args.set_param_file_format("multiline")  # of the file that `described` writes
    args.add_all(["-no-canonical-prefixes", "-x", "hip", "-fPIC"])
    args.add(hip.resource_directory, format = "-resource-dir=%s")
    args.add(hip.root, format = "--rocm-path=%s")
    args.add(hip.device_libraries, format = "--rocm-device-lib-path=%s")
    if cc_toolchain.sysroot:
        args.add(cc_toolchain.sysroot, format = "--sysroot=%s")
    args.add_all(_REPRODUCIBLE + _MODES[ctx.var["COMPILATION_MODE"]] + library.options)
    args.add_all([option for option in flags if option not in library.replaced])
    args.add_all(context.defines, format_each = "-D%s")
    args.add_all(context.includes, format_each = "-I%s")
    args.add_all(context.quote_includes, before_each = "-iquote")
    args.add_all(depset(transitive = [context.system_includes, context.external_includes]), before_each = "-isystem")
    args.add_all([option for option in given if option not in library.replaced])
    return args

def _header_line(file):
    return file.path + "/" if file.is_directory else file.path

def _header_list(ctx, context):
    """Writes which headers the sources may include."""
    output = ctx.actions.declare_file("_hip/{}.headers".format(ctx.label.name))
    args = ctx.actions.args()
    args.set_param_file_format("multiline")
    args.add_all(context.headers, expand_directories = False, map_each = _header_line)
    ctx.actions.write(output, args)
    return output

def _system_directories(hip, cc_toolchain):
    """Returns the directories whose headers no target declares: the HIP compiler's, and the C++ toolchain's."""
    sysroot = (cc_toolchain.sysroot or "").rstrip("/")
    return [hip.resource_directory] + cc_toolchain.built_in_include_directories + [sysroot + path for path in _SYSTEM]

def hip_compiler(ctx, hip, cc_toolchain, context, relocatable, copts = [], host_copts = [], device_copts = []):
    """Returns what all compilations of a rule share.

    Args:
        ctx: the rule context, with the fragment `cpp`.
        hip: HipToolchainInfo.
        cc_toolchain: CcToolchainInfo of the host, whose headers the sources include.
        context: CompilationContext of the sources: headers, search paths and defines.
        relocatable: whether device code of one source may refer to another's.
        copts: list of string: options of all compilations.
        host_copts: list of string: options of those for the host.
        device_copts: list of string: options of those for GPUs.

    Returns:
        struct.
    """
    flags = toolchain_flags(ctx, cc_toolchain)
    return struct(
        ctx = ctx,
        device_args = _compiler_args(ctx, hip, cc_toolchain, context, flags.device, copts + device_copts),
        header_list = _header_list(ctx, context),
        headers = context.headers,
        hip = hip,
        host_args = _compiler_args(ctx, hip, cc_toolchain, context, flags.host, copts + host_copts),
        device_linker_options = device_linker_options(_MODES[ctx.var["COMPILATION_MODE"]] + ctx.fragments.cpp.copts + ctx.fragments.cpp.cxxopts + copts + device_copts),
        inputs = depset(transitive = [context.headers, cc_toolchain.all_files]),
        relocatable = relocatable,
        system_directories = _system_directories(hip, cc_toolchain),
    )

def _source_options(compiler, source, target):
    """Returns the options of one compilation: for which GPU, and under which name in relocatable code."""

    # By default clang derives the identifier from all arguments, which differ between the host and GPUs. Two libraries of
    # one program may compile the same source.
    named = ["-fgpu-rdc", "-cuid={}:{}".format(compiler.ctx.label, source.short_path)] if compiler.relocatable else []
    return ["--offload-arch=" + target] + named

def _source_args(compiler, source, target, output):
    """Returns the arguments of one compilation: its options, what is compiled, and to what."""
    args = compiler.ctx.actions.args()
    args.add_all(_source_options(compiler, source, target))
    args.add("-c", source)
    args.add("-o", output)
    return args

def described(compiler, objects, targets):
    """Returns how sources are compiled for the host, for programs that read sources.

    Args:
        compiler: from `hip_compiler`.
        objects: list of (File, File): source and object file.
        targets: list of string: the GPU targets. The first is shown.

    Returns:
        HipCommandsInfo.
    """
    arguments = compiler.ctx.actions.declare_file("_hip/{}.args".format(compiler.ctx.label.name))
    compiler.ctx.actions.write(arguments, compiler.host_args)
    sources = [
        {"file": source.path, "options": ["--cuda-host-only"] + _source_options(compiler, source, targets[0]), "output": output.path}
        for source, output in objects
    ]
    library = json.encode({"arguments": arguments.path, "compiler": compiler.hip.clang.path, "sources": sources})
    files = depset([arguments] + [source for source, _ in objects], transitive = [compiler.headers])
    return HipCommandsInfo(files = files, library = library)

def _run(compiler, executable, arguments, inputs, output, mnemonic, progress_message):
    """Runs a program of the SDK."""
    compiler.ctx.actions.run(
        executable = executable,
        arguments = arguments,
        inputs = inputs,
        tools = compiler.hip.files,
        outputs = [output],
        env = compiler.hip.environment,
        execution_requirements = {"block-network": ""},
        mnemonic = mnemonic,
        progress_message = progress_message,
        toolchain = Label("//hip:toolchain_type"),
    )

def _compile(compiler, source, output, arguments, mnemonic, progress_message, device_code = None):
    """Compiles a source, and checks which headers it includes. Changes of those that it does not include run nothing again.

    This takes no persistent worker: compilations take seconds, and a worker has a sandbox only if a .bazelrc asks for it.
    """
    ctx, tool = compiler.ctx, compiler.hip.compile
    unused = ctx.actions.declare_file(output.basename + ".unused_headers", sibling = output)
    args = ctx.actions.args()
    args.add_all(["-I", "-S", "-B", tool.archive])
    args.add(shown(written(ctx)), format = "--label=%s")
    args.add(source, format = "--source=%s")
    args.add(output, format = "--output=%s")
    args.add(compiler.header_list, format = "--headers=%s")
    args.add(unused, format = "--unused=%s")
    args.add_all([device_code] if device_code else [], format_each = "--input=%s")
    args.add_all(["{}={}".format(directory, library) for directory, library in compiler.hip.headers.items()], format_each = "--sdk_header=%s")
    args.add_all(compiler.system_directories, format_each = "--system=%s")
    args.add_all(["{}={}".format(name, value) for name, value in compiler.hip.environment.items()], format_each = "--variable=%s")
    args.add_all(["--", compiler.hip.clang])
    ctx.actions.run(
        executable = tool.interpreter,
        arguments = [args] + arguments,
        inputs = depset([source, compiler.header_list] + ([device_code] if device_code else []), transitive = [compiler.inputs]),
        tools = depset([tool.archive], transitive = [tool.runtime_files, compiler.hip.files]),
        outputs = [output, unused],
        unused_inputs_list = unused,
        execution_requirements = {"block-network": ""},
        mnemonic = mnemonic,
        progress_message = progress_message,
        toolchain = Label("//hip:toolchain_type"),
    )

def compile_device(compiler, source, stem, target):
    """Compiles a source for one GPU target.

    Args:
        compiler: from `hip_compiler`.
        source: File.
        stem: string: path of the outputs, without what tells them apart.
        target: string: GPU target.

    Returns:
        File: a code object; LLVM bitcode, if the code is relocatable.
    """
    output = compiler.ctx.actions.declare_file("{}.{}.{}".format(stem, target.replace(":", "."), "bc" if compiler.relocatable else "co"))
    args = compiler.ctx.actions.args()
    args.add_all(["--cuda-device-only", "--no-gpu-bundle-output"])
    args.add_all(["-emit-llvm"] if compiler.relocatable else [])
    arguments = [compiler.device_args, args, _source_args(compiler, source, target, output)]
    _compile(compiler, source, output, arguments, "HipCompileDevice", "Compiling {} for {}".format(source.short_path, target))
    return output

def bundle(compiler, code_objects, stem, compressed):
    """Bundles code objects for several GPU targets.

    Args:
        compiler: from `hip_compiler`.
        code_objects: dict from a GPU target to a File.
        stem: string: path of the output, without its suffix.
        compressed: bool.

    Returns:
        File: the bundle, as the HIP runtime reads it.
    """
    output = compiler.ctx.actions.declare_file(stem + ".hipfb")
    empty = compiler.ctx.actions.declare_file(stem + ".empty")
    compiler.ctx.actions.write(empty, "")
    args = compiler.ctx.actions.args()
    args.add_all(["-type=o", "-bundle-align=4096"] + (["-compress"] if compressed else []))
    args.add_joined([_HOST] + [_DEVICE + target for target in code_objects], join_with = ",", format_joined = "-targets=%s")
    args.add_all([empty] + code_objects.values(), format_each = "-input=%s")
    args.add(output, format = "-output=%s")
    _run(compiler, compiler.hip.bundler, [args], [empty] + code_objects.values(), output, "HipBundle", "Bundling device code %{output}")
    return output

def compile_host(compiler, source, stem, target, device_code):
    """Compiles a source for the host.

    Args:
        compiler: from `hip_compiler`.
        source: File.
        stem: string: path of the output, without its suffix.
        target: string: one of the GPU targets.
        device_code: File: the bundle to embed; None if the code is relocatable.

    Returns:
        File: the object file.
    """
    output = compiler.ctx.actions.declare_file(stem + ".o")
    args = compiler.ctx.actions.args()
    args.add("--cuda-host-only")
    args.add_all(["-Xclang", "-fcuda-include-gpubinary", "-Xclang", device_code] if device_code else [])
    arguments = [compiler.host_args, args, _source_args(compiler, source, target, output)]
    _compile(compiler, source, output, arguments, "HipCompileHost", "Compiling {} for the host".format(source.short_path), device_code)
    return output

def link_device(compiler, objects, stem, target):
    """Links relocatable device code for one GPU target.

    Args:
        compiler: from `hip_compiler`.
        objects: list of File: LLVM bitcode.
        stem: string: path of the output, without what tells it apart.
        target: string: GPU target.

    Returns:
        File: the code object.
    """
    output = compiler.ctx.actions.declare_file("{}.{}.co".format(stem, target.replace(":", ".")))
    processor, _, features = target.partition(":")
    args = compiler.ctx.actions.args()
    args.add_all(["-flavor", "gnu", "-m", "elf64_amdgpu", "--no-undefined", "-shared", "-plugin-opt=-amdgpu-internalize-symbols"])
    args.add(processor, format = "-plugin-opt=mcpu=%s")
    if features:
        args.add(",".join([feature[-1] + feature[:-1] for feature in features.split(":")]), format = "-plugin-opt=-mattr=%s")
    args.add_all(compiler.device_linker_options + ["--whole-archive"])
    args.add_all(objects)
    args.add("-o", output)
    _run(compiler, compiler.hip.lld, [args], objects, output, "HipLinkDevice", "Linking device code for " + target)
    return output

def assemble(compiler, source, bundled, stem):
    """Assembles the object file that holds a program's device code.

    Args:
        compiler: from `hip_compiler`.
        source: File: assembly that includes the bundle.
        bundled: File: the bundle.
        stem: string: path of the output, without its suffix.

    Returns:
        File: the object file.
    """
    output = compiler.ctx.actions.declare_file(stem + ".o")
    args = compiler.ctx.actions.args()
    args.add_all(["-no-canonical-prefixes", "-fPIC"])
    args.add("-c", source)
    args.add("-o", output)
    _run(compiler, compiler.hip.clang, [args], [source, bundled], output, "HipAssemble", "Embedding device code %{output}")
    return output
