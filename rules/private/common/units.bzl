"""Units: what one inspect action and one pack action work on."""

load("//rules/private/common:run_tool.bzl", "run_tool", "tool_args", "tool_attr")
load("//rules/private/providers:artifact_info.bzl", "ArtifactInfo")

visibility(["//rules/..."])

INSPECT_ATTRS = {"_inspect": tool_attr("//tools/inspect:inspect_tool")}

def located_file(file):
    """Maps a File to `FILE=PATH`: the name that manifests use, and where it is in the action."""
    return "{}={}".format(file.short_path, file.path)

def artifact_id(artifact):
    """Returns an artifact's whole name, `{name}_{component}_{target}`, from its ArtifactInfo."""
    return "{}_{}_{}".format(artifact.artifact_name, artifact.component, artifact.target)

def _inspect_unit(ctx, artifact, manifest, unit, files):
    facts = ctx.actions.declare_file("{}.facts/{}.json".format(ctx.label.name, unit))
    args = tool_args(ctx)
    args.add(artifact, format = "--artifact=%s")
    args.add(unit, format = "--unit=%s")
    args.add(manifest, format = "--manifest=%s")
    args.add(facts, format = "--output=%s")
    args.add_all(files, map_each = located_file)
    run_tool(
        ctx,
        tool = ctx.attr._inspect,
        args = args,
        inputs = depset([manifest], transitive = [files]),
        outputs = [facts],
        mnemonic = "RocmInspect",
        progress_message = "Inspecting %{label}",
    )
    return struct(id = unit, files = files, facts = facts)

def artifact_providers(ctx, artifact, manifest, small, big):
    """Declares the inspect actions of an artifact and returns its providers.

    Args:
        ctx: context of a rule with INSPECT_ATTRS.
        artifact: the artifact's name, `{name}_{component}_{target}`.
        manifest: File, its manifest.
        small: list of File that one unit takes together.
        big: list of File that get a unit each.

    Returns:
        list of providers.
    """

    # Units name output files, in which `:` (of `gfx950:xnack+`) has no place: they are escaped as the catalog does it.
    folder = artifact
    for character, escaped in [("%", "%25"), ("=", "%3D"), (":", "%3A"), ("\\", "%5C")]:
        folder = folder.replace(character, escaped)
    units = [_inspect_unit(ctx, artifact, manifest, folder + "/small", depset(small))]
    units += [
        _inspect_unit(ctx, artifact, manifest, "{}/big/{}".format(folder, file.short_path.partition("/files/" + folder + "/")[2]), depset([file]))
        for file in big
    ]
    name, component, target = artifact.split("_")
    return [
        DefaultInfo(files = depset([manifest])),
        OutputGroupInfo(facts = depset([unit.facts for unit in units])),
        ArtifactInfo(artifact_name = name, component = component, target = target, manifest = manifest, units = units),
    ]
