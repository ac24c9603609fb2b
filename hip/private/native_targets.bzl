"""The GPUs of the machine, as the kernel's driver (KFD) tells them."""

visibility(["//hip/private", "//hip/tests/..."])

NATIVE = "native"
_NODES = "/sys/class/kfd/kfd/topology/nodes"

# The line of a node's properties with its version in decimals: 90010 for 9.0.10, which is gfx90a. CPUs have 0.
_VERSION = "gfx_target_version "
_DIGITS = "0123456789abcdef"

def _target(version):
    """Returns the name of a GPU target."""
    return "gfx{}{}{}".format(version // 10000, _DIGITS[version // 100 % 100], _DIGITS[version % 100])

def _machine_targets(rctx):
    """Returns the targets of the GPUs of the machine."""
    nodes, found = rctx.path(_NODES), {}
    for node in nodes.readdir(watch = "no") if nodes.exists else []:
        properties = node.get_child("properties")
        for line in rctx.read(properties, watch = "no").splitlines() if properties.exists else []:
            if line.startswith(_VERSION) and int(line.removeprefix(_VERSION)):
                found[_target(int(line.removeprefix(_VERSION)))] = None
    return sorted(found)

def with_native_targets(rctx, tag, targets):
    """Returns targets with the machine's instead of `native`. Fails if it is named, and the machine has no GPU.

    Args:
        rctx: the repository_ctx.
        tag: string: how errors name the tag with the targets.
        targets: list of string: GPU targets and families, and maybe `native`.

    Returns:
        list of string.
    """
    if NATIVE not in targets:
        return targets
    own = _machine_targets(rctx)
    if not own:
        fail("\n{}: targets: native: {} lists no GPU; expected at least one on the machine that fetches the SDK. Name the targets of your programs, such as gfx942".format(tag, _NODES))
    return [target for target in targets if target != NATIVE] + own
