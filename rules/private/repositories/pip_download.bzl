"""Fetches one hash-locked wheel or sdist with pip, from whatever index pip is set up for."""

load(":run_program.bzl", "fetching_python")

visibility(["//rules/private/repositories/..."])

# pip asks the build backend of an sdist for its name before it keeps the file, and would make an environment for that.
# This module answers in the backend's place: nothing that was fetched is run.
_BACKEND = """\
import os

def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    os.mkdir(metadata_directory + "/{name}-{version}.dist-info")
    with open(metadata_directory + "/{name}-{version}.dist-info/METADATA", "w") as metadata:
        metadata.write("Metadata-Version: 2.1\\nName: {name}\\nVersion: {version}\\n")
    return "{name}-{version}.dist-info"
"""

def _download(rctx, requirement, hashes, options, environment = {}):
    """Runs `pip download` into `.download` and returns the path of the one file that it left there."""
    python = fetching_python(rctx, "{}: fetching {} from the Python package index".format(rctx.name, requirement), with_pip = True)
    rctx.file("requirements.txt", "{} {}\n".format(
        requirement,
        " ".join(["--hash=" + digest for digest in hashes]),
    ))
    rctx.report_progress("pip download " + requirement)
    command = python + ["-m", "pip", "download", "--quiet", "--no-deps", "--require-hashes", "--disable-pip-version-check"]
    result = rctx.execute(
        command + ["--dest=.download", "--requirement=requirements.txt"] + options,
        environment = environment,
        timeout = 1200,
    )
    rctx.delete("requirements.txt")
    if result.return_code != 0:
        fail("{}: pip could not fetch {}: {}\nCheck pip's configuration (`python3 -m pip config list`) and the network.".format(
            rctx.name,
            requirement,
            result.stderr.strip() or result.stdout.strip(),
        ))
    files = rctx.path(".download").readdir()
    if len(files) != 1:
        fail("{}: expected pip to leave one file for {}, found {}".format(rctx.name, requirement, files))
    return files[0]

def pip_download_wheel(rctx, requirement, hashes):
    """Downloads one wheel into the repository and returns its path.

    pip is used, not `rctx.download`, because the machine's pip configuration knows
    the index, its mirrors and its credentials; the hashes are what makes it safe.

    Args:
        rctx: the repository context.
        requirement: a pinned requirement, `name==version`.
        hashes: the accepted `sha256:…` digests, one of which pip insists on.

    Returns:
        The `path` of the wheel as a zip archive, inside the directory `.download`.
    """
    wheel = _download(rctx, requirement, hashes, ["--only-binary=:all:"])

    # A wheel is a zip archive; `extract` goes by the name, and not every version of Bazel knows `.whl`.
    rctx.symlink(wheel, ".download/wheel.zip")
    return rctx.path(".download/wheel.zip")

def pip_download_sdist(rctx, requirement, hashes, backend):
    """Downloads one source distribution into the repository and returns its path.

    Args:
        rctx: the repository context.
        requirement: a pinned requirement, `name==version`.
        hashes: the accepted `sha256:…` digests, one of which pip insists on.
        backend: dotted name of the build backend that its pyproject.toml names (PEP 517).

    Returns:
        The `path` of the archive, inside the directory `.download`.
    """
    name, _, version = requirement.partition("==")
    package = ".backend/{}".format(backend.rpartition(".")[0].replace(".", "/"))
    rctx.file(package + "/__init__.py")  # Else a real package of that name, if one is installed, would come first.
    rctx.file(".backend/{}.py".format(backend.replace(".", "/")), _BACKEND.format(name = name.replace("-", "_"), version = version))

    # Nothing of it is installed, so it does not matter for which versions of Python it is.
    options = ["--ignore-requires-python", "--no-binary=:all:", "--no-build-isolation"]
    sdist = _download(rctx, requirement, hashes, options, {"PYTHONPATH": str(rctx.path(".backend"))})
    rctx.delete(".backend")
    return sdist
