"""Analysis tests of sdk_wheel, sdk_sdist, sdk_static_wheel and sdk_index: names, providers, what lies where, and errors."""

load("@bazel_skylib//lib:unittest.bzl", "analysistest", "asserts")
load("@bazel_skylib//rules:common_settings.bzl", "string_flag")
load("@bazel_skylib//rules:write_file.bzl", "write_file")
load("@rules_python//python:packaging.bzl", "PyWheelInfo")
load("//develop/testing:analysis.bzl", "actions_of", "assert_hermetic", "expect_failure")
load("//rules:providers.bzl", "DistributionInfo", "PackageInfo")
load(
    "//rules:sdk.bzl",
    "sdk_artifact",
    "sdk_index",
    "sdk_package",
    "sdk_sdist",
    "sdk_static_wheel",
    "sdk_wheel",
)
load("//rules:wheels.bzl", "sdk_split_wheel")
load("//tests/mini:like_py_wheel.bzl", "like_py_wheel")

visibility("private")

_WHEEL = "my_sdk_core-1.0rc2-py3-none-linux_aarch64.whl"
_VARIANT = "my_sdk-1.0rc2-py3-none-any-gfx110x_all.whl"

def _wheel_impl(ctx):
    env = analysistest.begin(ctx)
    target = analysistest.target_under_test(env)
    asserts.equals(env, _WHEEL, target[PyWheelInfo].wheel.basename)
    asserts.equals(env, target[PyWheelInfo].wheel, target[DistributionInfo].file)
    asserts.equals(env, [target[PyWheelInfo].wheel], target[DefaultInfo].files.to_list())
    asserts.equals(env, "mini", target[PackageInfo].definition.package)
    (link,) = actions_of(env, "RocmLink")
    assert_hermetic(env, link)

    # No flag can have a wheel made whose platform tag is not proven, or without its bill of materials.
    for mnemonic in ["RocmPlatformTag", "RocmSbom"]:
        (action,) = actions_of(env, mnemonic)
        assert_hermetic(env, action)
        asserts.true(env, action.outputs.to_list()[0] in link.inputs.to_list(), mnemonic + ": its output is no input of link")
    project = [json.decode(action.content) for action in actions_of(env, "FileWrite") if action.outputs.to_list()[0].basename.endswith(".project.json")][0]
    asserts.equals(env, ["my-sdk-base==1.0rc2", "my-sdk==1.0rc2"], project["requires"])
    asserts.equals(env, {"Issues": "https://example.com/issues"}, project["urls"])
    return analysistest.end(env)

_wheel_test = analysistest.make(_wheel_impl)

def _fits_impl(ctx):
    env = analysistest.begin(ctx)
    asserts.equals(env, 200, len(analysistest.target_under_test(env)[DistributionInfo].file.basename))
    return analysistest.end(env)

_fits_test = analysistest.make(_fits_impl)

def _license_patterns_impl(ctx):
    env = analysistest.begin(ctx)
    below_doc = ["share/doc/**/" + name for name in ["COPYING*", "LICENSE*", "NOTICE*", "copyright", "license*", "licensing/**"]]
    for mnemonic in ["RocmLink", "RocmSbom"]:
        (action,) = actions_of(env, mnemonic)
        found = [argument.removeprefix("--license-pattern=") for argument in action.argv if argument.startswith("--license-pattern=")]
        asserts.equals(env, below_doc + ["share/licenses/**"], found)
    return analysistest.end(env)

_license_patterns_test = analysistest.make(_license_patterns_impl)

def _licenses_impl(ctx):
    env = analysistest.begin(ctx)
    (link,) = actions_of(env, ctx.attr.mnemonic)
    project = [json.decode(action.content) for action in actions_of(env, "FileWrite") if action.outputs.to_list()[0].basename.endswith(".project.json")][0]
    texts = ["LICENSE", "tests/analysis/licences/LICENSE", "data.txt"]
    asserts.equals(env, texts, project["license_files"])
    files = [argument.removeprefix("--file=").partition("=")[0] for argument in link.argv if argument.startswith("--file=")]
    members = [path for path in files if "/licenses/" in path]
    asserts.equals(env, sorted(["{dist_info}/licenses/" + text for text in texts]), members)
    return analysistest.end(env)

_licenses_test = analysistest.make(_licenses_impl, attrs = {"mnemonic": attr.string(doc = "Mnemonic of the action that packs them.")})

def _sdist_impl(ctx):
    env = analysistest.begin(ctx)
    asserts.equals(env, "my_sdk-1.0rc2.tar.gz", analysistest.target_under_test(env)[DistributionInfo].file.basename)
    assert_hermetic(env, actions_of(env, "RocmSdist")[0])
    return analysistest.end(env)

_sdist_test = analysistest.make(_sdist_impl)

def _static_wheel_impl(ctx):
    env = analysistest.begin(ctx)
    target = analysistest.target_under_test(env)
    wheel = target[DistributionInfo].file
    asserts.equals(env, "my_sdk-1.0rc2-py3-none-any.whl", wheel.basename)
    asserts.true(env, wheel.dirname.endswith("/static"), "installers prefer it to the sdist, so it lies apart: " + wheel.path)
    asserts.equals(env, wheel, target[PyWheelInfo].wheel)
    assert_hermetic(env, actions_of(env, "RocmStaticWheel")[0])
    return analysistest.end(env)

_static_wheel_test = analysistest.make(_static_wheel_impl)

def _variant_impl(ctx):
    env = analysistest.begin(ctx)
    info = analysistest.target_under_test(env)[DistributionInfo]
    asserts.equals(env, _VARIANT, info.file.basename)
    asserts.false(env, info.file.dirname.endswith("/static"), "installers ignore the label or know it: " + info.file.path)
    (action,) = actions_of(env, "RocmStaticWheel")
    asserts.true(env, info.variant in action.outputs.to_list(), "the index reads it")
    asserts.equals(env, ["gfx1100", "gfx1101"], [argument.partition("=")[2] for argument in action.argv if argument.startswith("--variant-target=")])
    assert_hermetic(env, action)
    return analysistest.end(env)

_variant_test = analysistest.make(_variant_impl)

def _index_impl(ctx):
    env = analysistest.begin(ctx)
    (directory,) = analysistest.target_under_test(env)[DefaultInfo].files.to_list()
    asserts.true(env, directory.is_directory)
    (index,) = actions_of(env, "RocmIndex")
    assert_hermetic(env, index)
    names = [file.basename for file in index.inputs.to_list()]
    for name in [_WHEEL, _VARIANT, _VARIANT + ".variant.json"]:
        asserts.true(env, name in names, name)
    return analysistest.end(env)

_index_test = analysistest.make(_index_impl)

def _whole_index_impl(ctx):
    env = analysistest.begin(ctx)
    (index,) = actions_of(env, "RocmIndex")
    assert_hermetic(env, index)
    described = actions_of(env, "RocmDescribe")
    asserts.equals(env, 3, len(described), "a wheel as py_wheel provides it, a file, and a directory")
    for action in described:
        assert_hermetic(env, action)
        asserts.true(env, action.outputs.to_list()[0] in index.inputs.to_list(), "what it says is no input of the index")
    names = [file.basename for action in described for file in action.inputs.to_list()]
    asserts.true(env, ctx.attr.subject + "_py.name" in names, "the true name is in the name file")
    asserts.true(env, ctx.attr.subject + "_split" in names, "the directory is read as it is")
    return analysistest.end(env)

_whole_index_test = analysistest.make(_whole_index_impl, attrs = {"subject": attr.string(doc = "What the names of its targets begin with.")})

def _project(name, version):
    return dict(
        name = name,
        description = "description.md",
        license_expression = "MIT",
        summary = "A small SDK",
        tags = ["manual"],
        version = version,
    )

def _placed_tests(name):
    """Declares tests of what lies where: nothing is lost of two files for one path, or of a target that has several.

    Args:
        name: what their names begin with.

    Returns:
        list of their names.
    """
    wheel_attributes = dict(package = name + "_package", platform_tag = name + "_tag")
    licenses = ["//:LICENSE", name + "_license", "data.txt"]
    write_file(name = name + "_license", out = "licences/LICENSE", content = ["The other licence", ""], tags = ["manual"])
    native.filegroup(name = name + "_several", srcs = ["data.txt", "description.md"], tags = ["manual"])
    native.filegroup(name = name + "_elsewhere", srcs = ["data.txt", "//:LICENSE"], tags = ["manual"])
    sdk_wheel(distribution = "my-licences", license_files = licenses, **(wheel_attributes | _project(name + "_licenses", name + "_version")))
    sdk_static_wheel(distribution = "my-licences", license_files = licenses, **_project(name + "_static_licenses", name + "_version"))
    _licenses_test(name = name + "_licenses_test", mnemonic = "RocmLink", target_under_test = name + "_licenses")
    _license_patterns_test(name = name + "_license_patterns_test", target_under_test = name + "_licenses")
    _licenses_test(name = name + "_static_licenses_test", mnemonic = "RocmStaticWheel", target_under_test = name + "_static_licenses")
    both = "//tests/analysis:data.txt and {} are both placed at {}; expected one file per path. Change one of the paths"
    cases = {
        "alike": (dict(files = {"data.txt": "a/b", "description.md": "a/b"}), both.format("//tests/analysis:description.md", "a/b")),
        "absolute": (dict(files = {"data.txt": "/a/b"}), "path \"/a/b\": expected a relative path without '..', '.' or empty parts"),
        "not_normal": (dict(files = {"data.txt": "a//b"}), "path \"a//b\": expected a relative path without '..', '.' or empty parts"),
        "outside": (dict(files = {"data.txt": "a/../../b"}), "path \"a/../../b\": expected a relative path without '..', '.' or empty parts"),
        "several": (dict(files = {name + "_several": "a/b"}), "expected one regular file, to be placed at a/b"),
    }
    wheel_license = dict(files = {"data.txt": "{dist_info}/licenses/LICENSE"}, license_files = ["//:LICENSE"])
    clash = dict(files = {"data.txt": "description.md"}, sources = name + "_several")
    subjects = [
        (kind, make, case, attributes, message)
        for kind, make in [("sdist", sdk_sdist), ("static", sdk_static_wheel), ("wheel", sdk_wheel)]
        for case, (attributes, message) in cases.items()
    ] + [
        ("sdist", sdk_sdist, "clash", clash, both.format("//tests/analysis:description.md", "description.md")),
        ("sdist", sdk_sdist, "elsewhere", dict(sources = name + "_elsewhere"), "has LICENSE, which is not below tests/analysis/; expected files of that package"),
        ("static", sdk_static_wheel, "stripped", dict(sources = name + "_several", strip_prefix = "src"), "has no file below tests/analysis/src/; expected at least one"),
        ("wheel", sdk_wheel, "license", wheel_license, both.format("//:LICENSE", "{dist_info}/licenses/LICENSE")),
    ]
    tests = [name + suffix for suffix in ["_licenses_test", "_license_patterns_test", "_static_licenses_test"]]
    for kind, make, case, attributes, message in subjects:
        subject = "{}_{}_{}".format(name, kind, case)
        more = wheel_attributes if kind == "wheel" else {}
        make(distribution = "my-sdk", **(more | attributes | _project(subject, name + "_version")))
        tests.append(expect_failure(subject + "_test", subject, [message]))
    return tests

def _long_name_tests(name):
    """Declares tests of file names of 200 and 201 bytes.

    Args:
        name: what their names begin with.

    Returns:
        list of their names.
    """
    wheel_attributes = dict(package = name + "_package", platform_tag = name + "_tag")
    tests = []
    for kind, make, end, more in [
        ("sdist", sdk_sdist, ".tar.gz", {}),
        ("static", sdk_static_wheel, "-py3-none-any.whl", {}),
        ("wheel", sdk_wheel, "-py3-none-linux_aarch64.whl", wheel_attributes),
    ]:
        fits, long = "{}_{}_200".format(name, kind), "{}_{}_201".format(name, kind)
        version = "9" * (201 - len("my_sdk-" + end))
        for subject, value in [(fits, version[1:]), (long, version)]:
            string_flag(name = subject + "_version", build_setting_default = value)
            make(distribution = "my-sdk", **(more | _project(subject, subject + "_version")))
        _fits_test(name = fits + "_test", target_under_test = fits)
        message = "the file name my_sdk-{}{} has 201 bytes; expected at most 200: file systems take 255".format(version, end)
        expect_failure(long + "_test", long, [message, "--//tests/analysis:{}_version=VERSION".format(long)])
        tests += [fits + "_test", long + "_test"]
    return tests

def _whole_index_tests(name):
    """Declares tests of an index over what others made.

    Args:
        name: what their names begin with.

    Returns:
        list of their names.
    """
    write_file(name = name + "_file", out = "whole-1.0-py3-none-any.whl", tags = ["manual"])
    like_py_wheel(name = name + "_py", tags = ["manual"], wheel = "whole-1.0-py3-none-any.whl")
    sdk_split_wheel(name = name + "_split", tags = ["manual"], targets = ["gfx942"], wheel = "whole-1.0-py3-none-any.whl")
    sdk_index(name = name + "_index", distributions = [name + "_py", "whole-1.0-py3-none-any.whl", name + "_split"], tags = ["manual"])
    native.filegroup(name = name + "_texts", srcs = ["data.txt"], tags = ["manual"])
    sdk_index(name = name + "_bad_index", distributions = [name + "_texts"], tags = ["manual"])
    _whole_index_test(name = name + "_index_test", subject = name, target_under_test = name + "_index")
    return [
        name + "_index_test",
        expect_failure(name + "_bad_index_test", name + "_bad_index", [name + "_texts has data.txt; expected distributions of these rules, a py_wheel"]),
    ]

def wheel_test_suite(name):
    """Declares the tests of sdk_wheel, sdk_sdist, sdk_static_wheel and sdk_index.

    Args:
        name: name of the suite.
    """
    string_flag(name = name + "_version", build_setting_default = "1.0rc2")
    string_flag(name = name + "_bad_version", build_setting_default = "1.0/../x")
    string_flag(name = name + "_tag", build_setting_default = "linux_aarch64")
    string_flag(name = name + "_url", build_setting_default = "https://example.com/issues")
    sdk_artifact(name = name + "_artifact", srcs = {"data.txt": "lib/data"}, artifact_name = "mini", component = "lib", tags = ["manual"])
    sdk_package(name = name + "_package", artifacts = [name + "_artifact"], package = "mini", tags = ["manual"], tree = "_mini")
    sdk_wheel(
        distribution = "my-sdk.core",
        issues_url = name + "_url",
        package = name + "_package",
        platform_tag = name + "_tag",
        requires = ["my-sdk-base=={version}"],
        requires_distributions = [name + "_sdist"],
        **_project(name + "_subject", name + "_version")
    )
    sdk_wheel(distribution = "my-sdk", package = name + "_package", platform_tag = name + "_tag", **_project(name + "_bad", name + "_bad_version"))
    sdk_package(name = name + "_devel_package", artifacts = [name + "_artifact"], kind = "devel", package = "devel", tags = ["manual"], tree = "_devel")
    sdk_wheel(distribution = "my-sdk-devel", package = name + "_devel_package", platform_tag = name + "_tag", **_project(name + "_nameless_devel", name + "_version"))
    sdk_wheel(console_scripts = "manifest.json", distribution = "my-sdk", package = name + "_package", platform_tag = name + "_tag", **_project(name + "_nameless_scripts", name + "_version"))
    sdk_wheel(console_scripts = "manifest.json", distribution = "my-sdk", import_name = "my_sdk", package = name + "_package", platform_tag = name + "_tag", **_project(name + "_bare_scripts", name + "_version"))
    sdk_wheel(distribution = "my-sdk", package = name + "_package", platform_tag = name + "_tag", python_packages = "manifest.json", **_project(name + "_nameless_packages", name + "_version"))
    sdk_wheel(distribution = "my-sdk-devel", import_name = "my_sdk", package = name + "_devel_package", platform_tag = name + "_tag", python_packages = "manifest.json", **_project(name + "_archived_packages", name + "_version"))
    sdk_sdist(distribution = "my-sdk", files = {"data.txt": "data.txt"}, **_project(name + "_sdist", name + "_version"))
    sdk_static_wheel(distribution = "my-sdk", files = {"data.txt": "my_sdk/data.txt"}, **_project(name + "_static", name + "_version"))
    sdk_static_wheel(
        distribution = "my-sdk",
        files = {"data.txt": "my_sdk/data.txt"},
        variant = "gfx110x_all",
        variant_targets = ["gfx1100", "gfx1101"],
        **_project(name + "_variant", name + "_version")
    )
    sdk_static_wheel(distribution = "my-sdk", variant = "gfx942", **_project(name + "_targetless", name + "_version"))
    sdk_index(
        name = name + "_index",
        distributions = [name + "_subject", name + "_sdist", name + "_variant"],
        static = [name + "_static"],
        tags = ["manual"],
    )

    _wheel_test(name = name + "_wheel_test", target_under_test = name + "_subject")
    _sdist_test(name = name + "_sdist_test", target_under_test = name + "_sdist")
    _static_wheel_test(name = name + "_static_wheel_test", target_under_test = name + "_static")
    _variant_test(name = name + "_variant_test", target_under_test = name + "_variant")
    expect_failure(name + "_targetless_test", name + "_targetless", ["variant = \"gfx942\", variant_targets = []; expected both, or neither"])
    _index_test(name = name + "_index_test", target_under_test = name + "_index")
    messages = ["'1.0/../x' is not a version in the normal form of PEP 440", "expected a version such as 7.10.0", "Set --//tests/analysis:wheel_bad_version"]
    expect_failure(name + "_bad_version_test", name + "_bad", messages)
    nameless = "import_name: expected the name of the Python package that has "
    expect_failure(name + "_nameless_devel_test", name + "_nameless_devel", [nameless + "the manifest of a devel package; found none"])
    expect_failure(name + "_nameless_scripts_test", name + "_nameless_scripts", [nameless + "the functions of console_scripts; found none"])
    expect_failure(name + "_nameless_packages_test", name + "_nameless_packages", [nameless + "a path configuration file for python_packages; found none"])
    expect_failure(name + "_bare_scripts_test", name + "_bare_scripts", ["//tests/analysis:wheel_bare_scripts: files: expected my_sdk/_cli.py, with the functions of console_scripts; found none. Write it, and name it in files"])
    expect_failure(name + "_archived_packages_test", name + "_archived_packages", ["python_packages: expected none, because the tree of a devel package may be in an archive. Put them into a runtime package"])
    tests = [name + suffix for suffix in ["_wheel_test", "_sdist_test", "_static_wheel_test", "_variant_test", "_targetless_test", "_index_test", "_bad_version_test", "_nameless_devel_test", "_nameless_scripts_test", "_bare_scripts_test", "_nameless_packages_test", "_archived_packages_test"]]
    native.test_suite(name = name, tests = tests + _placed_tests(name) + _long_name_tests(name) + _whole_index_tests(name + "_whole"))
