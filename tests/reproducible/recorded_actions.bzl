"""recorded_actions: the command lines, inputs and outputs of a build's own actions, for tests that run them again."""

visibility(["//tests/..."])

RecordedActionsInfo = provider(
    doc = "The actions behind a target, as far as this project's rules declare them.",
    fields = {"actions": "depset of Action"},
)

# By these attributes distributions lead to all that they are made from, and to the tools that make them.
_MATERIAL = ["artifacts", "builds_on", "distributions", "package", "srcs", "static", "wheel"]
_TOOLS = ["_index", "_inspect", "_layer", "_link", "_material", "_pack", "_plan", "_platform_tag", "_sbom", "_sdist", "_statement", "_static_wheel"]
_EDGES = _MATERIAL + _TOOLS

def _recorded_impl(target, ctx):
    followed = []
    for edge in _EDGES:
        value = getattr(ctx.rule.attr, edge, None)
        followed += value if type(value) == "list" else [value] if type(value) == "Target" else []
    return [RecordedActionsInfo(actions = depset(
        [action for action in target.actions if action.mnemonic.startswith(("Rocm", "PyTool"))],
        transitive = [
            dependency[RecordedActionsInfo].actions
            for dependency in followed
            if RecordedActionsInfo in dependency
        ],
    ))]

_recorded = aspect(
    doc = "Collects the actions of a target and of all that it is made from.",
    implementation = _recorded_impl,
    attr_aspects = _EDGES,
)

def _place(file):
    return {"execroot": file.path, "runfiles": file.short_path}

def _record(action):
    return {
        "argv": action.argv,
        "env": action.env,
        "inputs": [_place(file) for file in action.inputs.to_list()],
        "mnemonic": action.mnemonic,
        "outputs": [_place(file) for file in action.outputs.to_list()],
    }

def _recorded_actions_impl(ctx):
    actions = depset(transitive = [target[RecordedActionsInfo].actions for target in ctx.attr.targets]).to_list()
    document = ctx.actions.declare_file(ctx.label.name + ".json")
    ctx.actions.write(document, json.encode([_record(action) for action in actions]))
    files = depset(
        [document],
        transitive = [files for action in actions for files in (action.inputs, action.outputs)],
    )
    return [DefaultInfo(files = depset([document]), runfiles = ctx.runfiles(transitive_files = files))]

recorded_actions = rule(
    doc = """Writes down the actions behind targets, as JSON; its runfiles are all their inputs and outputs.

Of an action: mnemonic, argv (with params files written out), the variables that it sets, and where each file is in the
execution root and in runfiles.""",
    implementation = _recorded_actions_impl,
    attrs = {
        "targets": attr.label_list(
            mandatory = True,
            aspects = [_recorded],
            doc = "Distributions, or what is made from them.",
        ),
    },
)
