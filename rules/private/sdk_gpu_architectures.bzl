"""sdk_gpu_architectures: the GPU architectures of a maker: their names, families, and how file names say them."""

load("//rules/private/common:providers.bzl", "GpuArchitecturesInfo")
load("//rules/shared:labels.bzl", "shown")

visibility(["//rules"])

def _check(ctx, attribute, words, known):
    """Fails for a word of an attribute that is not a known name."""
    for word in words:
        if word not in known:
            fail("{}: {}: {} is not known; expected one of {}. Correct it, or add it to `names`".format(shown(ctx.label), attribute, word, ", ".join(known)))

def _sdk_gpu_architectures_impl(ctx):
    names, families = ctx.attr.names, ctx.attr.families
    for family, members in families.items():
        if family in names:
            fail("{}: families: {} is in `names` as well; expected a family to have a name of its own. Rename it".format(shown(ctx.label), family))
        _check(ctx, "families", members, names)
    for name, others in ctx.attr.loads.items():
        _check(ctx, "loads", [name] + others, names)
    _check(ctx, "spellings", ctx.attr.spellings.values(), names + families.keys())
    table = {key: getattr(ctx.attr, key) for key in ["code_suffixes", "families", "loads", "names", "pattern", "spellings"]}
    file = ctx.actions.declare_file(ctx.label.name + ".json")
    ctx.actions.write(file, json.encode_indent(table, indent = " ") + "\n")
    return [
        DefaultInfo(files = depset([file])),
        GpuArchitecturesInfo(families = families, loads = ctx.attr.loads, names = names, table = table),
    ]

sdk_gpu_architectures = rule(
    doc = """Declares the GPU architectures of a maker, as data: for `architectures` of other rules.

AMD's are built in, and the default there. The default output is the table as a file, which reports and tests read.""",
    implementation = _sdk_gpu_architectures_impl,
    attrs = {
        "code_suffixes": attr.string_list(doc = "Ends of the names of files that are device code as a whole, for reports: `.cubin`."),
        "families": attr.string_list_dict(doc = "Family -> its architectures. A file that is named for a family belongs to each of them."),
        "loads": attr.string_list_dict(doc = "Architecture -> others whose code its GPUs load as well: `\"sm_86\": [\"sm_80\"]`."),
        "names": attr.string_list(mandatory = True, allow_empty = False, doc = "Architectures, as files and packages call them: `sm_80`."),
        "pattern": attr.string(doc = "Regular expression (Python's) of what names an architecture in a path, such as `sm_[0-9]+[a-z]?`, beside what the other attributes have. With it, a file for an architecture that `names` lacks stops the build. Without it, that file is in all packages."),
        "spellings": attr.string_dict(doc = "Other forms in paths -> the architecture or family that they mean: `\"sm80\": \"sm_80\"`."),
    },
    provides = [GpuArchitecturesInfo],
)
