"""options_flag: the build setting with options of clang for all HIP sources of a build."""

load("@bazel_skylib//rules:common_settings.bzl", "BuildSettingInfo")

visibility(["//hip"])

options_flag = rule(
    doc = "A build setting with a list of options, one in each use of the flag. So they may have commas.",
    implementation = lambda ctx: [BuildSettingInfo(value = ctx.build_setting_value)],
    build_setting = config.string_list(flag = True, repeatable = True),
)
