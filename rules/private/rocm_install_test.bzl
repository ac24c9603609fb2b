"""rocm_install_test: installs wheels into a fresh environment, from what was built alone, and runs a script there."""

load("@rules_python//python:defs.bzl", "py_test")

visibility(["//rules"])

def rocm_install_test(name, wheels, requirement, script = None, python = None, installer = "pip", env = {}, **kwargs):
    """Tests that a requirement can be installed from wheels that were built, and that what was installed works.

    There is no network: nothing but the wheels given can be found, neither by the installer nor by the script.

    Args:
        name: name of the test.
        wheels: labels of wheels and sdists, or of directories of them (`//packaging:dist`).
        requirement: what to install (PEP 508), one string or a list: `rocm[libraries]`.
        script: Python file of which the environment's interpreter runs a copy, in a directory of its own, so that it
            imports what was installed; an exit code other than 0 is a failure.
        python: interpreter of the environment, a path or a name on PATH; if None that of the Python toolchain.
        installer: `pip` (that of the toolchain's interpreter) or `uv`.
        env: variables for installer and script.
        **kwargs: further attributes of `py_test`.
    """
    if installer not in ("pip", "uv"):
        fail("rocm_install_test({}): installer is {}; expected pip or uv".format(name, repr(installer)))
    requirements = [requirement] if type(requirement) == "string" else requirement
    tags = kwargs.pop("tags", [])
    deps = [Label("//verify:xml_text"), Label("//tools/lib/common:wheel_scripts")]
    py_test(
        name = name,
        srcs = [Label("//verify:install.py")],
        main = Label("//verify:install.py"),
        args = ["--installer=" + installer] +
               ["'--requirement={}'".format(one) for one in requirements] +
               (["--script=$(rootpath {})".format(script)] if script else []) +
               (["--python=" + python] if python else []) +
               ["'--env={}={}'".format(variable, value) for variable, value in sorted(env.items())] +
               ["$(rootpaths {})".format(wheel) for wheel in wheels],
        data = wheels + ([script] if script else []),
        # Else a `tools` of the module that calls this, among the data, would hide ours.
        legacy_create_init = 0,
        tags = tags + ["block-network"],
        deps = deps + ([Label("@pypi//uv")] if installer == "uv" else []),
        **kwargs
    )
