"""Targets of one package of `packages.bzl`, for one platform: the package, its wheel, and what its code knows of the build."""

load("@bazel_skylib//rules:common_settings.bzl", "BuildSettingInfo")
load("//packaging:packages.bzl", "METADATA", "PACKAGES", "PLATFORMS", "PYTHON_PACKAGES")
load("//rules:providers.bzl", "VERSION_SUFFIX_ATTRS", "with_suffix")
load("//rules:sdk.bzl", "sdk_gpu_package", "sdk_gpu_packages", "sdk_package", "sdk_wheel")

visibility(["//packaging", "//tests/..."])

VERSION = Label("//packaging:version")
LICENSE = Label("//:LICENSE")
_VERSION_SUFFIX = Label("//packaging:version_suffix")
_TREE_MODULE = Label("//packaging:tree.py")
_VERSION_MODULE = Label("//packaging:version_module")

def distribution_name(role, target):
    """Returns the name of a package's distribution; `target` is a GPU target, or ""."""
    return PACKAGES[role].distribution + ("-" + target if target else "")

def import_name_of(role, target):
    """Returns the name under which a package is imported; "" if it is not."""
    name = PACKAGES[role].import_name
    return (name + "_" + target.replace("-", "_")) if name and target else name

def trees_of(role = "", target = ""):
    """Returns the tree of each package, by role. If `role` is given, its tree is for a GPU target."""
    own = {one: "_" + import_name_of(one, target if one == role else "") + "{suffix}" for one in PACKAGES}
    return {one: own[definition.tree or one] for one, definition in PACKAGES.items()}

def _searched(platform, role, trees):
    """Returns the directories that the loader searches; on Windows there is no RPATH."""
    if platform == "windows":
        return []
    entries = [entry.partition("/") for entry in PACKAGES[role].rpath]
    return ["{}/{}".format(trees[one], path) for one, _, path in entries]

def names_target(name, content):
    """Declares a JSON file with what the build calls its packages; returns its target."""
    names_file(name = name, content = json.encode(content), version = VERSION, version_suffix = _VERSION_SUFFIX)
    return name

def _source(role, module):
    return Label("//packaging:{}/src/{}/{}".format(role, PACKAGES[role].import_name, module))

def _modules(role, import_name, modules):
    return {_source(role, module): "{}/{}".format(import_name, module) for module in modules}

def _files(name, role, import_name):
    """Returns {file: path in site-packages} of a package's Python code; none if it is part of another's tree."""
    definition = PACKAGES[role]
    if definition.tree:
        return {}
    files = _modules(role, import_name, definition.modules)
    files[_TREE_MODULE] = "{tree}/__init__.py"
    files[_VERSION_MODULE] = import_name + "/_version.py"
    if definition.names:
        trees = trees_of()
        content = {key: trees[of] for key, of in definition.names.items()}
        files[names_target(name + role + "_names", content)] = import_name + "/_package.json"
    return files

def _wheel(name, platform, role, target = ""):
    """Declares the wheel of a package; returns the package's name."""
    definition, import_name, runs_on = PACKAGES[role], import_name_of(role, target), PLATFORMS[platform]
    package = name + role + ("_" + target if target else "")
    scripts = [module for module in definition.modules if module == "console_scripts.json"]
    sdk_wheel(
        name = package + "_wheel",
        classifiers = sorted(METADATA.classifiers + [runs_on.classifier]),
        console_scripts = _source(role, scripts[0]) if scripts else None,
        description = Label("//packaging:{}/README.md".format(role)),
        distribution = distribution_name(role, target),
        externals = runs_on.externals,
        files = _files(name, role, import_name),
        import_name = import_name,
        issues_url = Label("//packaging:issues_url"),
        license_expression = METADATA.license_expression,
        license_files = [LICENSE],
        package = package,
        platform = runs_on.platform,
        platform_tag = runs_on.tag,
        python_packages = _source(role, PYTHON_PACKAGES) if PYTHON_PACKAGES in definition.modules else None,
        requires = [distribution_name(required, "") + "=={version}" for required in definition.requires],
        summary = definition.summary + (" for " + target if target else ""),
        target_compatible_with = runs_on.compatible_with,
        urls = METADATA.urls,
        version = VERSION,
    )
    return package

def package_targets(name, platform, role, artifacts, target = "", builds_on = None):
    """Declares a package, for a GPU target or family if that is given, and its wheel.

    Args:
        name: what the names of all targets begin with.
        platform: what it runs on.
        role: which package.
        artifacts: labels.
        target: GPU target or family, or "".
        builds_on: packages that it builds on, instead of what its definition says.

    Returns:
        list of the package's name.
    """
    definition, suffix = PACKAGES[role], ("_" + target if target else "")
    trees = trees_of(role, target)
    searched = _searched(platform, role, trees)
    sdk_package(
        name = name + role + suffix,
        package = role + suffix,
        # A directory may have a part of ROCm, of which some packages have nothing.
        allow_empty = not artifacts,
        allow_unmatched = definition.exclude + definition.include + searched,
        artifacts = artifacts,
        builds_on = builds_on or [name + below for below in definition.builds_on],
        exclude = definition.exclude,
        include = definition.include,
        kind = definition.kind,
        per_target = bool(target),
        platform = PLATFORMS[platform].platform,
        rpath = searched,
        target_compatible_with = PLATFORMS[platform].compatible_with,
        tree = trees[role],
        version_suffix = _VERSION_SUFFIX,
    )
    return [_wheel(name, platform, role, target)]

def thin_package_targets(name, platform, artifacts, family, declared):
    """Declares the libraries packages for single targets out of a family's artifacts, and their wheels.

    Args:
        name: what the names of all targets begin with.
        platform: what they run on.
        artifacts: labels.
        family: the family.
        declared: what `thin_selection` says of it.

    Returns:
        list of their names.
    """
    libraries, trees = PACKAGES["libraries"], trees_of("libraries", "{target}")
    searched = _searched(platform, "libraries", trees)
    sdk_gpu_packages(
        name = name + "thin_libraries_" + family,
        package = "libraries",
        allow_empty = not artifacts,
        allow_unmatched = libraries.exclude + searched,
        artifacts = artifacts,
        builds_on = [name + below for below in libraries.builds_on],
        coverage = name + "coverage",
        exclude = libraries.exclude,
        left_out = declared.left_out,
        left_out_option = "--repo_env=ROCM_TARGETS_LEFT_OUT",
        rpath = searched,
        targets = declared.packages,
        tree = trees["libraries"],
        version_suffix = _VERSION_SUFFIX,
    )
    for target in declared.packages:
        sdk_gpu_package(
            name = name + "libraries_" + target,
            packages = name + "thin_libraries_" + family,
            target = target,
        )
    return [_wheel(name, platform, "libraries", target) for target in declared.packages]

def _names_file_impl(ctx):
    output = ctx.actions.declare_file(ctx.label.name + ".json")
    content = with_suffix(ctx, ctx.attr.content).replace("{version}", ctx.attr.version[BuildSettingInfo].value)
    ctx.actions.write(output, json.encode_indent(json.decode(content), indent = " ") + "\n")
    return [DefaultInfo(files = depset([output]))]

names_file = rule(
    doc = "Writes a JSON file, with the version and the version suffix put in.",
    implementation = _names_file_impl,
    attrs = {
        "content": attr.string(mandatory = True, doc = "JSON. In its strings `{version}` stands for the version, `{suffix}` for the suffix with `_` before it."),
        "version": attr.label(mandatory = True, providers = [BuildSettingInfo], doc = "The build setting that holds the version."),
    } | VERSION_SUFFIX_ATTRS,
)

def _version_module_impl(ctx):
    output = ctx.actions.declare_file(ctx.label.name + ".py")
    ctx.actions.write(output, '"""The version of this package."""\n\n__version__ = "{}"\n'.format(ctx.attr.version[BuildSettingInfo].value))
    return [DefaultInfo(files = depset([output]))]

version_module = rule(
    doc = "Writes a Python module with the version.",
    implementation = _version_module_impl,
    attrs = {
        "version": attr.label(mandatory = True, providers = [BuildSettingInfo], doc = "The build setting that holds the version."),
    },
)
