"""Rules of this project, built on the public providers of the HIP rules."""

load("@rules_rocm_python//hip:providers.bzl", "HIP_TOOLCHAIN_ATTRS", "HipInfo", "find_hip_toolchain", "use_hip_toolchain")

def _code_object_list_impl(ctx):
    output = ctx.actions.declare_file(ctx.label.name + ".txt")
    objects = ctx.attr.library[HipInfo].code_objects.to_list()
    lines = ["{} {} {}\n".format(one.target, one.source.short_path, one.file.path) for one in objects]
    ctx.actions.write(output, "".join(sorted(lines)))
    return [DefaultInfo(files = depset([output] + [one.file for one in objects]))]

code_object_list = rule(
    doc = "Builds the code objects of a library and of the HIP libraries that it depends on, and lists them.",
    implementation = _code_object_list_impl,
    attrs = {"library": attr.label(mandatory = True, providers = [HipInfo], doc = "A `hip_library`.")},
)

def _gpu_assembly_impl(ctx):
    hip = find_hip_toolchain(ctx)
    context = hip.runtime.compilation_context
    outputs = []
    for target in hip.targets:
        output = ctx.actions.declare_file("{}.{}.s".format(ctx.label.name, target.replace(":", ".")))
        args = ctx.actions.args()
        args.add_all(["-x", "hip", "--cuda-device-only", "--no-gpu-bundle-output", "-O3", "-S"])
        args.add(target, format = "--offload-arch=%s")
        args.add(hip.resource_directory, format = "-resource-dir=%s")
        args.add(hip.root, format = "--rocm-path=%s")
        args.add(hip.device_libraries, format = "--rocm-device-lib-path=%s")
        args.add_all(context.defines, format_each = "-D%s")
        args.add_all(context.system_includes, before_each = "-isystem")
        args.add(ctx.file.src)
        args.add("-o", output)
        ctx.actions.run(
            executable = hip.clang,
            arguments = [args],
            inputs = depset([ctx.file.src], transitive = [context.headers]),
            tools = hip.files,
            outputs = [output],
            env = hip.environment,
            mnemonic = "GpuAssembly",
            progress_message = "Writing assembly %{output}",
            toolchain = Label("@rules_rocm_python//hip:toolchain_type"),
        )
        outputs.append(output)
    return [DefaultInfo(files = depset(outputs))]

gpu_assembly = rule(
    doc = "Writes the assembly of a HIP source for each GPU target of the build, for people to read.",
    implementation = _gpu_assembly_impl,
    attrs = HIP_TOOLCHAIN_ATTRS | {"src": attr.label(mandatory = True, allow_single_file = [".hip"], doc = "The source.")},
    toolchains = use_hip_toolchain(),
)
