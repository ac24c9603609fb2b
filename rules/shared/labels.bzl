"""How labels are written in messages."""

visibility(["//..."])

_PART_OF = "part-of="

def shown(label):
    """Returns a label as on the command line: without `@@` in the main repository."""
    return str(label).replace("@@//", "//")

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
        ctx: the rule context.

    Returns:
        Label.
    """
    for tag in ctx.attr.tags:
        if tag.startswith(_PART_OF):
            return ctx.label.same_package_label(tag.removeprefix(_PART_OF))
    return ctx.label
