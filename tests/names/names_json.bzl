"""names_json: which artifacts and targets `packaging/` knows, for a test that compares them with AMD's."""

load("//lib/gpus:gpu_table.bzl", "TARGETS")
load("//packaging:packages.bzl", "DEVEL_ARTIFACTS", "PACKAGES")

visibility("private")

def _names_json_impl(ctx):
    artifacts = {
        "{}.{}".format(package, component): names
        for package, definition in PACKAGES.items()
        for component, names in definition.artifacts.items()
    }
    document = {
        "artifacts": artifacts | {"devel.additional": DEVEL_ARTIFACTS},
        "targets": {name: target.owner for name, target in TARGETS.items()},
    }
    output = ctx.actions.declare_file(ctx.label.name + ".json")
    ctx.actions.write(output, json.encode(document))
    return [DefaultInfo(files = depset([output]))]

names_json = rule(
    doc = "Writes `{name}.json`.",
    implementation = _names_json_impl,
)
