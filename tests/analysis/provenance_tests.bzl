"""Analysis tests of sdk_provenance: what a statement is told of, and output groups."""

load("@bazel_skylib//lib:unittest.bzl", "analysistest", "asserts")
load("@bazel_skylib//rules:common_settings.bzl", "string_flag")
load("//develop/testing:analysis.bzl", "actions_of", "after_prefix", "assert_hermetic")
load("//rules:sdk.bzl", "sdk_artifact", "sdk_package", "sdk_provenance", "sdk_wheel")

visibility("private")

_WHEEL = "my_sdk-1.0rc2-py3-none-linux_aarch64.whl"

def _provenance_impl(ctx):
    env = analysistest.begin(ctx)
    (action,) = actions_of(env, "RocmStatement")
    assert_hermetic(env, action)
    asserts.equals(env, [_WHEEL + ".provenance.json"], [file.basename for file in action.outputs.to_list()])
    own = "//tests/analysis:" + ctx.attr.subject
    asserts.equals(env, [own + "_wheel"], after_prefix(action.argv, "--distribution="))
    asserts.equals(env, ["SDK_TARGETS=gfx942"], after_prefix(action.argv, "--environment="))
    settings = after_prefix(action.argv, "--setting=")
    for setting in [own + "_version=1.0rc2", own + "_tag=linux_aarch64", "//rules/settings:devel_archive=none"]:
        asserts.true(env, setting in settings, "no {} in {}".format(setting, settings))
    materials = [path.rpartition("/")[2] for path in after_prefix(action.argv, "--material=")]
    for artifact in ["_below", "_artifact"]:
        asserts.true(env, ctx.attr.subject + artifact + ".material.json" in materials, "no {} in {}".format(artifact, materials))
    files = [one.partition("=")[0] for one in after_prefix(action.argv, "--file=")]
    for file in ["tools/actions/link_tool.pyz", "tools/actions/inspect_tool.pyz", "tests/analysis/{}_package.definition.json".format(ctx.attr.subject), "tests/analysis/description.md"]:
        asserts.true(env, file in files, "no {} in {}".format(file, files))
    asserts.false(env, "tests/analysis/data.txt" in files, "a file of an artifact by itself")
    groups = analysistest.target_under_test(env)[OutputGroupInfo]
    asserts.equals(env, [_WHEEL, _WHEEL + ".provenance.json"], sorted([file.basename for file in groups[_WHEEL].to_list()]))
    return analysistest.end(env)

_provenance_test = analysistest.make(_provenance_impl, attrs = {"subject": attr.string(doc = "What the names of the targets begin with.")})

def provenance_test_suite(name):
    """Declares the tests of sdk_provenance.

    Args:
        name: name of the suite.
    """
    string_flag(name = name + "_version", build_setting_default = "1.0rc2")
    string_flag(name = name + "_tag", build_setting_default = "linux_aarch64")
    for artifact in ["_below", "_artifact"]:
        sdk_artifact(name = name + artifact, srcs = {"data.txt": "lib/data"}, artifact_name = "mini" + artifact, component = "lib", tags = ["manual"])
    sdk_package(name = name + "_below_package", artifacts = [name + "_below"], package = "below", tags = ["manual"], tree = "_below")
    sdk_package(name = name + "_package", artifacts = [name + "_artifact"], builds_on = [name + "_below_package"], package = "mini", tags = ["manual"], tree = "_mini")
    sdk_wheel(
        name = name + "_wheel",
        description = "description.md",
        distribution = "my-sdk",
        license_expression = "MIT",
        package = name + "_package",
        platform_tag = name + "_tag",
        summary = "A test",
        tags = ["manual"],
        version = name + "_version",
    )
    sdk_provenance(name = name + "_statements", distributions = [name + "_wheel"], environment = {"SDK_TARGETS": "gfx942"}, tags = ["manual"])
    _provenance_test(name = name + "_test", subject = name, target_under_test = name + "_statements")
    native.test_suite(name = name, tests = [name + "_test"])
