"""HipInfo: relocatable device code, which a program links."""

visibility(["//rules/private/hip"])

HipInfo = provider(
    doc = "Relocatable device code of a library and of those that it depends on. Programs link it for each GPU target.",
    fields = {
        "device_objects": "dict from a GPU target (string) to a depset of File: LLVM bitcode.",
        "host_objects": "depset of File: object files that refer to the linked device code.",
        "libraries": "depset of struct(label = Label, targets = string): which library is compiled for which GPU targets.",
    },
)

def merge_hip_infos(infos):
    """Returns one HipInfo for several.

    Args:
        infos: list of HipInfo.

    Returns:
        HipInfo.
    """
    targets = {target: None for info in infos for target in info.device_objects}
    return HipInfo(
        device_objects = {
            target: depset(transitive = [info.device_objects[target] for info in infos if target in info.device_objects])
            for target in targets
        },
        host_objects = depset(transitive = [info.host_objects for info in infos]),
        libraries = depset(transitive = [info.libraries for info in infos]),
    )
