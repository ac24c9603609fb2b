"""Metadata of distributions: the attributes of rules, and the JSON file that link and sdist read."""

load("@bazel_skylib//rules:common_settings.bzl", "BuildSettingInfo")
load("//rules/private/common:placements.bzl", "by_path", "one_file", "placed")
load("//rules/private/common:providers.bzl", "DistributionInfo")
load("//rules/private/common:version_suffix.bzl", "check_version")
load("//rules/shared:names.bzl", "shown", "written")

visibility(["//rules/..."])

# Bytes that the name of a distribution's file has at most. File systems take 255, and tools append to it (`.metadata`).
_FILE_NAME_MAX = 200

PROJECT_ATTRS = {
    "authors": attr.string_list(doc = "Each `NAME`, `ADDRESS`, or `NAME <ADDRESS>`."),
    "classifiers": attr.string_list(doc = "Trove classifiers."),
    "description": attr.label(mandatory = True, allow_single_file = [".md"], doc = "The long description, in Markdown."),
    "dynamic": attr.string_list(doc = "Metadata fields that an sdist leaves to its build backend (PEP 643)."),
    "distribution": attr.string(mandatory = True, doc = "Name of the distribution."),
    "issues_url": attr.label(providers = [BuildSettingInfo], doc = "String setting with the URL where users report faults: `Issues` of `urls`."),
    "keywords": attr.string_list(doc = "Words with which people find the distribution."),
    "license_expression": attr.string(mandatory = True, doc = "SPDX expression (PEP 639)."),
    "license_files": attr.label_list(allow_files = True, doc = "Licence texts to include. Texts with the same name keep the paths of their workspaces."),
    "maintainers": attr.string_list(doc = "Likewise, as `authors`."),
    "requires": attr.string_list(doc = "Requirements (PEP 508). `{version}` stands for the version of this distribution."),
    "requires_distributions": attr.label_list(providers = [DistributionInfo], doc = "Distributions that this one requires, each in just its own version."),
    "requires_external": attr.string_list(doc = "What the user's machine must have, beside what files need: libraries that are opened by dlopen(3), by SONAME."),
    "requires_python": attr.string(default = ">=3.9", doc = "Supported versions of Python."),
    "summary": attr.string(mandatory = True, doc = "One-line description."),
    "urls": attr.string_dict(doc = "Label -> URL. `{version}` stands for the version of this distribution."),
    "version": attr.label(mandatory = True, providers = [BuildSettingInfo], doc = "Build setting with the version."),
}

def version_of(ctx):
    """Reads the version; fails for what can be none.

    Args:
        ctx: context of a rule with PROJECT_ATTRS.

    Returns:
        string, the version.
    """
    version = ctx.attr.version[BuildSettingInfo].value
    check_version(version, shown(written(ctx)), shown(ctx.attr.version.label))
    return version

def requirement_of(ctx):
    """Returns what requires just this distribution (PEP 508).

    Args:
        ctx: context of a rule with PROJECT_ATTRS.

    Returns:
        string, `NAME==VERSION`.
    """
    return "{}=={}".format(ctx.attr.distribution, version_of(ctx))

def file_name(ctx, name):
    """Returns the name of a distribution's file; fails if it is too long for file systems.

    Args:
        ctx: context of a rule with PROJECT_ATTRS.
        name: string: the name.

    Returns:
        string, the name.
    """
    if len(name) > _FILE_NAME_MAX:
        fail("{}: the file name {} has {} bytes; expected at most {}: file systems take 255, and tools append to it. Shorten `distribution`, the platform tag, or the version: --{}=VERSION".format(
            shown(written(ctx)),
            name,
            len(name),
            _FILE_NAME_MAX,
            shown(ctx.attr.version.label),
        ))
    return name

def escaped(name):
    """Returns a distribution's name, escaped for file names (PEP 427, PEP 625)."""
    for character in ["-", "."]:
        name = name.replace(character, "_")
    return name

def _in_workspace(file):
    """Returns the path of a file in its own workspace."""
    return file.short_path.split("/", 2)[2] if file.short_path.startswith("../") else file.short_path

def _license_path(file):
    """Returns the path of a file in its workspace, below the workspace's name if it is not the main one.

    A canonical name is for a module (`name+`, `name+1.0`) or for an extension's repository (`module++extension+name`);
    Bazel 7 has `~` instead of `+`.
    """
    if not file.short_path.startswith("../"):
        return file.short_path
    parts = file.short_path.split("/", 2)[1].replace("~", "+").split("+")
    return "{}/{}".format(parts[-1] if len(parts) > 2 else parts[0], _in_workspace(file))

def _license_texts(ctx, directory = ""):
    """Returns the placements of the licence texts; those with the same name are in separate folders (PEP 639)."""
    by_name = {}
    for file in ctx.files.license_files:
        by_name.setdefault(file.basename, {})[file] = None
    return [
        placed(directory + (name if len(files) == 1 else _license_path(file)), file, file.owner, "licence text")
        for name, files in by_name.items()
        for file in files
    ]

def source_files(ctx, strip_prefix = ""):
    """Returns the placements of `sources`, relative to their package; fails for files outside of it.

    Args:
        ctx: context of a rule with the attribute `sources`.
        strip_prefix: directory below that package: of its files alone, as they lie below it.

    Returns:
        list of `placed`.
    """
    if not ctx.attr.sources:
        return []
    package = "".join([part + "/" for part in [ctx.attr.sources.label.package] if part])
    prefix = package + "".join([part + "/" for part in [strip_prefix] if part])
    for file in ctx.files.sources:
        if not _in_workspace(file).startswith(package):
            fail("{}: sources: {} has {}, which is not below {}; expected files of that package. Move it to `files`".format(shown(written(ctx)), shown(ctx.attr.sources.label), file.short_path, package))
    found = [
        placed(_in_workspace(file).removeprefix(prefix), file, file.owner, "source")
        for file in ctx.files.sources
        if _in_workspace(file).startswith(prefix)
    ]
    if not found:
        fail("{}: sources: {} has no file below {}; expected at least one. Set `sources` or `strip_prefix`".format(shown(written(ctx)), shown(ctx.attr.sources.label), prefix))
    return found

def small_files(ctx, licenses = "", others = []):
    """Returns the small files of a distribution, {path: File}; fails for duplicate paths.

    Args:
        ctx: context of a rule with PROJECT_ATTRS and the attribute `files`.
        licenses: directory of the licence texts, with `/` at its end.
        others: list of `placed`.

    Returns:
        dict of string to File.
    """
    files = [placed(path, one_file(written(ctx), target, path), target.label) for target, path in ctx.attr.files.items()]
    places = by_path(written(ctx), files + _license_texts(ctx, licenses) + others)
    for path, place in places.items():
        if "=" in path:
            fail("{}: {} is placed at {}; expected a path without '='".format(shown(written(ctx)), place.name, path))
    return {path: place.file for path, place in places.items()}

def project_file(ctx):
    """Writes the JSON file with the distribution's metadata.

    Args:
        ctx: context of a rule with PROJECT_ATTRS.

    Returns:
        File.
    """
    version = version_of(ctx)
    project = ctx.actions.declare_file(ctx.label.name + ".project.json")
    others = [one[DistributionInfo].requirement for one in ctx.attr.requires_distributions]
    issues = {"Issues": ctx.attr.issues_url[BuildSettingInfo].value} if ctx.attr.issues_url else {}
    ctx.actions.write(project, json.encode({
        "authors": ctx.attr.authors,
        "classifiers": ctx.attr.classifiers,
        "distribution": ctx.attr.distribution,
        "dynamic": ctx.attr.dynamic,
        "keywords": ctx.attr.keywords,
        "license_expression": ctx.attr.license_expression,
        "license_files": [text.path for text in _license_texts(ctx)],
        "maintainers": ctx.attr.maintainers,
        "requires": [requirement.replace("{version}", version) for requirement in ctx.attr.requires] + others,
        "requires_external": ctx.attr.requires_external,
        "requires_python": ctx.attr.requires_python,
        "summary": ctx.attr.summary,
        "urls": {label: url.replace("{version}", version) for label, url in (ctx.attr.urls | issues).items()},
        "version": version,
    }))
    return project

def project_inputs(ctx, project, files):
    """Returns what all programs read that write a distribution, for `inputs` of `run_tool`.

    Args:
        ctx: context of a rule with PROJECT_ATTRS.
        project: File, from `project_file`.
        files: dict of string to File, from `small_files`.
    """
    return {"description": ctx.file.description, "file": dict(sorted(files.items())), "project": project}
