"""Reads a hash-locked requirements file, as `uv pip compile --generate-hashes` writes it."""

visibility(["//rules/..."])

def _logical_lines(content):
    return [
        line.strip()
        for line in content.replace("\\\n", " ").split("\n")
        if line.strip() and not line.strip().startswith("#")
    ]

def parse_requirements_lock(content, origin):
    """Parses a lock file.

    Args:
        content: the text of the file.
        origin: what to call the file in an error.

    Returns:
        A dict from distribution name to `struct(requirement, hashes)`. Requirements
        for other operating systems are left out.
    """
    locked = {}
    for line in _logical_lines(content):
        requirement, _, rest = line.partition(" --hash=")
        requirement, _, marker = requirement.partition(";")
        name, pin, version = requirement.strip().partition("==")
        if "win32" in marker:
            continue
        if not pin or not rest:
            fail("{}: expected `name==version --hash=sha256:…`, found {}. Write the file again as CONTRIBUTING.md says.".format(origin, repr(line)))
        locked[name] = struct(
            requirement = "{}=={}".format(name, version.strip()),
            hashes = [digest.strip() for digest in rest.split("--hash=")],
        )
    return locked
