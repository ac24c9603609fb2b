"""Collects relocatable device code through libraries of C++, which do not know of it."""

load(":providers.bzl", "HipInfo", "merge_hip_infos")

visibility(["//hip/private"])

# Attributes in which libraries name their dependencies.
EDGES = ["deps", "implementation_deps"]

def hip_infos(attributes):
    """Returns what the dependencies of a target have of relocatable device code.

    Args:
        attributes: `ctx.attr`, or `ctx.rule.attr` of an aspect.

    Returns:
        list of HipInfo.
    """
    return [
        dep[HipInfo]
        for edge in EDGES
        for dep in getattr(attributes, edge, None) or []
        if type(dep) == "Target" and HipInfo in dep
    ]

def _collect_hip_impl(target, ctx):
    infos = [] if HipInfo in target else hip_infos(ctx.rule.attr)
    return [merge_hip_infos(infos)] if infos else []

collect_hip = aspect(
    doc = "Gives libraries of C++ the HipInfo of what they depend on.",
    implementation = _collect_hip_impl,
    attr_aspects = EDGES,
)
