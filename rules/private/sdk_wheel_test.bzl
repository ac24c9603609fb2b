"""sdk_wheel_test, sdk_wheel_set_test: check wheels, alone and together; sdk_install_test installs them."""

load("@rules_python//python:defs.bzl", "py_test")

visibility(["//rules"])

def _verify_config_impl(ctx):
    file = ctx.actions.declare_file(ctx.label.name + ".json")
    ctx.actions.write(file, ctx.attr.content)
    return [DefaultInfo(files = depset([file]))]

_verify_config = rule(
    doc = "Settings and exceptions of a test, as a file for verify.",
    implementation = _verify_config_impl,
    attrs = {"content": attr.string(mandatory = True, doc = "JSON document, see wheels/verify/settings.py.")},
)

def verify_exception(id, reason, wheel = "**", file = "**", evidence = "**", target = "**"):
    """Declares that a finding is accepted. An exception that matches no finding fails the test.

    Args:
        id: identifier of the rule, such as `W404`; docs/reference/verify-rules.md lists them.
        reason: why the finding is acceptable.
        wheel: pattern of the wheel's file name. In patterns `*` stops at `/`, `**` does not.
        file: pattern of the path in the wheel.
        evidence: pattern of the evidence.
        target: pattern of GPU targets, such as `gfx103*`. If a finding is about several targets, the others stay.

    Returns:
        an element for `exceptions`.
    """
    if not reason.strip():
        fail("verify_exception({}): no reason; say why the finding is acceptable".format(id))
    return struct(id = id, reason = reason, wheel = wheel, file = file, evidence = evidence, target = target)

def _verify_test(name, distributions, others, options, exceptions, settings, configs = [], last_release = [], **kwargs):
    if not distributions and not others:
        fail("{}: nothing to verify; expected labels of wheels".format(name))
    tags = kwargs.get("tags", [])
    _verify_config(
        name = name + ".config",
        content = json.encode_indent(struct(exception = exceptions, settings = settings)) + "\n",
        tags = ["manual"],
        testonly = True,
    )
    kwargs["tags"] = tags + ["block-network"]
    options = ["--config=$(rootpath {})".format(config) for config in configs] + options
    py_test(
        name = name,
        srcs = [Label("//wheels/verify:tool.py")],
        main = Label("//wheels/verify:tool.py"),
        args = ["--all"] + options + ["--config=$(rootpath :{}.config)".format(name)] +
               ["$(rootpaths {})".format(distribution) for distribution in distributions] +
               (["--others"] if others else []) +
               ["$(rootpaths {})".format(wheel) for wheel in others] +
               (["--last-release"] if last_release else []) +
               ["$(rootpaths {})".format(distribution) for distribution in last_release],
        data = distributions + others + last_release + [name + ".config"] + configs,
        # Otherwise a `tools` package of the calling module, among the data, would hide ours.
        legacy_create_init = 0,
        deps = [Label("//wheels/verify:library")],
        **kwargs
    )

def sdk_wheel_test(name, wheels = [], exceptions = [], settings = {}, others = [], **kwargs):
    """Checks each wheel by itself: archive, RECORD, metadata, ELF files, content.

    Args:
        name: name of the test.
        wheels: labels of wheels, or of directories of them, from any rule.
        exceptions: accepted findings, each a `verify_exception`.
        settings: limits and other settings, see docs/release/verify.md: `{"max_wheel_size": 100 << 20}`.
        others: labels of more wheels, or of directories of them, that others made, such as a `py_wheel`. Findings about
          their form are notes.
        **kwargs: further attributes of `py_test`.
    """
    _verify_test(name, wheels, others, ["--no-set"], exceptions, settings, **kwargs)

def sdk_wheel_set_test(name, distributions, exceptions = [], settings = {}, configs = [], others = [], targets = [], last_release = [], **kwargs):
    """Checks each wheel alone, and the set: installed side by side, the wheels must find what they need.

    Args:
        name: name of the test.
        distributions: labels of wheels and sdists, or of directories of them, such as an `sdk_index` or an
          `sdk_split_wheel` of the shape `local-versions`.
        exceptions: accepted findings, each a `verify_exception`.
        settings: limits, system libraries and other settings, see docs/release/verify.md.
        configs: labels of settings files (TOML or JSON), which `settings` overrides. For ROCm's packages use
          `@rules_rocm_python//packaging:verify.toml`.
        others: labels of more wheels, or of directories of them, that others made, such as a `py_wheel`. Findings about
          their form are notes.
        targets: GPU targets of machines, such as `gfx942`. The set is looked at as installed on each: with the packages
          and split wheels for it, and each library with code for it. Split wheels of one name need this.
        last_release: labels of the distributions of the last release, or of directories of them, such as an `http_file`.
          Libraries, symbols, files and requirements that are gone since are findings.
        **kwargs: further attributes of `py_test`.
    """
    options = ["--target=" + target for target in targets]
    _verify_test(name, distributions, others, options, exceptions, settings, configs, last_release, **kwargs)

def sdk_install_test(name, wheels, requirement, script = None, python = None, installer = "pip", env = {}, **kwargs):
    """Installs a requirement into a fresh environment, from the given wheels only, and runs a script there.

    Neither the installer nor the script has a network.

    Args:
        name: name of the test.
        wheels: labels of wheels and sdists, or of directories of them, such as an `sdk_index` or an `sdk_split_wheel`.
            From split wheels, installers take the local version that sorts last, unless the requirement names one.
        requirement: what to install (PEP 508), a string or a list: `rocm[libraries]`.
        script: Python file to run with the environment's interpreter. A copy runs in an empty directory, so that it
            imports what was installed. A non-zero exit code fails the test.
        python: interpreter of the environment, a path or a name on PATH. The default is the Python toolchain's.
        installer: `pip` (of the toolchain's interpreter) or `uv`.
        env: environment variables for the installer and the script.
        **kwargs: further attributes of `py_test`.
    """
    if installer not in ("pip", "uv"):
        fail("sdk_install_test({}): installer is {}; expected pip or uv".format(name, repr(installer)))
    requirements = [requirement] if type(requirement) == "string" else requirement
    tags = kwargs.pop("tags", [])
    deps = [Label("//lib/common:wheel_scripts")]
    py_test(
        name = name,
        srcs = [Label("//wheels/verify:install.py")],
        main = Label("//wheels/verify:install.py"),
        args = ["--installer=" + installer] +
               ["'--requirement={}'".format(one) for one in requirements] +
               (["--script=$(rootpath {})".format(script)] if script else []) +
               (["--python=" + python] if python else []) +
               ["'--env={}={}'".format(variable, value) for variable, value in sorted(env.items())] +
               ["$(rootpaths {})".format(wheel) for wheel in wheels],
        data = wheels + ([script] if script else []),
        # Otherwise a `tools` package of the calling module, among the data, would hide ours.
        legacy_create_init = 0,
        tags = tags + ["block-network"],
        deps = deps + ([Label("@pypi//uv")] if installer == "uv" else []),
        **kwargs
    )
