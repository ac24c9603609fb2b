"""hip_compile_commands: declares a command that writes compile_commands.json, for editors."""

load("@rules_python//python:defs.bzl", "py_binary")
load("//rules/shared:names.bzl", "hidden", "shown", "written")
load(":providers.bzl", "EDGES", "HipCommandsInfo")

visibility(["//hip"])

_AllCommandsInfo = provider(
    doc = "HipCommandsInfo of a target and of what it depends on.",
    fields = {"infos": "depset of HipCommandsInfo."},
)

def _collect_impl(target, ctx):
    below = [
        dep[_AllCommandsInfo].infos
        for edge in EDGES
        for dep in getattr(ctx.rule.attr, edge, None) or []
        if _AllCommandsInfo in dep
    ]
    own = [target[HipCommandsInfo]] if HipCommandsInfo in target else []
    return [_AllCommandsInfo(infos = depset(own, transitive = below))]

_collect = aspect(
    doc = "Finds the HIP libraries that a target depends on.",
    implementation = _collect_impl,
    attr_aspects = EDGES,
)

def _hip_command_index_impl(ctx):
    infos = depset(transitive = [target[_AllCommandsInfo].infos for target in ctx.attr.targets]).to_list()
    if not infos:
        fail("{}: targets: {} and what they depend on have no HIP source; expected a hip_library, or what depends on one. Change `targets`".format(shown(written(ctx)), ", ".join([shown(target.label) for target in ctx.attr.targets])))
    index = ctx.actions.declare_file(ctx.label.name + ".json")
    ctx.actions.write(index, "[\n" + ",\n".join([info.library for info in infos]) + "\n]\n")

    # Of headers, the SDK has thousands, which are there anyway.
    built = [file for file in depset(transitive = [info.files for info in infos]).to_list() if not file.is_source]
    return [DefaultInfo(files = depset([index]), runfiles = ctx.runfiles([index] + built))]

_hip_command_index = rule(
    doc = "Lists how the HIP sources of some targets, and of what they depend on, are compiled.",
    implementation = _hip_command_index_impl,
    attrs = {"targets": attr.label_list(mandatory = True, aspects = [_collect], doc = "The targets.")},
)

def hip_compile_commands(name, targets, **kwargs):
    """Declares a command that writes how HIP sources are compiled, for clangd and other tools: `bazel run //:compile_commands`.

    It writes `compile_commands.json` at the top of the workspace. Entries of other programs stay in it. Sources are
    listed as they are compiled for the host, with the first GPU target. Generated headers are built.

    Args:
        name: name of the target.
        targets: list of labels of libraries, programs and tests, visible here or not. The HIP sources of all that they depend on are
            listed, too.
        **kwargs: further attributes of `py_binary`.
    """
    kwargs = {"testonly": True} | kwargs  # tests may be among the targets
    common = {key: kwargs[key] for key in ["compatible_with", "restricted_to", "target_compatible_with", "testonly"] if key in kwargs}
    own = hidden(name, {})
    named = ["{}.{}".format(name, number) for number in range(len(targets))]
    for setting, target in zip(named, targets):
        # Bazel does not ask who may use the value of a setting: so the targets need not be visible here.
        native.label_flag(name = setting, build_setting_default = target, testonly = kwargs["testonly"], **own)
    _hip_command_index(name = name + ".index", targets = named, **(own | common))
    py_binary(
        name = name,
        srcs = [Label("//hip/tools:compile_commands.py")],
        main = Label("//hip/tools:compile_commands.py"),
        args = ["--index=$(rootpath {}.index)".format(name)],
        data = [name + ".index"],
        # Otherwise a `tools` package of the calling module, among the data, would hide ours.
        legacy_create_init = 0,
        deps = [Label("//hip/tools:compile_commands")],
        **kwargs
    )
