"""Versions, and the version suffix: part of the names of trees, so that two versions can be installed side by side."""

load("@bazel_skylib//rules:common_settings.bzl", "BuildSettingInfo")
load("//rules/shared:names.bzl", "shown")

visibility(["//rules/..."])

_IN_VERSIONS = "0123456789abcdefghijklmnopqrstuvwxyz.+!"

def check_version(version, where, flag):
    """Fails for what can be no version in the normal form of PEP 440: file names are made of it while Bazel analyses.

    What has no other characters is checked by the tools, with the library `packaging`.

    Args:
        version: string.
        where: string: what the error names.
        flag: string: the flag that sets the version, without `--`.
    """
    if not version[:1].isdigit() or version.strip(_IN_VERSIONS):
        fail("{}: '{}' is not a version in the normal form of PEP 440; expected a version such as 7.10.0, 7.10.0rc2 or 7.10.0.dev0. Set --{}".format(where, version, flag))

# Trees are directories named with the suffix, and file systems take names of 255 bytes.
_SUFFIX_MAX = 100

# Stands for the suffix in the name of a tree.
PLACEHOLDER = "{suffix}"

# The attribute that `with_suffix` reads. Add it to the attributes of a rule: `attrs = {…} | VERSION_SUFFIX_ATTRS`.
VERSION_SUFFIX_ATTRS = {
    "version_suffix": attr.label(
        providers = [BuildSettingInfo],
        doc = "Build setting with the version suffix, from `sdk_version`. `{suffix}` becomes `_` and the suffix, or nothing.",
    ),
}

def with_suffix(ctx, text):
    """Replaces `{suffix}` in the names of trees.

    Args:
        ctx: context of a rule with VERSION_SUFFIX_ATTRS.
        text: string, in which `{suffix}` stands for `_` and the suffix, or for nothing.

    Returns:
        the string with the suffix.
    """
    if PLACEHOLDER not in text:
        return text
    if not ctx.attr.version_suffix:
        fail("{}: {} contains {}, but version_suffix is not set; expected the suffix setting of an sdk_version".format(shown(ctx.label), repr(text), PLACEHOLDER))
    suffix = ctx.attr.version_suffix[BuildSettingInfo].value
    return text.replace(PLACEHOLDER, "_" + suffix if suffix else "")

def _version_suffix_impl(ctx):
    suffix = ctx.build_setting_value
    others = [character for character in suffix.elems() if not (character.isalnum() or character == "_")]
    if others or len(suffix) > _SUFFIX_MAX:
        has = "contains " + repr(others[0]) if others else "has {} characters".format(len(suffix))
        fail("{}: version suffix {} {}; expected at most {} letters, digits and `_`, like 7_10_0: trees are named with it. Set --{}=SUFFIX".format(shown(ctx.label), repr(suffix), has, _SUFFIX_MAX, shown(ctx.label)))
    return [BuildSettingInfo(value = suffix)]

version_suffix = rule(
    doc = "A build setting: the version suffix, of letters, digits and `_`; empty for none.",
    implementation = _version_suffix_impl,
    build_setting = config.string(flag = True),
)
