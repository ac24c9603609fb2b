"""How labels are shown to people."""

visibility(["//rules/..."])

def shown(label):
    """Returns a label as people write it, on the command line for one: without `@@` in the main repository."""
    return str(label).replace("@@//", "//")
