"""What every distribution says about itself: attributes, and the JSON file that link and sdist read."""

load("@bazel_skylib//rules:common_settings.bzl", "BuildSettingInfo")
load("//rules/private/common:labels.bzl", "shown")
load("//rules/private/common:pep440.bzl", "check_version")

visibility(["//rules/..."])

PROJECT_ATTRS = {
    "classifiers": attr.string_list(doc = "Trove classifiers."),
    "description": attr.label(mandatory = True, allow_single_file = [".md"], doc = "The long description, in Markdown."),
    "dynamic": attr.string_list(doc = "Fields of the core metadata that an sdist leaves to its build backend (PEP 643)."),
    "distribution": attr.string(mandatory = True, doc = "Name of the distribution."),
    "license_expression": attr.string(mandatory = True, doc = "SPDX expression (PEP 639)."),
    "license_files": attr.label_list(allow_files = True, doc = "Licence texts that the distribution carries."),
    "requires": attr.string_list(doc = "Requirements (PEP 508); `{version}` stands for this distribution's version."),
    "requires_python": attr.string(default = ">=3.9", doc = "Versions of Python that the distribution is for."),
    "summary": attr.string(mandatory = True, doc = "One line on what it is."),
    "urls": attr.string_dict(doc = "Label -> URL of the project's pages."),
    "version": attr.label(mandatory = True, providers = [BuildSettingInfo], doc = "The build setting that holds the version."),
}

def version_of(ctx):
    """Reads the version; fails unless it is one of PEP 440 in normal form.

    Args:
        ctx: context of a rule with PROJECT_ATTRS.

    Returns:
        string, the version.
    """
    version = ctx.attr.version[BuildSettingInfo].value
    check_version(version, shown(ctx.label), shown(ctx.attr.version.label))
    return version

def escaped(name):
    """Returns a distribution's name as file names have it (PEP 427, PEP 625)."""
    for character in ["-", "."]:
        name = name.replace(character, "_")
    return name

def project_file(ctx):
    """Writes the JSON file with the distribution's metadata.

    Args:
        ctx: context of a rule with PROJECT_ATTRS.

    Returns:
        File.
    """
    version = version_of(ctx)
    project = ctx.actions.declare_file(ctx.label.name + ".project.json")
    ctx.actions.write(project, json.encode({
        "classifiers": ctx.attr.classifiers,
        "distribution": ctx.attr.distribution,
        "dynamic": ctx.attr.dynamic,
        "license_expression": ctx.attr.license_expression,
        "license_files": [file.basename for file in ctx.files.license_files],
        "requires": [requirement.replace("{version}", version) for requirement in ctx.attr.requires],
        "requires_python": ctx.attr.requires_python,
        "summary": ctx.attr.summary,
        "urls": ctx.attr.urls,
        "version": version,
    }))
    return project

def project_args(args, ctx, project, metadata, digest):
    """Adds the arguments that link and sdist share.

    Args:
        args: the action's Args.
        ctx: context of a rule with PROJECT_ATTRS.
        project: File, from `project_file`.
        metadata: File to be written: the core metadata.
        digest: File to be written: filename, size and SHA-256.
    """
    args.add(project, format = "--project=%s")
    args.add(ctx.file.description, format = "--description=%s")
    args.add(metadata, format = "--metadata=%s")
    args.add(digest, format = "--digest=%s")
