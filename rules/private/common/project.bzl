"""What every distribution says about itself: attributes, and the JSON file that link and sdist read."""

load("@bazel_skylib//rules:common_settings.bzl", "BuildSettingInfo")

visibility(["//rules/..."])

PROJECT_ATTRS = {
    "classifiers": attr.string_list(doc = "Trove classifiers."),
    "description": attr.label(mandatory = True, allow_single_file = [".md"], doc = "The long description, in Markdown."),
    "dynamic": attr.string_list(doc = "Fields of the core metadata that an sdist leaves to its build backend (PEP 643)."),
    "distribution": attr.string(mandatory = True, doc = "Name of the distribution."),
    "license_expression": attr.string(mandatory = True, doc = "SPDX expression (PEP 639)."),
    "licenses": attr.label_list(allow_files = True, doc = "Licence texts that the distribution carries."),
    "requires": attr.string_list(doc = "Requirements (PEP 508); `{version}` stands for this distribution's version."),
    "requires_python": attr.string(default = ">=3.9", doc = "Versions of Python that the distribution is for."),
    "summary": attr.string(mandatory = True, doc = "One line on what it is."),
    "urls": attr.string_dict(doc = "Label -> URL of the project's pages."),
    "version": attr.label(mandatory = True, providers = [BuildSettingInfo], doc = "The build setting that holds the version."),
}

def version_of(ctx):
    """Returns the version; fails on what could not be part of a file name. PEP 440 is checked by the tools."""
    version = ctx.attr.version[BuildSettingInfo].value
    for character in version.elems():
        if not (character.isalnum() or character in ".+!_-"):
            fail("{}: version {} holds {}; expected a version as PEP 440 has it, like 7.10.0 or 7.10.0rc2. Set --{}=…".format(ctx.label, repr(version), repr(character), ctx.attr.version.label))
    return version

def escaped(name):
    """Returns a distribution's name as file names have it (PEP 427, PEP 625)."""
    for character in ["-", "."]:
        name = name.replace(character, "_")
    return name

def project_file(ctx):
    """Writes the JSON file with the distribution's metadata and returns it."""
    version = version_of(ctx)
    project = ctx.actions.declare_file(ctx.label.name + ".project.json")
    ctx.actions.write(project, json.encode({
        "classifiers": ctx.attr.classifiers,
        "distribution": ctx.attr.distribution,
        "dynamic": ctx.attr.dynamic,
        "license_expression": ctx.attr.license_expression,
        "license_files": [file.basename for file in ctx.files.licenses],
        "requires": [requirement.replace("{version}", version) for requirement in ctx.attr.requires],
        "requires_python": ctx.attr.requires_python,
        "summary": ctx.attr.summary,
        "urls": ctx.attr.urls,
        "version": version,
    }))
    return project

def project_args(args, ctx, project, metadata, digest):
    """Adds the arguments that link and sdist share."""
    args.add(project, format = "--project=%s")
    args.add(ctx.file.description, format = "--description=%s")
    args.add(metadata, format = "--metadata=%s")
    args.add(digest, format = "--digest=%s")
