"""The link of relocatable device code: of a library, and of the libraries that it depends on, once for each GPU target."""

load("//rules/shared:names.bzl", "shown", "written")
load("//rules/shared:run_tool.bzl", "run_tool", "tool_attr")
load(":compile.bzl", "assemble", "bundle", "link_device")
load(":providers.bzl", "HipInfo")

visibility(["//hip/private"])

# Attributes of a rule that calls `linked_device_code`.
DEVICE_LINK_ATTRS = {
    "link_device": attr.bool(doc = """Link the relocatable device code of this library and of the libraries that it depends on, also through `cc_library`.
Any program or library of C++ can depend on the result. What depends on it cannot call its device code. `hip_binary` and `hip_test` link their own."""),
    "_embed": tool_attr("//hip/tools:embed_tool"),
}

def _assembly(ctx, bundled, host_objects):
    """Writes the assembly of an object file with the bundle, under the names that the host's object files refer to."""
    output = ctx.actions.declare_file("_hip/{}.s".format(ctx.label.name))
    run_tool(
        ctx,
        tool = ctx.attr._embed,
        inputs = {"object": host_objects},
        values = {"bundle": bundled.path},
        outputs = {"output": output},
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
                ", ".join(library.targets),
                shown(libraries[0].label),
                ", ".join(libraries[0].targets),
            ))

def _unlinked(ctx, info):
    """Returns the libraries whose device code no other library has linked. Fails if two have linked the same."""
    linked = {}
    for link in info.links.to_list():
        for library in link.libraries:
            other = linked.setdefault(library, link.label)
            if other != link.label:
                fail("{}: the device code of {} is linked in {} and in {}; expected one link of it in a program. Remove `link_device` of one, and set it in a library that depends on both".format(
                    shown(written(ctx)),
                    shown(library),
                    shown(other),
                    shown(link.label),
                ))
    return [library for library in info.libraries.to_list() if library.label not in linked]

def linked_device_code(compiler, info):
    """Links the relocatable device code that is not linked yet, if the rule asks for it.

    Args:
        compiler: from `hip_compiler`, for a rule with `DEVICE_LINK_ATTRS`.
        info: HipInfo of the rule and of what it depends on.

    Returns:
        struct(bundles: list of File, info: HipInfo after the link, objects: list of File that programs need). The lists have
        one file, or none if nothing is linked.
    """
    ctx = compiler.ctx
    libraries = _unlinked(ctx, info) if ctx.attr.link_device else []
    if not libraries:
        return struct(bundles = [], info = info, objects = [])
    _check_targets(libraries)
    stem = "_hip/" + ctx.label.name
    code_objects = {
        target: link_device(compiler, [file for library in libraries for file in library.device_objects[at]], stem, target)
        for at, target in enumerate(libraries[0].targets)
    }
    bundled = bundle(compiler, code_objects, stem, ctx.attr.compress)
    host_objects = [file for library in libraries for file in library.host_objects]
    link = struct(label = written(ctx), libraries = tuple([library.label for library in libraries]))
    return struct(
        bundles = [bundled],
        info = HipInfo(code_objects = info.code_objects, libraries = info.libraries, links = depset([link], transitive = [info.links])),
        objects = [assemble(compiler, _assembly(ctx, bundled, host_objects), bundled, stem)],
    )
