"""Names: of labels in messages, and of artifacts."""

visibility(["//..."])

_PART_OF = "part-of="

def shown(label):
    """Returns a label as users write it: without `@@` in the main repository, and `@rocm` for `@@rules_rocm_python++rocm+rocm`.

    Bazel does not tell rules what the main module calls a repository, so it is the name that the declaration gave it.

    Args:
        label: Label.

    Returns:
        string.
    """
    text = str(label)
    if not text.startswith("@@") or text.startswith("@@//"):
        return text.removeprefix("@@")
    repository, _, rest = text.removeprefix("@@").partition("//")
    parts = repository.replace("~", "+").split("+")  # module, its version, extension, name
    return "@{}//{}".format(parts[-1] if len(parts) > 2 else parts[0], rest)

def hidden(name, attributes):
    """Returns the attributes of a target that a macro declares for itself.

    Args:
        name: name of the target that users know, which messages about the hidden target name.
        attributes: what both targets share.

    Returns:
        dict of attributes.
    """
    return dict(attributes, tags = ["manual", _PART_OF + name] + attributes.get("tags", []), visibility = ["//visibility:private"])

def written(ctx):
    """Returns the label that the user wrote: the macro's, if this target is hidden behind a macro.

    Args:
        ctx: the context of a rule or an aspect.

    Returns:
        Label.
    """
    for tag in getattr(ctx.attr, "tags", []):
        if tag.startswith(_PART_OF):
            return ctx.label.same_package_label(tag.removeprefix(_PART_OF))
    return ctx.label

# Parts of a build, in names of artifacts: `{name}_{component}_{target}`. tools/fetch/catalog/names.py has them, too; tests/lint compares them.
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
