"""The artifacts that are built in this workspace, in the form in which a directory of artifacts is listed."""

visibility("public")

# Of SDKs with device code: how it is laid out, and for which GPUs. This one has none.
SPLIT = False
DIST_TARGETS = []

def _artifact(name, component):
    label = Label("//sdk:{}_{}_generic".format(name, component))
    return struct(name = name, component = component, target = "generic", label = str(label))

ARTIFACTS = [
    _artifact("math", "dev"),
    _artifact("math", "lib"),
    _artifact("runtime", "dev"),
    _artifact("runtime", "lib"),
    _artifact("tools", "run"),
]
