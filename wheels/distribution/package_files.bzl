"""package_files: the files of the package `rocm_wheels`."""

load("@rules_python//python:defs.bzl", "PyInfo")
load("//rules/shared:run_tool.bzl", "run_tool", "tool_attr")

visibility(["//wheels"])

# Where files of the package come from -> where they are in it.
_ROOTS = {
    "lib/": "rocm_wheels/lib/",
    "packaging/rocm/src/rocm_sdk/": "rocm_wheels/rocm_sdk/",
    "wheels/": "rocm_wheels/",
}

def _path_in_package(file):
    """Returns the path of a file in the wheel, None if it does not belong to the package."""
    if file.owner.repo_name != Label("//wheels").repo_name or file.extension not in ["css", "js", "json", "py", "so"]:
        return None
    path = file.owner.package + "/" + file.owner.name if file.owner.package else file.owner.name
    for root, place in _ROOTS.items():
        if path.startswith(root):
            return place + path.removeprefix(root)
    return None

def _package_files_impl(ctx):
    files = depset(transitive = [dep[PyInfo].transitive_sources for dep in ctx.attr.deps] + [dep[DefaultInfo].default_runfiles.files for dep in ctx.attr.deps])
    outputs = {}
    for file in files.to_list():
        path = _path_in_package(file)
        if path:
            outputs[file] = ctx.actions.declare_file(path)
    run_tool(
        ctx,
        tool = ctx.attr._package_files,
        others = outputs.keys(),
        outputs = {"file": {file.path: output for file, output in outputs.items()}},
        mnemonic = "PyPackage",
        progress_message = "Writing the package of %{label}",
    )
    return [DefaultInfo(files = depset(outputs.values()))]

package_files = rule(
    doc = "The modules and libraries of programs, as one Python package.",
    implementation = _package_files_impl,
    attrs = {
        "deps": attr.label_list(mandatory = True, providers = [PyInfo], doc = "Libraries that the package consists of."),
        "_package_files": tool_attr("//wheels/distribution:package_files_tool"),
    },
)
