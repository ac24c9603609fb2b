"""sdk_wheel: links a planned and packed package to a wheel; sdk_reports: targets for what the build reports of wheels."""

load("@bazel_skylib//rules:common_settings.bzl", "BuildSettingInfo")
load("@rules_python//python:packaging.bzl", "PyWheelInfo")
load("//rules/private/common:placements.bzl", "placed")
load("//rules/private/common:platform.bzl", "PLATFORM_ATTRS", "for_platform")
load("//rules/private/common:project.bzl", "PROJECT_ATTRS", "escaped", "file_name", "project_file", "project_inputs", "requirement_of", "small_files", "version_of")
load("//rules/private/common:providers.bzl", "DistributionInfo", "PackageInfo")
load("//rules/shared:names.bzl", "shown")
load("//rules/shared:run_tool.bzl", "run_tool", "tool_attr")

visibility(["//rules"])

def _prove_platform_tag(ctx, package):
    """Declares the action that proves the platform tag; returns its report, an input of link."""
    report = ctx.actions.declare_file(ctx.label.name + ".platform_tag.json")
    run_tool(
        ctx,
        tool = ctx.attr._platform_tag,
        inputs = {"builds_on": package.builds_on, "facts": package.facts, "plan": package.plan},
        values = {
            "distribution": ctx.attr.distribution,
            "external": ctx.attr.externals,
            "kind": package.definition.kind,
            "setting": shown(ctx.attr.platform_tag.label),
            "tag": ctx.attr.platform_tag[BuildSettingInfo].value,
        },
        outputs = {"output": report},
        mnemonic = "RocmPlatformTag",
        in_worker = True,
        progress_message = "Proving platform tag of %{label}",
    )
    return report

def _sbom(ctx, package, project):
    """Declares the action that writes the bill of materials, and returns it."""
    sbom = ctx.actions.declare_file(ctx.label.name + ".cdx.json")
    run_tool(
        ctx,
        tool = ctx.attr._sbom,
        inputs = {"index": package.indexes, "origins": ctx.file.artifact_origins, "plan": package.plan, "project": project},
        values = {"archive": dict(sorted(package.archives.items())), "license_pattern": ctx.attr.license_patterns},
        outputs = {"output": sbom},
        mnemonic = "RocmSbom",
        in_worker = True,
        progress_message = "Writing bill of materials of %{label}",
        use_default_shell_env = True,
    )
    return sbom

def _check_python_code(ctx, kind, files):
    """Fails if a wheel lacks an import name or a module that it needs, or has Python packages in a tree that may be in an archive, where Python finds none."""
    needed_for = {
        "the manifest of a devel package": kind == "devel",
        "the functions of console_scripts": ctx.file.console_scripts,
        "a path configuration file for python_packages": ctx.file.python_packages,
    }
    if not ctx.attr.import_name:
        for what in [what for what, needed in needed_for.items() if needed]:
            fail("{}: import_name: expected the name of the Python package that has {}; found none. Set it".format(shown(ctx.label), what))
    module = ctx.attr.import_name.replace(".", "/") + "/_cli"
    if ctx.file.console_scripts and module + ".py" not in files and module + "/__init__.py" not in files:
        fail("{}: files: expected {}.py, with the functions of console_scripts; found none. Write it, and name it in files".format(shown(ctx.label), module))
    if kind == "devel" and ctx.file.python_packages:
        fail("{}: python_packages: expected none, because the tree of a devel package may be in an archive. Put them into a runtime package".format(shown(ctx.label)))

def _sdk_wheel_impl(ctx):
    package = ctx.attr.package[PackageInfo]
    tag = "py3-none-" + ctx.attr.platform_tag[BuildSettingInfo].value
    name = file_name(ctx, "{}-{}-{}.whl".format(escaped(ctx.attr.distribution), version_of(ctx), tag))
    wheel = ctx.actions.declare_file(name)
    metadata = ctx.actions.declare_file(name + ".metadata")
    digest = ctx.actions.declare_file(name + ".digest.json")
    project = project_file(ctx)
    sbom = _sbom(ctx, package, project)
    sbom_path = "{{dist_info}}/sboms/{}.cdx.json".format(ctx.attr.distribution)
    files = small_files(ctx, licenses = "{dist_info}/licenses/", others = [placed(sbom_path, sbom, "the bill of materials")])
    _check_python_code(ctx, package.definition.kind, files)

    # As an input of link it makes sure that no wheel has an unproven tag, whatever the flags.
    report = _prove_platform_tag(ctx, package)
    devel_archive = ctx.attr._devel_archive[BuildSettingInfo].value if package.definition.kind == "devel" else None
    run_tool(
        ctx,
        tool = ctx.attr._link,
        inputs = project_inputs(ctx, project, files) | {
            "console_scripts": ctx.file.console_scripts,
            "index": package.indexes,
            "plan": package.plan,
            "platform_tag": report,
            "python_packages": ctx.file.python_packages,
            "segment": package.segments,
        },
        values = {
            "devel": devel_archive,
            "import_name": ctx.attr.import_name,
            "license_pattern": ctx.attr.license_patterns,
            "tag": tag,
        },
        outputs = dict(wheel = wheel, metadata = metadata, digest = digest),
        mnemonic = "RocmLink",
        in_worker = True,
        progress_message = "Linking wheel " + name,
        use_default_shell_env = True,
        # Otherwise a cache stores the bulk twice, as segments and in wheels, and once more per version.
        execution_requirements = {"no-remote-cache-upload": ""},
    )
    name_file = ctx.actions.declare_file(ctx.label.name + ".name")
    ctx.actions.write(name_file, name)
    return [
        DefaultInfo(files = depset([wheel])),
        OutputGroupInfo(plan = depset([package.plan]), platform_tag = depset([report]), sbom = depset([sbom])),
        DistributionInfo(digest = digest, file = wheel, metadata = metadata, requirement = requirement_of(ctx), sbom = sbom, variant = None),
        package,
        PyWheelInfo(wheel = wheel, name_file = name_file),
    ]

sdk_wheel = rule(
    doc = "Writes the wheel of a package. It provides `PyWheelInfo`, so it can be used like a `py_wheel`.",
    implementation = _sdk_wheel_impl,
    attrs = PROJECT_ATTRS | PLATFORM_ATTRS | {
        "artifact_origins": attr.label(
            allow_single_file = [".json"],
            doc = "JSON object: name of an artifact -> `{version, purl, supplier, license}`, each optional, for the bill of materials. `{version}` stands for the version of this distribution. One file may serve all wheels: names of other artifacts are ignored.",
        ),
        "console_scripts": attr.label(
            allow_single_file = [".json"],
            doc = "JSON list of `{script, path}`. Each becomes the console script `{import_name}._cli:{script}`, with a function that you write, if the package contains the tool at `path` (for Windows, at `path` and `.exe`). A name with a dot stops the build: no function could have it. The build notes scripts that it leaves out, unless their row has `optional: true`.",
        ),
        "externals": attr.string_list(doc = "SONAMEs, or glob patterns of SONAMEs, of libraries that the user's machine must provide: neither the platform tag nor another package covers them. The metadata lists the ones that the wheel's files need (`Requires-External`)."),
        "files": attr.label_keyed_string_dict(allow_files = True, doc = "Small file -> path in the wheel. `{tree}/` at its beginning stands for the package's tree."),
        "import_name": attr.string(doc = "Import name of the package's Python code. Required for devel packages, and with `console_scripts` or `python_packages`."),
        "license_patterns": attr.string_list(
            default = ["share/doc/**/COPYING*", "share/doc/**/LICENSE*", "share/doc/**/NOTICE*", "share/doc/**/copyright", "share/doc/**/license*", "share/doc/**/licensing/**", "share/licenses/**"],
            doc = "Glob patterns of licence texts in the tree, to be listed in the metadata (PEP 639); `**` matches any directories. The default has the usual places.",
        ),
        "package": attr.label(mandatory = True, providers = [PackageInfo], doc = "The `sdk_package` or `sdk_gpu_package`."),
        "platform_tag": attr.label(mandatory = True, providers = [BuildSettingInfo], doc = "Build setting with the wheel's platform tag. The build stops if the files need a newer system than the tag says."),
        "python_packages": attr.label(
            allow_single_file = [".json"],
            doc = "JSON list of `{package, path}`: Python packages in the tree, and the directories that have them. They can be imported, because `{import_name}.pth` in the wheel names these directories. A row may have `requires`, a list of requirements, which the wheel gets together with the package. The build notes packages that it leaves out, because the package does not contain them, unless their row has `optional: true`.",
        ),
        "_devel_archive": attr.label(default = "//rules/settings:devel_archive"),
        "_link": tool_attr("//tools/actions:link_tool"),
        "_platform_tag": tool_attr("//tools/actions:platform_tag_tool"),
        "_sbom": tool_attr("//tools/actions:sbom_tool"),
    },
    cfg = for_platform,
    provides = [DistributionInfo, PackageInfo, PyWheelInfo],
)

_REPORTS = ["plan", "platform_tag", "sbom"]

def sdk_reports(name, wheels, **kwargs):
    """Declares a target for each report of each package, so that you need no `--output_groups`.

    `PACKAGE_plan` says what happens to each file, `PACKAGE_platform_tag` what the wheel needs of a system,
    and `PACKAGE_sbom` is its bill of materials (CycloneDX).

    Args:
        name: name of a target that has all of them.
        wheels: {name of a package: label of its `sdk_wheel`}.
        **kwargs: further attributes of the targets, such as `visibility`.
    """
    for package, wheel in wheels.items():
        for report in _REPORTS:
            native.filegroup(name = "{}_{}".format(package, report), srcs = [wheel], output_group = report, **kwargs)
    native.filegroup(
        name = name,
        srcs = ["{}_{}".format(package, report) for package in wheels for report in _REPORTS],
        **kwargs
    )
