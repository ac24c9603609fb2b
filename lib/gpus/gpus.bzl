"""Tells which GPU targets a name means. Agrees with lib/gpus/families.py: a test compares all answers."""

load("//lib/gpus:gpu_table.bzl", "TARGETS")

visibility(["//..."])

_KINDS = ["all", "dcgpu", "dgpu", "igpu"]
_DIGITS = "0123456789abcdef"
_MAJORS = ["6", "7", "8", "9"] + [str(number) for number in range(10, 20)]

def without_features(target):
    """Returns a target without its features: `gfx90a` for `gfx90a:xnack+`.

    Args:
        target: string.

    Returns:
        string.
    """
    return target.partition(":")[0]

def package_owner(target):
    """Returns the target whose package holds the code for this one; a family is its own.

    Args:
        target: string, with or without features.

    Returns:
        string.
    """
    base = without_features(target)
    return TARGETS[base].owner if base in TARGETS else base

def _is_form(digits, form):
    """Whether digits are of a form, in which X stands for any digit."""
    return len(digits) == len(form) and all([
        found in _DIGITS if wanted == "X" else found == wanted
        for wanted, found in zip(form.elems(), digits.elems())
    ])

def _is_processor(digits):
    """Whether digits are a major version, and one digit each for minor version and stepping."""
    return any([_is_form(digits, major + "XX") for major in _MAJORS])

def is_target(name):
    """Returns whether a name is a target's, without features: one of the table, or of the form of one.

    Args:
        name: string.

    Returns:
        bool.
    """
    return name in TARGETS or (name.startswith("gfx") and _is_processor(name[len("gfx"):]))

def _family(name):
    """Returns struct(form, kind) of a family, of which `form` is None if all digits are open; None if it is no family."""
    stem, dash, kind = name.rpartition("-")
    if dash and kind == "all" and stem in _KINDS:
        return struct(form = None, kind = stem)
    if not dash or kind not in _KINDS:
        stem, kind = name, ""
    if not stem.startswith("gfx"):
        return None
    digits = stem[len("gfx"):].replace("x", "X").replace("_", "-")
    major, dash, minor = digits.partition("-")
    if dash:
        is_minor = len(minor) == 1 and minor in _DIGITS
        return struct(form = major + minor + "X", kind = kind) if is_minor and major in _MAJORS else None
    if digits in _MAJORS:
        return struct(form = digits + "XX", kind = kind)
    if not digits or ("X" not in digits and _is_processor(digits)):
        return struct(form = digits or None, kind = kind) if kind else None
    return struct(form = digits, kind = kind) if "X" in digits and not digits.strip(_DIGITS + "X") else None

def _has(family, target):
    processor = without_features(target)
    digits = package_owner(processor).removeprefix("gfx")
    if not is_target(processor) or (family.form != None and not _is_form(digits, family.form)):
        return False
    if family.kind in ["", "all"]:
        return True
    return TARGETS[processor].kind == family.kind if processor in TARGETS else family.form != None

def family_has(family, target):
    """Returns whether a target is one of a family's; false if there is no family of that name.

    Args:
        family: string, `gfx110X-all`, `gfx94X`, `gfx9`, `gfx12-5`.
        target: string, with or without features.

    Returns:
        bool.
    """
    found = _family(family)
    return found != None and _has(found, target)

def serving_package(owner, packages, members = {}):
    """Returns the package that a machine with a GPU gets, as `rocm_sdk` chooses: its own, or its narrowest family's.

    Args:
        owner: GPU target that owns its package.
        packages: targets and families that have packages, in order of preference.
        members: family -> the targets that there is code for in its package, where that is known.

    Returns:
        string, or None.
    """
    if owner in packages:
        return owner
    families = [
        (_open_digits(_family(name)), index)
        for index, name in enumerate(packages)
        if family_has(name, owner) and owner in members.get(name, [owner])
    ]
    return packages[min(families)[1]] if families else None

def _open_digits(family):
    """Returns how many digits a family leaves open: the fewer, the narrower it is."""
    return 5 if family.form == None else family.form.count("X")

def overlap(one, other):
    """Returns whether two names, of targets or families, have a GPU in common. Features do not count.

    Args:
        one: string.
        other: string.

    Returns:
        bool.
    """
    if package_owner(one) == package_owner(other):
        return True
    first, second = _family(one), _family(other)
    if first and second:
        return any([_has(first, target) and _has(second, target) for target in TARGETS])
    return _has(first, other) if first else second != None and _has(second, one)
