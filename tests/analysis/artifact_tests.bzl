"""Analysis tests of sdk_artifact and catalogued_artifact: what it declares, and what it says of bad input."""

load("@bazel_skylib//lib:unittest.bzl", "analysistest", "asserts")
load("//develop/testing:analysis.bzl", "actions_of", "assert_hermetic", "expect_failure")
load("//rules:catalog.bzl", "catalogued_artifact")
load("//rules:providers.bzl", "ArtifactInfo")
load("//rules:sdk.bzl", "sdk_artifact")

visibility("private")

def _declares_impl(ctx):
    env = analysistest.begin(ctx)
    info = analysistest.target_under_test(env)[ArtifactInfo]
    asserts.equals(env, ("mini_sdk", "lib", "gfx942:xnack+"), (info.artifact_name, info.component, info.target))
    asserts.equals(env, ["mini_sdk_lib_gfx942%3Axnack+/small"], [unit.id for unit in info.units])
    inspect = actions_of(env, "RocmInspect")
    asserts.equals(env, 1, len(inspect))
    assert_hermetic(env, inspect[0])
    (write,) = [action for action in analysistest.target_actions(env) if action.mnemonic == "FileWrite" and "manifest" in action.outputs.to_list()[0].basename]
    manifest = json.decode(write.content)
    asserts.equals(env, "mini_sdk_lib_gfx942:xnack+", manifest["artifact"])
    asserts.equals(
        env,
        [
            ("lib/data", "file", "0444"),
            ("lib/link", "link", "data"),
            ("share/empty", "directory", "0755"),
            ("share/text/description.md", "file", None),
        ],
        [(entry["path"], entry["kind"], entry.get("target", entry.get("mode"))) for entry in manifest["entries"]],
    )
    return analysistest.end(env)

_declares_test = analysistest.make(_declares_impl)

def _artifact(name, **kwargs):
    sdk_artifact(name = name, artifact_name = "mini_sdk", component = "lib", tags = ["manual"], **kwargs)
    return name

def artifact_test_suite(name):
    """Declares the tests of sdk_artifact.

    Args:
        name: name of the suite.
    """
    good = _artifact(
        name = name + "_good",
        srcs = {"data.txt": "lib/data"},
        directories = ["share/empty"],
        files = ["description.md"],
        links = {"lib/link": "data"},
        modes = {"lib/data": "0444"},
        prefix = "share/text",
        strip_prefix = "tests/analysis",
        target = "gfx942:xnack+",
    )
    _declares_test(name = name + "_declares_test", target_under_test = good)
    both = "//tests/analysis:data.txt and {} are both placed at lib/x; expected one file per path. Change one of the paths"
    mode = "modes: \"lib/x\" has the mode \"{}\", which is not allowed in packages; expected one of 0644, 0755, 0444, 0555"
    outside = "leads outside the artifact tree; expected a relative link that stays inside"
    cases = {
        "absolute_link": (dict(links = {"lib/x": "/etc/passwd"}), ["the link lib/x -> /etc/passwd", outside]),
        "absolute_path": (dict(srcs = {"data.txt": "/lib/x"}), ["path \"/lib/x\": expected a relative path without '..'"]),
        "file_and_directory": (dict(srcs = {"data.txt": "lib/x"}, directories = ["lib/x"]), [both.format("an empty directory")]),
        "file_and_link": (dict(srcs = {"data.txt": "lib/x"}, links = {"lib/x": "y"}), [both.format("a link to y")]),
        "file_and_placed_file": (
            dict(srcs = {"data.txt": "lib/x"}, files = ["description.md"], prefix = "lib/x", strip_prefix = "tests/analysis"),
            ["//tests/analysis:data.txt is placed at lib/x, and //tests/analysis:description.md below it, at lib/x/description.md"],
        ),
        "file_below_file": (
            dict(srcs = {"data.txt": "lib/x", "description.md": "lib/x/y"}),
            ["//tests/analysis:data.txt is placed at lib/x, and //tests/analysis:description.md below it, at lib/x/y; expected a file or a directory"],
        ),
        "link_outside": (dict(links = {"lib/x": "../../x"}), ["the link lib/x -> ../../x", outside]),
        "mode_for_all_to_write": (dict(srcs = {"data.txt": "lib/x"}, modes = {"lib/x": "0777"}), [mode.format("0777")]),
        "mode_in_words": (dict(srcs = {"data.txt": "lib/x"}, modes = {"lib/x": "rwxr-xr-x"}), [mode.format("rwxr-xr-x")]),
        "mode_set_user_id": (dict(srcs = {"data.txt": "lib/x"}, modes = {"lib/x": "4755"}), [mode.format("4755")]),
        "parent_path": (dict(srcs = {"data.txt": "lib/../../x"}), ["path \"lib/../../x\": expected a relative path without '..'"]),
        "path_not_normal": (dict(srcs = {"data.txt": "lib/./x"}), ["path \"lib/./x\": expected a relative path without '..', '.' or empty parts"]),
        "prefix_outside": (
            dict(files = ["data.txt"], prefix = "../x", strip_prefix = "tests/analysis"),
            ["path \"../x/data.txt\": expected a relative path without '..'"],
        ),
        "several_files": (dict(srcs = {":" + name + "_several": "lib/x"}), ["expected one regular file, to be placed at lib/x"]),
        "strip_prefix_of_another_directory": (
            dict(files = ["data.txt"], strip_prefix = "tests/anal"),
            ["files: \"tests/analysis/data.txt\" is not below strip_prefix \"tests/anal\"; expected only files below it"],
        ),
        "target_with_underscore": (
            dict(target = "gfx_942"),
            ["artifact \"mini_sdk_lib_gfx_942\": expected {name}_{component}_{target}, with a component of lib, run, dev, dbg, doc, test and a target without `_`"],
        ),
        "two_files": (dict(srcs = {"data.txt": "lib/x", "description.md": "lib/x"}), [both.format("//tests/analysis:description.md")]),
        "unknown_mode": (dict(modes = {"lib/x": "0755"}), ["modes: \"lib/x\" is not a path of this artifact"]),
    }
    native.filegroup(name = name + "_several", srcs = ["BUILD.bazel", "data.txt"], tags = ["manual"])
    tests = [name + "_declares_test"]
    for case, (attributes, messages) in cases.items():
        subject = _artifact(name = "{}_{}".format(name, case), **attributes)
        tests.append(expect_failure("{}_{}_test".format(name, case), subject, messages))
    catalogued_artifact(
        name = name + "_uneven",
        artifact_name = "mini",
        big_manifests = ["manifest.json"],
        big_srcs = ["data.txt"],
        big_threads = [],
        component = "lib",
        manifest = "manifest.json",
        small_manifest = "manifest.json",
        tags = ["manual"],
        target = "generic",
    )
    tests.append(expect_failure(name + "_uneven_test", name + "_uneven", ["1 big_srcs, 1 big_manifests, 0 big_threads; expected the same number of each"]))
    native.test_suite(name = name, tests = tests)
