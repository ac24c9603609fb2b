"""Fetches one hash-locked wheel with pip, from whatever index pip is set up for."""

visibility(["//rules/private/repositories/..."])

def pip_download(rctx, requirement, hashes):
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
    python = rctx.which("python3")
    if not python:
        fail("{}: fetching {} from the Python package index needs `python3` with pip on PATH. Install it (Debian: apt-get install python3-pip), or build with ./bazelw.".format(rctx.name, requirement))
    rctx.file(".download/requirements.txt", "{} {}\n".format(
        requirement,
        " ".join(["--hash=" + digest for digest in hashes]),
    ))
    rctx.report_progress("pip download " + requirement)
    result = rctx.execute(
        [
            python,
            "-m",
            "pip",
            "download",
            "--quiet",
            "--no-deps",
            "--only-binary=:all:",
            "--require-hashes",
            "--disable-pip-version-check",
            "--dest=.download",
            "--requirement=.download/requirements.txt",
        ],
        timeout = 1200,
    )
    if result.return_code != 0:
        fail("{}: pip could not fetch {}: {}\nCheck pip's configuration (`python3 -m pip config list`) and the network.".format(
            rctx.name,
            requirement,
            result.stderr.strip() or result.stdout.strip(),
        ))
    wheels = [path for path in rctx.path(".download").readdir() if path.basename.endswith(".whl")]
    if len(wheels) != 1:
        fail("{}: expected pip to leave one wheel for {}, found {}".format(rctx.name, requirement, wheels))

    # A wheel is a zip archive; `extract` goes by the name, and not every version of Bazel knows `.whl`.
    rctx.symlink(wheels[0], ".download/wheel.zip")
    return rctx.path(".download/wheel.zip")
