"""Which tags `rocm.sdk` count: a build has one SDK of a name, whoever asks for it."""

visibility(["//rules/private/rocm", "//tests/..."])

# This module, whose own tag counts if nobody else has one.
OWN = "rules_rocm_python"

def chosen_sdks(modules):
    """Returns the SDKs of a build. Of those of one name, that of the module nearest to the root counts.

    Args:
        modules: list of modules of an extension, as Bazel sorts them: the root first, by their distance from it.

    Returns:
        dict from the name of an SDK to struct(tag, title: how errors name the tag), the default SDK first.
    """
    chosen = {}
    for module in [one for one in modules if one.name != OWN] + [one for one in modules if one.name == OWN]:
        names = {}
        for tag in module.tags.sdk:
            title = "module {}: rocm.sdk(name = {})".format(module.name, repr(tag.name))
            if tag.name in names:
                fail("{}: it is declared twice; expected distinct names. Change one".format(title))
            names[tag.name] = True
            if module.name == OWN and not module.is_root:
                title = "no module declares rocm.sdk(name = {}), so ROCm is taken from its usual place".format(repr(tag.name))
            chosen.setdefault(tag.name, struct(tag = tag, title = title))
    return chosen
