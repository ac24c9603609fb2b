"""sdk_provenance: statements of what distributions were built from. Nothing of it costs a build that does not ask for it."""

load("@bazel_skylib//rules:common_settings.bzl", "BuildSettingInfo")
load("//rules/private/common:providers.bzl", "ArtifactInfo", "DistributionInfo")
load("//rules/shared:names.bzl", "shown")
load("//rules/shared:run_tool.bzl", "run_tool", "tool_attr")
load("//tools/python:py_tool.bzl", "PyToolInfo")

visibility(["//rules"])

_MaterialsInfo = provider(
    doc = "What a distribution, a package or an artifact is made from.",
    fields = {
        "artifacts": "depset of File: a material for each artifact.",
        "files": "depset of File: programs, definitions and further inputs, each a material of its own.",
        "settings": "dict of string to string: build settings, by their labels.",
    },
)

# Attributes whose targets are made from materials, too.
_EDGES = ["artifacts", "builds_on", "package", "packages", "repacked"]

# Attributes with what decides no byte: checks that stop a build, and requirements, which a definition has as text.
_NOT_IN_BYTES = ["_material", "coverage", "requires_distributions"]

_SUFFIX = ".provenance.json"

def _targets(value):
    """Returns the targets of an attribute, of whatever type it is."""
    values = value.keys() if type(value) == "dict" else value if type(value) == "list" else [value]
    return [one for one in values if type(one) == "Target"]

def _materials_impl(target, ctx):
    attributes = {name: _targets(getattr(ctx.rule.attr, name)) for name in dir(ctx.rule.attr) if name not in _NOT_IN_BYTES}
    below = [one[_MaterialsInfo] for name in _EDGES for one in attributes.get(name, []) if _MaterialsInfo in one]
    direct = [(name, one) for name, found in attributes.items() if name not in _EDGES for one in found]
    if ArtifactInfo in target:
        # Its files are digested together. Only what reads them is left.
        direct = [(name, one) for name, one in direct if PyToolInfo in one]
    settings = {}
    for info in below:
        settings |= info.settings
    settings |= {shown(one.label): str(one[BuildSettingInfo].value) for _, one in direct if BuildSettingInfo in one}

    # What rules write themselves is what their attributes say: definitions, and projects.
    written = [file for action in target.actions for file in action.outputs.to_list() if action.mnemonic == "FileWrite"]
    return [_MaterialsInfo(
        artifacts = depset(
            [target[ArtifactInfo].material] if ArtifactInfo in target else [],
            transitive = [info.artifacts for info in below],
        ),
        files = depset(
            [] if ArtifactInfo in target else written,
            transitive = [info.files for info in below] + [one[DefaultInfo].files for _, one in direct if BuildSettingInfo not in one],
        ),
        settings = settings,
    )]

_materials = aspect(
    doc = "Collects what distributions are made from.",
    implementation = _materials_impl,
    attr_aspects = _EDGES,
)

def _interpreter(ctx):
    """Returns the digest of the interpreter's files, as a list; empty for an interpreter of the machine, which is no input."""
    files = ctx.attr._statement[PyToolInfo].runtime_files
    if not files:
        return []
    output = ctx.actions.declare_file(ctx.label.name + ".interpreter.json")
    run_tool(
        ctx,
        tool = ctx.attr._material,
        values = {"name": "python files"},
        located = files,
        outputs = {"output": output},
        mnemonic = "RocmMaterial",
        progress_message = "Digesting the interpreter",
    )
    return [output]

def _statement(ctx, target, interpreter):
    info, materials = target[DistributionInfo], target[_MaterialsInfo]
    output = ctx.actions.declare_file("{}/{}{}".format(ctx.label.name, info.file.basename, _SUFFIX))
    run_tool(
        ctx,
        tool = ctx.attr._statement,
        inputs = {"digest": info.digest, "material": depset(interpreter, transitive = [materials.artifacts])},
        values = {
            "artifacts_variable": ctx.attr.artifacts_variable,
            "commit": ctx.attr.commit,
            "distribution": shown(target.label),
            "environment": ctx.attr.environment,
            "setting": materials.settings,
        },
        located = materials.files,
        outputs = {"output": output},
        mnemonic = "RocmStatement",
        progress_message = "Writing statement of " + info.file.basename,
        use_default_shell_env = True,
    )
    return output

def _sdk_provenance_impl(ctx):
    interpreter = _interpreter(ctx)
    statements = {target[DistributionInfo].file: _statement(ctx, target, interpreter) for target in ctx.attr.distributions}
    return [
        DefaultInfo(files = depset(statements.values())),
        OutputGroupInfo(**{file.basename: depset([file, statement]) for file, statement in statements.items()}),
    ]

sdk_provenance = rule(
    doc = """Writes a statement of each distribution: an in-toto statement with SLSA provenance, `{name}/{file}.provenance.json`.

It has the file's digest, the settings, and as materials the artifacts, programs, definitions and other inputs, each with
its digest. It is equal if these are equal. For each distribution there is an output group with its file name, which has the
distribution and its statement; `rocm-wheels rebuild` builds that. Statements are signed later, outside of the build.""",
    implementation = _sdk_provenance_impl,
    attrs = {
        "artifacts_variable": attr.string(doc = "The variable of repositories that names the directory of artifacts, if there is one: `rebuild` sets it."),
        "commit": attr.string(doc = "The commit that is checked out, from the extension `git` or `rocm`; empty if it is not known."),
        "distributions": attr.label_list(mandatory = True, providers = [DistributionInfo], aspects = [_materials], doc = "The distributions."),
        "environment": attr.string_dict(doc = "Variables of repositories that decide what is built, with their values: `SDK_TARGETS`."),
        "_material": tool_attr("//tools/actions:material_tool"),
        "_statement": tool_attr("//tools/actions:statement_tool"),
    },
)
