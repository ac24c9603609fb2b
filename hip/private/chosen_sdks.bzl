"""Which tags `hip.sdk` count, and whether they are right: a build has one SDK of a name, whoever asks for it."""

load(":hip_targets.bzl", "expanded_targets")
load(":native_targets.bzl", "NATIVE")

visibility(["//hip/private", "//hip/tests/..."])

# This module, whose own tag counts if nobody else has one.
OWN = "rules_rocm_python"

# Attributes of a tag that say which SDK it is.
_SOURCE = ["artifacts", "path", "targets", "variable", "wheels"]

def _shown(tag, names):
    """Returns attributes of a tag, as a module file has them."""
    return ", ".join(["{} = {}".format(name, repr(str(getattr(tag, name)) if type(getattr(tag, name)) == "Label" else getattr(tag, name))) for name in names])

def _conflict(one, title, tag):
    """Returns why the SDK of a tag cannot stand beside a chosen one, empty if it can: two libraries would need two SDKs in one program."""
    names = [name for name in _SOURCE if getattr(one.tag, name) != getattr(tag, name)]
    if not names:
        return ""
    return "{} says {}, and {} says {}; expected one SDK of this name in a build. Declare hip.sdk(name = {}) in your own MODULE.bazel: the root module's counts".format(
        one.title,
        _shown(one.tag, names),
        title,
        _shown(tag, names),
        repr(tag.name),
    )

def chosen_sdks(modules):
    """Returns the SDKs of a build. If several have one name, the root module's counts.

    Args:
        modules: list of modules of an extension, as Bazel sorts them: the root first, by their distance from it.

    Returns:
        dict from the name of an SDK to struct(tag, title: how errors name the tag, conflict: why it cannot be used, if the
        root module has no tag of this name and others contradict each other), the default SDK first.
    """
    chosen, of_root = {}, {}
    for module in [one for one in modules if one.name != OWN] + [one for one in modules if one.name == OWN]:
        names = {}
        for tag in module.tags.sdk:
            title = "module {}: hip.sdk(name = {})".format(module.name, repr(tag.name))
            if tag.name in names:
                fail("{}: it is declared twice; expected distinct names. Change one".format(title))
            names[tag.name] = True
            if module.name == OWN and not module.is_root:
                title = "no module declares hip.sdk(name = {}), so ROCm is taken from its usual place".format(repr(tag.name))
            one = chosen.setdefault(tag.name, struct(conflict = "", tag = tag, title = title))
            if module.is_root:
                of_root[tag.name] = True
            elif tag.name not in of_root and module.name != OWN and not one.conflict:
                chosen[tag.name] = struct(conflict = _conflict(one, title, tag), tag = one.tag, title = one.title)
    return chosen

def check_sdk(tag, title):
    """Fails if a tag is wrong in itself.

    Args:
        tag: a tag `hip.sdk`.
        title: string: how errors name it.
    """
    given = [name for name in ["artifacts", "path", "wheels"] if getattr(tag, name)]
    if len(given) != 1:
        fail("{}: it has {}; expected one of `artifacts`, `path` and `wheels`. {}".format(title, " and ".join(given) or "no source", "Remove all except one" if given else "Add one"))
    expanded = expanded_targets([target for target in tag.targets if target != NATIVE])
    if expanded.error:
        fail("{}: targets: {}. Change `targets`".format(title, expanded.error))
