"""hip_device_link: links the relocatable device code of a program, once for each GPU target."""

load("@rules_cc//cc:find_cc_toolchain.bzl", "find_cc_toolchain", "use_cc_toolchain")
load("@rules_cc//cc/common:cc_common.bzl", "cc_common")
load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")
load("//rules/private/common:labels.bzl", "shown")
load("//rules/private/common:run_tool.bzl", "run_tool", "tool_args", "tool_attr")
load(":compile.bzl", "assemble", "bundle", "hip_compiler", "link_device")
load(":find_hip_toolchain.bzl", "HIP_TOOLCHAIN_ATTRS", "find_hip_toolchain", "use_hip_toolchain")
load(":providers.bzl", "HipInfo", "merge_hip_infos")
load(":static_library.bzl", "static_library")

visibility(["//rules/private/hip"])

def _assembly(ctx, bundled, host_objects):
    """Writes the assembly of an object file with the bundle, under the names by which the host's object files ask for it."""
    output = ctx.actions.declare_file("_hip/{}.s".format(ctx.label.name))
    args = tool_args(ctx)
    args.add(bundled.path, format = "--bundle=%s")
    args.add(output, format = "--output=%s")
    args.add_all(host_objects)
    run_tool(
        ctx,
        tool = ctx.attr._embed,
        args = args,
        inputs = host_objects,
        outputs = [output],
        mnemonic = "HipEmbed",
        progress_message = "Naming device code %{label}",
    )
    return output

def _check_targets(libraries):
    """Fails unless all libraries are compiled for the same GPU targets: a link for one needs the code of all."""
    for library in libraries[1:]:
        if library.targets != libraries[0].targets:
            fail("{} is compiled for {}, and {} for {}; expected the same GPU targets in all relocatable code of a program. Change `targets`".format(
                shown(library.label),
                library.targets,
                shown(libraries[0].label),
                libraries[0].targets,
            ))

def _hip_device_link_impl(ctx):
    linked = merge_hip_infos([dep[HipInfo] for dep in ctx.attr.deps])
    if not linked.device_objects:
        return [CcInfo()]
    _check_targets(linked.libraries.to_list())
    hip, cc_toolchain = find_hip_toolchain(ctx), find_cc_toolchain(ctx)
    compiler = hip_compiler(ctx, hip, cc_toolchain, cc_common.create_compilation_context(), relocatable = True)
    stem = "_hip/" + ctx.label.name
    code_objects = {
        target: link_device(compiler, objects, stem, target)
        for target, objects in linked.device_objects.items()
    }
    bundled = bundle(compiler, code_objects, stem, ctx.attr.compress)
    output = assemble(compiler, _assembly(ctx, bundled, linked.host_objects), bundled, stem)
    return [CcInfo(linking_context = static_library(ctx, cc_toolchain, [output], alwayslink = True).linking_context)]

hip_device_link = rule(
    doc = "Links relocatable device code.",
    implementation = _hip_device_link_impl,
    attrs = HIP_TOOLCHAIN_ATTRS | {
        "compress": attr.bool(doc = "Compress device code (zstd)."),
        "deps": attr.label_list(providers = [HipInfo], doc = "Libraries with relocatable device code."),
        "_embed": tool_attr("//tools/actions/hip_embed:hip_embed_tool"),
    },
    fragments = ["cpp"],
    toolchains = use_cc_toolchain() + use_hip_toolchain(),
)
