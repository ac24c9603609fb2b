"""How labels are written in messages."""

visibility(["//rules/..."])

def shown(label):
    """Returns a label as on the command line: without `@@` in the main repository."""
    return str(label).replace("@@//", "//")
