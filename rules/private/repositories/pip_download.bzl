"""Fetches one hash-locked wheel or sdist with pip, from whatever index pip is set up for.

What pip has fetched goes into Bazel's repository cache. There every further checkout and output base finds it by its hash,
without pip, an index or the network.
"""

load("//tools/fetch:run_program.bzl", "fetching_python")

visibility(["//rules/...", "//tests/lint"])

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

# Prints which of a distribution's wheels pip would choose depends on: the interpreter, the CPU and the C library.
_CHOOSES = "import sys, sysconfig; print(sys.implementation.cache_tag, sysconfig.get_config_var('HOST_GNU_TYPE'))"

# Prints the SHA-256 of a file.
_SHA256 = "import hashlib, sys; print(hashlib.sha256(open(sys.argv[1], 'rb').read()).hexdigest())"

def _printed(rctx, command):
    """Runs a program that prints one line, and returns that."""
    result = rctx.execute(command)
    if result.return_code != 0:
        fail("{}: {}: {}".format(rctx.name, " ".join([str(word) for word in command]), result.stderr.strip()))
    return result.stdout.strip()

def _download(rctx, output, requirement, hashes, options, environment = {}):
    """Gets one file from Bazel's repository cache, or else with `pip download`; returns its path."""
    python = fetching_python(rctx, "{}: fetching {} from the Python package index".format(rctx.name, requirement), with_pip = True)

    # The hashes include wheels for other machines, which a cache may have.
    canonical_id = " ".join([requirement] + options + [_printed(rctx, python + ["-I", "-S", "-c", _CHOOSES])])
    for digest in hashes:
        # Without an address, `download` looks into the cache alone.
        sha256 = digest.removeprefix("sha256:")
        if rctx.download(url = [], output = output, sha256 = sha256, canonical_id = canonical_id, allow_fail = True).success:
            return rctx.path(output)
    rctx.file("requirements.txt", "{} {}\n".format(
        requirement,
        " ".join(["--hash=" + digest for digest in hashes]),
    ))
    rctx.report_progress("pip download " + requirement)
    command = python + ["-m", "pip", "download", "--quiet", "--no-deps", "--require-hashes", "--disable-pip-version-check"]
    result = rctx.execute(
        command + ["--dest=.pip", "--requirement=requirements.txt"] + options,
        environment = environment,
        timeout = 1200,
    )
    rctx.delete("requirements.txt")
    if result.return_code != 0:
        remedy = "Check pip's configuration (`python3 -m pip config list`), the network and the free disk space."
        fail("{}: pip could not fetch {}: {}\n{}".format(
            rctx.name,
            requirement,
            result.stderr.strip() or result.stdout.strip(),
            remedy,
        ))
    files = rctx.path(".pip").readdir()
    if len(files) != 1:
        fail("{}: expected pip to leave one file for {}, found {}".format(rctx.name, requirement, files))

    # `download` puts it into the cache.
    url = "file://" + str(files[0]).replace("%", "%25").replace(" ", "%20")
    sha256 = _printed(rctx, python + ["-I", "-S", "-c", _SHA256, files[0]])
    rctx.download(url = url, output = output, sha256 = sha256, canonical_id = canonical_id)
    rctx.delete(".pip")
    return rctx.path(output)

# Attributes of a rule whose repository is one wheel, or one sdist.
PIP_ATTRS = {
    "hashes": attr.string_list(mandatory = True, doc = "Accepted `sha256:…` digests of the wheel or sdist."),
    "requirement": attr.string(mandatory = True, doc = "The pinned requirement, `name==version`."),
}

def pip_unpack_wheel(rctx, output = ""):
    """Downloads and unpacks the wheel of a rule with PIP_ATTRS into a directory of the repository."""
    rctx.extract(pip_download_wheel(rctx, rctx.attr.requirement, rctx.attr.hashes), output = output)
    rctx.delete(".download")

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

    # A wheel is a zip archive; `extract` goes by the name, and not every version of Bazel knows `.whl`.
    return _download(rctx, ".download/wheel.zip", requirement, hashes, ["--only-binary=:all:"])

def pip_download_sdist(rctx, requirement, hashes, backend):
    """Downloads one source distribution into the repository and returns its path.

    Args:
        rctx: the repository context.
        requirement: a pinned requirement, `name==version`.
        hashes: the accepted `sha256:…` digests, one of which pip insists on.
        backend: dotted name of the build backend that its pyproject.toml names (PEP 517).

    Returns:
        A struct of `archive`, its path inside the directory `.download`, and `folder`, its only directory (PEP 625).
    """
    name, _, version = requirement.partition("==")
    name = name.replace("-", "_")
    package = ".backend/{}".format(backend.rpartition(".")[0].replace(".", "/"))
    rctx.file(package + "/__init__.py")  # Else a real package of that name, if one is installed, would come first.
    rctx.file(".backend/{}.py".format(backend.replace(".", "/")), _BACKEND.format(name = name, version = version))

    # Nothing of it is installed, so it does not matter for which versions of Python it is.
    options = ["--ignore-requires-python", "--no-binary=:all:", "--no-build-isolation"]
    environment = {"PYTHONPATH": str(rctx.path(".backend"))}
    archive = _download(rctx, ".download/sdist.tar.gz", requirement, hashes, options, environment)
    rctx.delete(".backend")
    return struct(archive = archive, folder = "{}-{}".format(name, version))
