"""sdk_index: puts distributions into one directory, with an index for installers and a landing page."""

load("@rules_python//python:packaging.bzl", "PyWheelInfo")
load("//rules/private/common:providers.bzl", "DistributionInfo")
load("//rules/shared:names.bzl", "shown")
load("//rules/shared:run_tool.bzl", "run_tool", "tool_attr")

visibility(["//rules"])

def _described(ctx, wheels, name_file, number):
    """Lets describe read a wheel that no rule of this project made, or a directory of them.

    Args:
        ctx: the rule context.
        wheels: File or directory.
        name_file: File with the true name of a wheel (PyWheelInfo), or None.
        number: which one it is.

    Returns:
        the directory with what an index needs.
    """
    directory = ctx.actions.declare_directory("{}.described/{}".format(ctx.label.name, number))
    run_tool(
        ctx,
        tool = ctx.attr._describe,
        inputs = dict(wheels = wheels, name_file = name_file),
        outputs = {"output": directory},
        mnemonic = "RocmDescribe",
        progress_message = "Describing %{input}",
    )
    return directory

def _wheels_of_others(ctx):
    """Returns the wheels, and directories of them, of targets that are no distributions: (File, name_file or None)."""
    found = []
    for target in ctx.attr.distributions:
        if DistributionInfo in target:
            continue
        if PyWheelInfo in target:
            found.append((target[PyWheelInfo].wheel, target[PyWheelInfo].name_file))
            continue
        files = target[DefaultInfo].files.to_list()
        for file in files:
            if not file.is_directory and file.extension != "whl":
                fail("{}: {} has {}; expected distributions of these rules, a py_wheel, wheels (.whl), or an sdk_split_wheel".format(shown(ctx.label), shown(target.label), file.basename))
        found += [(file, None) for file in files]
    return found

def _sdk_index_impl(ctx):
    distributions = [target[DistributionInfo] for target in ctx.attr.distributions + ctx.attr.static if DistributionInfo in target]
    directory = ctx.actions.declare_directory(ctx.label.name)
    others = _wheels_of_others(ctx)
    run_tool(
        ctx,
        tool = ctx.attr._index,
        inputs = {
            "described": [_described(ctx, wheels, name_file, number) for number, (wheels, name_file) in enumerate(others)],
            "digest": [distribution.digest for distribution in distributions],
            "distribution": [distribution.file for distribution in distributions],
            "metadata": [distribution.metadata for distribution in distributions],
            "script": ctx.file._script,
            "selector": ctx.files.selector,
            "static": [target[DistributionInfo].file for target in ctx.attr.static],
            "style": ctx.file._style,
            "variant": {distribution.file.path: distribution.variant for distribution in distributions if distribution.variant},
            "wheels": [wheels for wheels, _ in others],
        },
        values = {"title": ctx.attr.title},
        outputs = {"output": directory},
        mnemonic = "RocmIndex",
        progress_message = "Writing index %{label}",
        use_default_shell_env = True,
        # link(2) cannot leave a sandbox. Without one, the directory needs no copy of the distributions.
        # A cache does not store them either. (A new link changes the ctime, so Bazel would call them modified meanwhile.)
        execution_requirements = {"no-cache": "", "no-sandbox": "1"},
    )
    return [DefaultInfo(files = depset([directory]))]

sdk_index = rule(
    doc = """Collects distributions in one directory, with an index for installers. The directory has the target's name.

- `simple/` is the simple repository API, as HTML (PEP 503) and JSON (PEP 691).
- `find-links.html` is a flat page for `--find-links`.
- `index.html` is a landing page with commands, packages and files.
- `static/` holds the distributions of `static`, with an index of its own. There they replace distributions of the same
  name and version.
- `{name}-{version}-variants.json` lists the wheel variants of a version (PEP 825, provisional), if there are any.
- `gfx942/` holds the split wheels whose local version ends in that GPU target, with an index of their own. There they
  replace the fat wheel. Other targets and families have such a directory, too.

Distributions of earlier builds are not in the directory.""",
    implementation = _sdk_index_impl,
    attrs = {
        "distributions": attr.label_list(
            allow_files = True,
            mandatory = True,
            doc = "Wheels and sdists: of these rules, of a rule that provides `PyWheelInfo`, such as `py_wheel`, files, and directories that `sdk_split_wheel` wrote.",
        ),
        "selector": attr.label(
            allow_single_file = [".json"],
            doc = "The selector's `_distributions.json`. With it, the landing page lists GPU targets.",
        ),
        "static": attr.label_list(providers = [DistributionInfo], doc = "Distributions for `static/`."),
        "title": attr.string(default = "Python packages", doc = "Title of the landing page."),
        "_describe": tool_attr("//tools/actions:describe_tool"),
        "_index": tool_attr("//tools/actions:index_tool"),
        "_script": attr.label(default = "//lib/index:page.js", allow_single_file = True),
        "_style": attr.label(default = "//lib/index:page.css", allow_single_file = True),
    },
)
