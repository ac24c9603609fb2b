"""Names of artifacts: `{name}_{component}_{target}`."""

visibility(["//..."])

# Parts of a build. tools/fetch/catalog/names.py has them, too; tests/lint compares them.
COMPONENTS = ["lib", "run", "dev", "dbg", "doc", "test"]

def artifact_parts(artifact):
    """Takes an artifact's name apart. Names may have `_`, components and targets have none.

    Args:
        artifact: string.

    Returns:
        list of the name, the component and the target; None if it is not the name of an artifact.
    """
    parts = artifact.rsplit("_", 2)
    return parts if len(parts) == 3 and parts[0] and parts[1] in COMPONENTS and parts[2] else None

def archive_repository_name(hub, artifact):
    """Returns the name of the repository of an artifact: without what a repository's name cannot hold.

    Args:
        hub: name of the repository that the artifact is listed in.
        artifact: `{name}_{component}_{target}`.
    """
    return hub + "." + artifact.replace(":", ".").replace("+", ".on")
