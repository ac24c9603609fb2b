"""Units: the input of one inspect action and one pack action."""

# Packages are as good as what Bazel notices of the artifacts' edits.
load("@bazel_server//:checked.bzl", "CHECKED")  # @unused
load("//rules/private/common:providers.bzl", "ArtifactInfo")
load("//rules/shared:names.bzl", "COMPONENTS", "artifact_parts", "shown")
load("//rules/shared:run_tool.bzl", "run_tool", "tool_attr")

visibility(["//rules/..."])

# Extensions of files that are neither ELF files nor scripts. There may be very many, and each input costs a link in the
# sandbox, which on a disk takes longer than reading the file's header.
_DATA_EXTENSIONS = {extension: None for extension in (
    "cmake css cuh dat db h hh hpp html hxx inc inl ipp json kdb md model rst tcc txt xml yaml yml"
).split(" ")}

INSPECT_ATTRS = {
    "_inspect": tool_attr("//tools/actions:inspect_tool"),
    "_material": tool_attr("//tools/actions:material_tool"),
}

def artifact_id(artifact):
    """Returns an artifact's whole name, `{name}_{component}_{target}`, from its ArtifactInfo."""
    return "{}_{}_{}".format(artifact.artifact_name, artifact.component, artifact.target)

def unit(name, manifest, files, threads = 1, is_big_file = False):
    """Makes the record of a unit.

    Args:
        name: string, unique in the artifact.
        manifest: File that names the unit's files.
        files: list of File.
        threads: how many threads packing it can use: 1, 2, 4 or 8.
        is_big_file: whether it is one file, which then names the actions.

    Returns:
        struct.
    """
    return struct(name = name, files = files, is_big_file = is_big_file, manifest = manifest, threads = threads)

def _inspect_unit(ctx, artifact, unit, identity):
    facts = ctx.actions.declare_file("{}.facts/{}.json".format(ctx.label.name, identity))
    files = depset(unit.files)
    inspected = [file for file in unit.files if file.extension not in _DATA_EXTENSIONS]
    run_tool(
        ctx,
        tool = ctx.attr._inspect,
        values = {"artifact": artifact, "unit": identity},
        inputs = {"manifest": unit.manifest},
        located = inspected,
        outputs = {"output": facts},
        mnemonic = "RocmInspect",
        in_worker = True,
        progress_message = "Inspecting {}: {}".format(artifact, unit.name.rpartition("/")[2]),
    )
    return struct(id = identity, facts = facts, files = files, is_big_file = unit.is_big_file, manifest = unit.manifest, threads = unit.threads)

def _digest(ctx, artifact, manifest, units, archive_sha256):
    """Declares the action that digests an artifact's files for statements; only they ask for it."""
    output = ctx.actions.declare_file(ctx.label.name + ".material.json")
    run_tool(
        ctx,
        tool = ctx.attr._material,
        inputs = {"manifest": manifest},
        values = {"archive_sha256": archive_sha256, "name": "artifact " + artifact},
        located = depset(transitive = [unit.files for unit in units]),
        outputs = {"output": output},
        mnemonic = "RocmMaterial",
        progress_message = "Digesting artifact " + artifact,
    )
    return output

def artifact_providers(ctx, artifact, manifest, units, archive_sha256 = None):
    """Declares the inspect actions of an artifact and returns its providers.

    Args:
        ctx: context of a rule with INSPECT_ATTRS.
        artifact: the artifact's name, `{name}_{component}_{target}`.
        manifest: File, its manifest.
        units: list of `unit`, the small files' first.
        archive_sha256: SHA-256 of the archive that the artifact came as, or None.

    Returns:
        list of providers.
    """
    parts = artifact_parts(artifact)
    if not parts:
        fail("{}: artifact {}: expected {{name}}_{{component}}_{{target}}, with a component of {} and a target without `_`. Rename it".format(shown(ctx.label), repr(artifact), ", ".join(COMPONENTS)))

    # Output files are named after units, and must not contain `:` (of `gfx950:xnack+`).
    folder = artifact.replace(":", "%3A")
    inspected = [_inspect_unit(ctx, artifact, unit, folder + "/" + unit.name) for unit in units]
    return [
        DefaultInfo(files = depset([manifest])),
        OutputGroupInfo(facts = depset([unit.facts for unit in inspected])),
        ArtifactInfo(
            archive_sha256 = archive_sha256,
            artifact_name = parts[0],
            component = parts[1],
            manifest = manifest,
            material = _digest(ctx, artifact, manifest, inspected, archive_sha256),
            target = parts[2],
            units = inspected,
        ),
    ]
