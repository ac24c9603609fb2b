"""Selects the artifacts to package by the GPU targets in ROCM_TARGETS; without it, all artifacts."""

load("//lib/gpus:gpu_table.bzl", "FAMILIES")
load("//lib/gpus:gpus.bzl", "family_has", "is_target", "overlap", "package_owner")

visibility(["//packaging", "//tests/..."])

# How artifacts are laid out, and so packages. Artifacts are `family` or `split`, and ROCM_LAYOUT says which is expected;
# `thin` makes packages of single GPU targets out of artifacts that are `family`.
_LAYOUTS = ["family", "split", "thin"]

def target_refusal(artifacts):
    """Returns why an artifact's target cannot be packaged, or None: its features are written as in names of files.

    Args:
        artifacts: list of struct(name, component, target, label).

    Returns:
        string, or None.
    """
    for artifact in artifacts:
        right = artifact.target.replace("-xnack", ":xnack").replace("-sramecc", ":sramecc")
        if right != artifact.target:
            return "{}: an artifact of the target {}, with features after '-'; expected {}. Declare it with that target".format(artifact.label, artifact.target, right)
    return None

def select_artifacts(artifacts, targets, beside = []):
    """Returns the artifacts to package: the generic ones, and the targets' own.

    Args:
        artifacts: list of struct(name, component, target, label).
        targets: list of targets (`gfx1100`), families (`gfx110X-all`) or patterns (`gfx110X`); empty for all.
            An artifact is taken if one of these and its own target or family have a GPU in common.
        beside: artifacts for another platform, which may be the only one with artifacts for a target.

    Returns:
        list of struct.
    """
    refusal = target_refusal(artifacts)
    if refusal:
        fail(refusal)
    available = sorted({artifact.target: None for artifact in artifacts + beside if artifact.target != "generic"})
    for wanted in targets:
        if not [target for target in available if overlap(wanted, target)]:
            fail("ROCM_TARGETS names {}, for which there are no artifacts; expected some of {}, or families of them. Set --repo_env=ROCM_TARGETS=TARGET,TARGET, or build such artifacts".format(wanted, ", ".join(available)))
    return [
        artifact
        for artifact in artifacts
        if not targets or artifact.target == "generic" or any([overlap(wanted, artifact.target) for wanted in targets])
    ]

def windows_selection(artifacts, split, dist_targets):
    """Returns what `rocm_packages` is told of packages for Windows.

    Args:
        artifacts: list of struct(name, component, target, label).
        split: whether the artifacts are of the split layout.
        dist_targets: GPU targets in order of preference.

    Returns:
        struct(artifacts, split, dist_targets), or None if there are no artifacts.
    """
    return struct(artifacts = artifacts, dist_targets = dist_targets, split = split) if artifacts else None

def of_devel(split, targets, thin):
    """Returns the targets of the artifacts that devel is made of.

    Headers and CMake files are the same for every family: the first packaged family's serve all.

    Args:
        split: whether the artifacts are of the split layout.
        targets: targets of the artifacts that are packaged, without `generic`.
        thin: what `thin_selection` returns.

    Returns:
        list of string.
    """
    return ["generic"] + ([] if split else sorted(thin or targets)[:1])

def _serves(package, wanted):
    return package_owner(wanted) == package or family_has(package, wanted)

def default_target(targets, dist_targets, members):
    """Returns the target whose packages are chosen where the machine tells none, or an empty string if there is none.

    Args:
        targets: names of targets and groups that have packages, sorted.
        dist_targets: GPU targets in order of preference, with or without features.
        members: group -> its targets.

    Returns:
        string.
    """
    preferred = [
        name
        for wanted in dist_targets
        for name in targets
        if (package_owner(wanted) in members[name] if name in members else _serves(name, wanted))
    ]
    return (preferred + targets + [""])[0]

def check_layout(layout, split):
    """Fails unless artifacts have the layout that ROCM_LAYOUT asks for.

    Args:
        layout: string, empty for any.
        split: whether the artifacts are of the split layout.
    """
    found = "split" if split else "family"
    if layout and layout not in _LAYOUTS:
        fail("ROCM_LAYOUT={}: expected one of {}".format(layout, ", ".join(_LAYOUTS)))
    if layout and layout not in [found, "split" if split else "thin"]:
        fail("ROCM_LAYOUT={}: the artifacts are of the layout `{}` (flags.KPACK_SPLIT_ARTIFACTS of share/therock/therock_manifest.json says so). Name artifacts of the other layout, or leave out --config={}".format(layout, found, layout))

def _members(names):
    """Returns the targets that targets and families stand for, sorted."""
    return sorted({member: True for name in names for member in FAMILIES.get(name, [name])})

def thin_refusal(targets, left_out = []):
    """Returns why the layout thin cannot be made of these declarations, or None.

    Args:
        targets: as in `thin_selection`.
        left_out: as in `thin_selection`.

    Returns:
        string, or None.
    """
    if not targets:
        return "ROCM_LAYOUT=thin: expected the GPU targets to make packages for. Set --repo_env=ROCM_TARGETS=TARGET,TARGET"
    for variable, names in [("ROCM_TARGETS", targets), ("ROCM_TARGETS_LEFT_OUT", left_out)]:
        for name in names:
            if name not in FAMILIES and not is_target(name):
                return "{} names {}: for the layout thin, expected a GPU target like gfx1100, without features, or one of the families {}".format(variable, name, ", ".join(sorted(FAMILIES)))
    for name in targets:
        if package_owner(name) != name:
            return "ROCM_TARGETS names {}, whose code is in the package of {}; expected {}".format(name, package_owner(name), package_owner(name))
    packaged = _members(targets)
    for target in _members(left_out):
        if target in packaged:
            return "ROCM_TARGETS_LEFT_OUT names {}, for which ROCM_TARGETS asks for a package; expected it in one of them".format(target)
    return None

def thin_selection(layout, artifacts, targets, left_out = []):
    """Returns which packages for single GPU targets are made of which family's artifacts.

    Args:
        layout: string; only `thin` has such packages.
        artifacts: list of struct(name, component, target, label).
        targets: list of targets (`gfx1100`), and of families (`gfx110X-all`), each a group that gets one package.
        left_out: list of targets, and of families, that get no package, though artifacts have code for them.

    Returns:
        family of the artifacts -> struct(packages, left_out), of which `packages` is name of the target or group -> its targets;
        None for other layouts.
    """
    if layout != "thin":
        return None
    refusal = thin_refusal(targets, left_out)
    if refusal:
        fail(refusal)
    available = sorted({artifact.target: None for artifact in artifacts if artifact.target != "generic"})
    families = {}
    for name in targets:
        members = _members([name])
        served = available if len(available) == 1 else [family for family in available if all([overlap(member, family) for member in members])]
        if not served:
            expected = "expected targets of {}".format(", ".join(available)) if available else "all artifacts are generic. Unset ROCM_TARGETS"
            fail("ROCM_TARGETS names {}, for which there are no artifacts; {}".format(name, expected))
        families.setdefault(served[0], {})[name] = members
    return {family: _thin_family(packages, _members(targets), left_out) for family, packages in families.items()}

def _thin_family(packages, all_targets, left_out):
    """Returns what is declared about the packages out of one family's artifacts: a target of another family has its package there."""
    ours = _members([target for members in packages.values() for target in members])
    elsewhere = [target for target in all_targets if target not in ours]
    return struct(
        left_out = _members(left_out) + elsewhere,
        packages = packages,
    )
