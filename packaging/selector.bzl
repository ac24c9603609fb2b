"""The package `rocm`, which selects among the others: as an sdist, as a static wheel, and as wheel variants."""

load("//lib/gpus:gpu_table.bzl", "TARGETS")
load("//lib/gpus:gpus.bzl", "serving_package")
load("//packaging:package_targets.bzl", "LICENSE", "VERSION", "names_target")
load("//packaging:packages.bzl", "METADATA", "PLATFORMS")
load("//rules:sdk.bzl", "sdk_sdist", "sdk_static_wheel")

visibility(["//packaging", "//tests/analysis"])

# What Python calls the platforms (`sys.platform`).
_SYS_PLATFORMS = {"linux": "linux", "windows": "win32"}

def _platforms(content):
    """Returns the names of the platforms that there are packages for."""
    return [name for name, value in _SYS_PLATFORMS.items() if value in content.get("platforms", {"linux": None})]

def _pin(content, role, target = ""):
    """Returns the requirement for a package, with a marker if there is none of it on one of the platforms."""
    pin = content["packages"][role]["distribution"].replace("{target}", target) + "=={version}"
    platforms = content.get("platforms", {})
    having = [platform for platform, there in platforms.items() if role in there["packages"] and (not target or target in there["targets"])]
    return pin if len(having) == len(platforms) else "{}; sys_platform == '{}'".format(pin, having[0])

def _static_extras(content):
    """Returns the extras of the static wheel: the extras of the sdist that do not depend on the machine."""
    packages, targets = content["packages"], content["targets"]
    extras = {role: [_pin(content, role)] for role in ["devel", "profiler"] if role in packages}
    if content["layout"] != "split":
        pins = {"libraries-" + target.lower(): [_pin(content, "libraries", target)] for target in targets}
        return extras | pins | ({"libraries-all": [pin for one in pins.values() for pin in one]} if pins else {})
    libraries = [_pin(content, "libraries")]
    extras["libraries"] = libraries
    if "device" in packages:
        devices = {target: _pin(content, "device", target) for target in targets}
        extras |= {"device-" + target.lower(): libraries + [pin] for target, pin in devices.items()}
        extras["device-all"] = libraries + devices.values()
    return extras

def _choices(content, chosen):
    """Returns the requirements for the package of a target that may differ between platforms."""
    role = "device" if "device" in content["packages"] else "libraries"
    targets = {target: None for target in chosen.values()}.keys()
    if len(targets) == 1:
        return [_pin(content, role, targets[0])]
    name = content["packages"][role]["distribution"]
    return [
        "{}=={{version}}; sys_platform == '{}'".format(name.replace("{target}", target), platform)
        for platform, target in chosen.items()
        if target
    ]

def selector_variants(content):
    """Returns the wheel variants of `rocm`: each GPU target with a package gets what the sdist would choose.

    Args:
        content: what `_distributions.json` says.

    Returns:
        list of struct(label, targets: GPU targets, by their owners, chosen: platform -> the target of the package, extras).
    """
    platforms, members, found = content.get("platforms", {"": content}), content.get("members", {}), {}
    for owner in [target for target, known in TARGETS.items() if known.owner == target]:
        names = {platform: serving_package(owner, of["targets"], members) for platform, of in platforms.items()}
        served = {name: None for name in names.values() if name}.keys()
        if served:
            # Where platforms have packages of different names for it, the target is a variant of its own.
            label = (served[0] if len(served) == 1 else owner).lower().replace("-", "_")
            chosen = {platform: name or platforms[platform]["default_target"] for platform, name in names.items()}
            found.setdefault(label, struct(chosen = chosen, label = label, targets = [])).targets.append(owner)
    extra, common = ("device", [_pin(content, "libraries")]) if content["layout"] == "split" else ("libraries", [])
    return [
        struct(
            chosen = variant.chosen,
            extras = _static_extras(content) | {extra: common + _choices(content, variant.chosen)},
            label = label,
            targets = variant.targets,
        )
        for label, variant in sorted(found.items())
    ]

def _selection(variant):
    """Returns what `_selected.json` says in a wheel variant: what the sdist's backend records, for each platform."""
    reason = "the installer chose the wheel variant {}, by the machine's GPU".format(variant.label)
    platforms = {platform: {"reason": reason, "source": "variant", "target": target} for platform, target in variant.chosen.items()}
    return platforms.values()[0] | ({} if "" in platforms else {"platforms": platforms})

def selector_targets(name, content):
    """Declares `rocm`: the sdist that looks at the machine, the wheel with explicit extras only, and wheel variants.

    Args:
        name: what the names of all targets begin with.
        content: what `_distributions.json` says.

    Returns:
        struct(sdist, static_wheel, variants: list) of names of targets.
    """
    distributions = names_target(name + "distributions", content)
    project = dict(
        classifiers = sorted(METADATA.classifiers + [PLATFORMS[platform].classifier for platform in _platforms(content)]),
        description = Label("//packaging/rocm:README.md"),
        distribution = "rocm",
        issues_url = Label("//packaging:issues_url"),
        license_expression = "Apache-2.0",
        license_files = [LICENSE],
        requires = [_pin(content, "core")],
        sources = Label("//packaging/rocm:sources"),
        summary = "ROCm for Python: selects the packages for the machine, and helps to use them",
        urls = METADATA.urls,
        version = VERSION,
    )
    files = {distributions: "rocm_sdk/_distributions.json", name + "coverage_lacks": "rocm_sdk/_device_code.json"}
    wheel = dict(
        console_scripts = {"rocm-sdk": "rocm_sdk.cli:main"},
        strip_prefix = "src",
        **project
    )
    sdk_sdist(
        name = name + "rocm_sdist",
        dynamic = ["Requires-Dist", "Provides-Extra"],
        files = {distributions: "src/rocm_sdk/_distributions.json", name + "coverage_lacks": "src/rocm_sdk/_device_code.json"},
        **project
    )
    sdk_static_wheel(name = name + "rocm_static_wheel", extras = _static_extras(content), files = files, **wheel)
    variants = []
    for variant in selector_variants(content):
        target = "{}rocm_{}_variant".format(name, variant.label)
        selected = names_target(target + "_selected", _selection(variant))
        sdk_static_wheel(
            name = target,
            extras = variant.extras,
            files = files | {selected: "rocm_sdk/_selected.json"},
            variant = variant.label,
            variant_targets = variant.targets,
            **wheel
        )
        variants.append(target)
    return struct(sdist = name + "rocm_sdist", static_wheel = name + "rocm_static_wheel", variants = variants)
