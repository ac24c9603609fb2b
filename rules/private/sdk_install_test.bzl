"""sdk_install_test: installs built wheels into a fresh environment, and runs a script there."""

load("@rules_python//python:defs.bzl", "py_test")

visibility(["//rules"])

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
