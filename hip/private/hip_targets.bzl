"""The GPUs that HIP programs are compiled for: the build setting, the machine's own, and which device code they may need."""

load("@bazel_skylib//rules:common_settings.bzl", "BuildSettingInfo")
load("//lib/gpus:gpu_table.bzl", "TARGETS")
load("//lib/gpus:gpus.bzl", "family_has", "is_target", "package_owner", "without_features")
load("//rules/shared:names.bzl", "shown")

visibility(["//hip", "//hip/private", "//hip/tests/..."])

_SUFFIX = "-generic"

# What a target's features are: whether memory accesses are repeated after page faults, and whether memory corrects errors.
_FEATURES = ["sramecc+", "sramecc-", "xnack+", "xnack-"]

def _target(word):
    """Returns the target that a word names, with sorted features as clang writes them; None if it names none."""
    processor, colon, features = word.partition(":")
    numbers = processor.removesuffix(_SUFFIX).removeprefix("gfx").split("-")
    is_generic = processor.startswith("gfx") and processor.endswith(_SUFFIX) and len(numbers) < 3 and all([one.isdigit() for one in numbers])
    if not is_target(processor) and not is_generic:
        return None
    given = sorted(features.split(":")) if colon else []
    if [feature for feature in given if feature not in _FEATURES] or len({feature[:-1]: None for feature in given}) < len(given):
        return None
    return ":".join([processor] + given)

def _contradiction(targets):
    """Returns what is wrong with targets together, or None: of one processor, either all say a feature or none does."""
    first = {}
    for target in sorted(targets):
        processor, _, features = target.partition(":")
        named = [feature[:-1] for feature in features.split(":") if feature]
        other, known = first.setdefault(processor, (target, named))
        if known != named:
            return "{} and {} cannot be in one program; expected the same features, each with + or -, or none".format(other, target)
    return None

def expanded_targets(words):
    """Returns GPU targets by the names of targets and families.

    Args:
        words: list of string: targets, with or without features (`gfx90a:xnack+`), generic ones (`gfx11-generic`) and
            families (`gfx110X-all`).

    Returns:
        struct(targets: sorted list of string, error: string, or None).
    """
    targets = {}
    for word in words:
        target = _target(word)
        if target:
            targets[target] = True
            continue
        members = [target for target in TARGETS if family_has(word, target)]
        if not members:
            return struct(error = "there is no GPU target or family {}; expected names such as gfx942, gfx90a:xnack+, gfx11-generic or gfx110X-all".format(repr(word)), targets = [])
        targets |= {package_owner(target): True for target in members}
    return struct(error = _contradiction(targets), targets = sorted(targets))

def _hip_targets_impl(ctx):
    expanded = expanded_targets(ctx.build_setting_value)
    if expanded.error:
        option = ctx.attr.option or shown(ctx.label)
        fail("{}: {}. Set --{}=TARGET,TARGET".format(option, expanded.error, option))
    return [BuildSettingInfo(value = expanded.targets)]

hip_targets = rule(
    doc = "The build setting with the GPU targets to compile for: a list of targets and families, separated by commas on the command line.",
    implementation = _hip_targets_impl,
    attrs = {"option": attr.string(doc = "How users name the setting in options, for errors. Bazel only tells rules its canonical label.")},
    build_setting = config.string_list(flag = True),
)

def may_run(targets, target):
    """Returns whether code for a GPU target or family may be code for a GPU that programs are compiled for.

    Args:
        targets: list of string: the targets and families that programs are compiled for; empty if these are not known.
        target: string: a target or a family.

    Returns:
        bool.
    """
    words = [without_features(word) for word in targets]

    # A family may have any target, and any family a target.
    is_open = not words or not all([is_target(word) for word in words + [without_features(target)]])
    return is_open or without_features(target) in words

NATIVE = "native"
_NODES = "/sys/class/kfd/kfd/topology/nodes"

# The line of a node's properties with its version in decimals: 90010 for 9.0.10, which is gfx90a. CPUs have 0.
_VERSION = "gfx_target_version "
_DIGITS = "0123456789abcdef"

def _target_of_version(version):
    """Returns the name of a GPU target."""
    return "gfx{}{}{}".format(version // 10000, _DIGITS[version // 100 % 100], _DIGITS[version % 100])

def _machine_targets(rctx):
    """Returns the targets of the GPUs of the machine."""
    nodes, found = rctx.path(_NODES), {}
    for node in nodes.readdir(watch = "no") if nodes.exists else []:
        properties = node.get_child("properties")
        for line in rctx.read(properties, watch = "no").splitlines() if properties.exists else []:
            if line.startswith(_VERSION) and int(line.removeprefix(_VERSION)):
                found[_target_of_version(int(line.removeprefix(_VERSION)))] = None
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
