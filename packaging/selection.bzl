"""What of the artifacts is packaged: that of the GPU targets that ROCM_TARGETS names, if it names any."""

load("//packaging:matrix.bzl", "FAMILIES", "LAYOUTS")

visibility(["//packaging", "//tests/..."])

_DIGITS = "0123456789abcdef"

def _matches(pattern, target):
    """Whether a target, or a family by its name, is one of `gfx110X`, in which X stands for any digit."""
    stem = target.partition("-")[0]
    if len(pattern) != len(stem):
        return False
    return all([wanted == found or (wanted == "X" and found in _DIGITS) for wanted, found in zip(pattern.elems(), stem.elems())])

def _is_served(wanted, target):
    base = target.partition(":")[0]
    return wanted == base or base in FAMILIES.get(wanted, []) or wanted in FAMILIES.get(base, []) or _matches(wanted, base)

def select_artifacts(artifacts, targets):
    """Returns the artifacts to package: generic ones, and those of the targets.

    Args:
        artifacts: list of struct(name, component, target, label).
        targets: list of targets (`gfx1100`), families (`gfx110X-all`) or patterns (`gfx110X`); empty for all.
            Of artifacts by family a target is in, and of artifacts by target, those that the family has.

    Returns:
        list of struct.
    """
    available = sorted({artifact.target: None for artifact in artifacts if artifact.target != "generic"})
    for wanted in targets:
        if not [target for target in available if _is_served(wanted, target)]:
            fail("ROCM_TARGETS names {}, for which there are no artifacts; expected some of {}, or families of them. Set --repo_env=ROCM_TARGETS=TARGET,TARGET, or build such artifacts".format(wanted, ", ".join(available)))
    return [
        artifact
        for artifact in artifacts
        if not targets or artifact.target == "generic" or any([_is_served(wanted, artifact.target) for wanted in targets])
    ]

def check_layout(layout, split):
    """Fails unless artifacts have the layout that ROCM_LAYOUT asks for.

    Args:
        layout: string, empty for any.
        split: whether the artifacts are of the split layout.
    """
    found = "split" if split else "family"
    if layout and layout not in LAYOUTS:
        fail("ROCM_LAYOUT={}: expected one of {}".format(layout, ", ".join(LAYOUTS)))
    if layout and layout not in [found, "split" if split else "thin"]:
        fail("ROCM_LAYOUT={}: the artifacts are of the layout `{}` (flags.KPACK_SPLIT_ARTIFACTS of share/therock/therock_manifest.json says so). Name artifacts of the other layout, or leave out --config={}".format(layout, found, layout))

def thin_selection(layout, artifacts, targets, left_out = [], absent = []):
    """Returns which packages for single GPU targets are made of which family's artifacts.

    Args:
        layout: string; only `thin` has such packages.
        artifacts: list of struct(name, component, target, label).
        targets: list of targets (`gfx1100`), and of families (`gfx110X-all`), each a group that gets one package.
        left_out: list of targets that get no package, though artifacts have code for them.
        absent: list of `TARGET=PATTERN`: files known to have no code for a target.

    Returns:
        struct(families, left_out, absent), of which `families` is family -> name of the target or group -> its targets;
        None for other layouts.
    """
    if layout != "thin":
        return None
    if not targets:
        fail("ROCM_LAYOUT=thin: expected the GPU targets to make packages for. Set --repo_env=ROCM_TARGETS=TARGET,TARGET")
    available = sorted({artifact.target: None for artifact in artifacts if artifact.target != "generic"})
    families = {}
    for name in targets:
        members = FAMILIES.get(name, [name])
        served = available if len(available) == 1 else [family for family in available if all([_is_served(member, family) for member in members])]
        if not served:
            fail("ROCM_TARGETS names {}, for which there are no artifacts; expected targets of {}".format(name, ", ".join(available)))
        families.setdefault(served[0], {})[name] = members
    return struct(absent = absent, families = families, left_out = left_out)
