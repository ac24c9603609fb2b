"""Analysis tests of sdk_version: the version of every kind, the suffix, and what is refused."""

load("@bazel_skylib//lib:unittest.bzl", "analysistest", "asserts")
load("@bazel_skylib//rules:common_settings.bzl", "BuildSettingInfo")
load("//develop/testing:analysis.bzl", "actions_of", "expect_failure")
load("//packaging:package_targets.bzl", "names_file")
load("//rules:providers.bzl", "PackageInfo")
load("//rules:sdk.bzl", "sdk_artifact", "sdk_package", "sdk_version")

visibility("private")

_COMMIT = "efed3c3b10a5cce8578f58f8eb288582c26d18c4"

# Name -> (kind, serial, version).
_VERSIONS = {
    "bkc": ("bkc", "20260811.20260814", "7.10.0a20260811+bkc.20260814"),
    "dev": ("dev", "", "7.10.0.dev0"),
    "dev_dated": ("dev", "20251021.0123456", "7.10.0.dev0+20251021.g0123456"),
    "dev_long": ("dev", _COMMIT, "7.10.0.dev0+20251124.g" + _COMMIT),
    "dev_short": ("dev", "0123456", "7.10.0.dev0+g0123456"),
    "dev_stamped": ("dev", "stamp", "7.10.0.dev0+20251124.g" + _COMMIT),
    "nightly": ("nightly", "20251021", "7.10.0a20251021"),
    "nightly_august": ("nightly", "20250809", "7.10.0a20250809"),
    "nightly_by_default": ("nightly", "", "7.10.0a20251124"),
    "nightly_stamped": ("nightly", "stamp", "7.10.0a20251124"),
    "prerelease": ("prerelease", "2", "7.10.0rc2"),
    "prerelease_first": ("prerelease", "0", "7.10.0rc0"),
    "release": ("release", "", "7.10.0"),
}

# Name -> (kind, serial, what the error says). The commit is not known here.
_REFUSED = {
    "bkc_none": ("bkc", "", ["kind `bkc` with serial \"\"", "expected the date of the nightly that the build is based on", "_serial=20260811.20260814"]),
    "bkc_one_date": ("bkc", "20260811", ["YYYYMMDD.YYYYMMDD"]),
    "dev_no_date": ("dev", "2025.0123456", ["expected a commit", "which may follow its date (20251021.efed3c3b10a5)"]),
    "dev_named": ("dev", "main", ["kind `dev` with serial \"main\"", "expected a commit, of 7 to 40 hexadecimal digits", "_serial=efed3c3b10a5"]),
    "dev_too_short": ("dev", "abc", ["expected a commit"]),
    "dev_unstamped": ("dev", "stamp", ["the commit is not known", "_serial=efed3c3b10a5"]),
    "nightly_no_date": ("nightly", "", ["expected a date, YYYYMMDD", "the commit is not known", "_serial=20251021"]),
    "nightly_number": ("nightly", "3", ["kind `nightly` with serial \"3\"", "expected a date, YYYYMMDD"]),
    "nightly_no_day": ("nightly", "20251032", ["expected a date, YYYYMMDD"]),
    "nightly_no_month": ("nightly", "20251321", ["expected a date, YYYYMMDD"]),
    "prerelease_none": ("prerelease", "", ["expected the number of the release candidate", "_serial=2"]),
    "prerelease_padded": ("prerelease", "02", ["without leading zeros"]),
    "prerelease_stamped": ("prerelease", "stamp", ["expected the number of the release candidate"]),
    "release_serial": ("release", "2", ["kind `release` with serial \"2\"", "expected no serial: a release is 7.10.0 itself", "Leave out --"]),
}

# Name -> (version as given, what the error says).
_WRONG = {
    "no_version": ("nonsense", ["'nonsense' is not a version in the normal form of PEP 440", "expected a version such as 7.10.0"]),
    "not_normal": ("7.10.0-RC2", ["'7.10.0-RC2' is not a version in the normal form of PEP 440"]),
}

def _is_impl(ctx):
    env = analysistest.begin(ctx)
    target = analysistest.target_under_test(env)
    asserts.equals(env, ctx.attr.version, target[BuildSettingInfo].value)
    (text,) = actions_of(env, "FileWrite")
    asserts.equals(env, ctx.attr.version + "\n", text.content)
    return analysistest.end(env)

_is_test = analysistest.make(_is_impl, attrs = {"version": attr.string(doc = "The version.")})

def _overridden_impl(ctx):
    env = analysistest.begin(ctx)
    asserts.equals(env, "9!1.0.post1", analysistest.target_under_test(env)[BuildSettingInfo].value)
    return analysistest.end(env)

_overridden_test = analysistest.make(
    _overridden_impl,
    config_settings = {str(Label("//tests/analysis:version_overridden")): "9!1.0.post1"},
)

def _written(env, ending):
    """Returns the content of the one file that the target under test writes under such a name."""
    (action,) = [action for action in actions_of(env, "FileWrite") if action.outputs.to_list()[0].basename.endswith(ending)]
    return json.decode(action.content)

def _suffixed_impl(ctx):
    env = analysistest.begin(ctx)
    definition = _written(env, ".definition.json")
    asserts.equals(env, "_mini" + ctx.attr.tail, definition["tree"])
    asserts.equals(env, ["_mini{}/lib".format(ctx.attr.tail), "_other{}/lib".format(ctx.attr.tail), "_plain/lib"], definition["rpath"])
    asserts.equals(env, "_mini" + ctx.attr.tail, analysistest.target_under_test(env)[PackageInfo].definition.tree)
    return analysistest.end(env)

_SUFFIX = str(Label("//tests/analysis:version_plain_suffix"))
_TAIL = {"tail": attr.string(doc = "What follows the trees' names.")}
_suffixed_test = analysistest.make(_suffixed_impl, attrs = _TAIL, config_settings = {_SUFFIX: "7_10"})
_unsuffixed_test = analysistest.make(_suffixed_impl, attrs = _TAIL)

def _names_impl(ctx):
    env = analysistest.begin(ctx)
    asserts.equals(env, {"tree": "_mini_7_10", "target": "{target}", "version": "7.10.0.dev0"}, _written(env, ".json"))
    return analysistest.end(env)

_names_test = analysistest.make(_names_impl, config_settings = {_SUFFIX: "7_10"})

def _bad_suffix_impl(ctx):
    env = analysistest.begin(ctx)
    asserts.expect_failure(env, "version suffix \"7.10\" contains \".\"; expected at most 100 letters, digits and `_`, like 7_10_0")
    return analysistest.end(env)

_bad_suffix_test = analysistest.make(_bad_suffix_impl, config_settings = {_SUFFIX: "7.10"}, expect_failure = True)

def _long_suffix_impl(ctx):
    env = analysistest.begin(ctx)
    asserts.expect_failure(env, "version suffix \"{}\" has 101 characters; expected at most 100".format("7" * 101))
    return analysistest.end(env)

_long_suffix_test = analysistest.make(_long_suffix_impl, config_settings = {_SUFFIX: "7" * 101}, expect_failure = True)

def _package(name, suffix):
    sdk_package(
        name = name,
        artifacts = ["version_artifact"],
        package = "mini",
        rpath = ["_mini{suffix}/lib", "_other{suffix}/lib", "_plain/lib"],
        tags = ["manual"],
        tree = "_mini{suffix}",
        version_suffix = suffix,
    )

def version_test_suite(name):
    """Declares the tests of sdk_version.

    Args:
        name: name of the suite.
    """
    tests = []
    for case, (kind, serial, version) in _VERSIONS.items():
        subject = "{}_{}".format(name, case)
        sdk_version(name = subject, base = "7.10.0", commit = _COMMIT, commit_date = "20251124", kind = kind, serial = serial, tags = ["manual"])
        _is_test(name = subject + "_test", target_under_test = subject, version = version)
        tests.append(subject + "_test")
    for case, (kind, serial, messages) in _REFUSED.items():
        subject = "{}_refused_{}".format(name, case)
        sdk_version(name = subject, base = "7.10.0", kind = kind, serial = serial, tags = ["manual"])
        tests.append(expect_failure(subject + "_test", subject, messages))

    sdk_version(name = name + "_overridden", base = "7.10.0", kind = "prerelease", tags = ["manual"])
    _overridden_test(name = name + "_overridden_test", target_under_test = name + "_overridden")
    sdk_version(name = name + "_base", base = "7.10.0rc1", tags = ["manual"])
    tests += [
        name + "_overridden_test",
        expect_failure(name + "_base_test", name + "_base", ["base \"7.10.0rc1\"", "expected numbers separated by dots, such as 7.10.0"]),
    ]
    for case, (version, messages) in _WRONG.items():
        subject = "{}_{}".format(name, case)
        sdk_version(name = subject, base = "7.10.0", tags = ["manual"], version = version)
        tests.append(expect_failure(subject + "_test", subject, messages))

    sdk_version(name = name + "_plain", base = "7.10.0", tags = ["manual"])
    sdk_artifact(name = name + "_artifact", srcs = {"data.txt": "lib/data"}, artifact_name = "mini", component = "lib", tags = ["manual"])
    _package(name + "_package", name + "_plain_suffix")
    _package(name + "_unsettled", None)
    _suffixed_test(name = name + "_suffixed_test", tail = "_7_10", target_under_test = name + "_package")
    _unsuffixed_test(name = name + "_unsuffixed_test", tail = "", target_under_test = name + "_package")
    _bad_suffix_test(name = name + "_bad_suffix_test", target_under_test = name + "_plain_suffix")
    _long_suffix_test(name = name + "_long_suffix_test", target_under_test = name + "_plain_suffix")
    names_file(
        name = name + "_names",
        content = json.encode({"target": "{target}", "tree": "_mini{suffix}", "version": "{version}"}),
        tags = ["manual"],
        version = name + "_plain",
        version_suffix = name + "_plain_suffix",
    )
    _names_test(name = name + "_names_test", target_under_test = name + "_names")
    tests += [name + "_{}_test".format(case) for case in ["suffixed", "unsuffixed", "bad_suffix", "long_suffix", "names"]]
    tests.append(expect_failure(name + "_unsettled_test", name + "_unsettled", ["contains {suffix}", "version_suffix is not set"]))
    native.test_suite(name = name, tests = tests)
