"""rocm_packages: the packages of ROCm out of a set of artifacts, as `packages.bzl` defines them."""

load("//lib/gpus:gpus.bzl", "package_owner")
load("//packaging:layers.bzl", "layer_targets")
load("//packaging:package_targets.bzl", "distribution_name", "import_name_of", "package_targets", "thin_package_targets", "trees_of")
load("//packaging:packages.bzl", "DEVEL_ARTIFACTS", "PACKAGES", "PLATFORMS", "PROFILERS")
load("//packaging:selection.bzl", "default_target", "of_devel")
load("//packaging:selector.bzl", "selector_targets")
load("//rules:rocm.bzl", "rocm_coverage")
load("//rules:sdk.bzl", "sdk_index", "sdk_provenance", "sdk_reports")

visibility(["//packaging", "//tests/..."])

_WITH_VARIANTS = Label("//packaging:with_wheel_variants")

def _named(name, patterns):
    return any([name.startswith(pattern[:-1]) if pattern.endswith("*") else name == pattern for pattern in patterns])

def _select(artifacts, wanted, targets):
    """Returns the labels of the artifacts that a package is made from."""
    return [
        artifact.label
        for artifact in artifacts
        if artifact.target in targets and _named(artifact.name, wanted.get(artifact.component, []))
    ]

def _select_devel(artifacts, split, targets):
    """Returns the labels of the artifacts of the devel package: every component, but tests that are for all GPU targets."""
    wanted = [PACKAGES[role].artifacts.values() for role in ["core", "libraries"]]
    names = {name: True for lists in wanted for names in lists for name in names}.keys() + DEVEL_ARTIFACTS
    return [
        artifact.label
        for artifact in artifacts
        if _named(artifact.name, names) and artifact.target in targets and not (split and artifact.component == "test")
    ]

def _described(role, target = ""):
    """Returns what `_distributions.json` says of a package."""
    names = {"distribution": distribution_name(role, target), "tree": trees_of(role, target)[role]}
    return names | ({"import": import_name_of(role, target)} if PACKAGES[role].import_name else {})

def _content_of_both(linux, windows):
    """What `_distributions.json` says of packages for Linux and Windows: all together, and what there is on each."""
    if linux["layout"] == "thin":
        fail("ROCM_LAYOUT=thin makes packages for Linux alone; expected no artifacts for Windows. Unset ROCM_WINDOWS_ARTIFACTS_DIR, or leave out --config=thin")
    if linux["layout"] != windows["layout"]:
        fail("the artifacts for Windows are of the layout `{}`, those for Linux of `{}`; expected the same. Make both from artifacts of one layout".format(windows["layout"], linux["layout"]))
    content = {platform: {key: of[key] for key in ["default_target", "packages", "targets"]} for platform, of in [("linux", linux), ("win32", windows)]}
    return linux | {
        "packages": windows["packages"] | linux["packages"],
        "platforms": {platform: of | {"packages": sorted(of["packages"])} for platform, of in content.items()},
        "targets": sorted({target: None for of in [linux, windows] for target in of["targets"]}),
    }

def _content(layout, targets, dist_targets, has_profiler, members = {}):
    """What `_distributions.json` says of packages for one platform, except the version and the version suffix."""
    split = layout == "split"
    packages = {role: _described(role) for role in ["core", "devel"] + (["profiler"] if has_profiler else [])}
    if split or targets:
        packages["libraries"] = _described("libraries", "" if split else "{target}")
    if split and targets:
        packages["device"] = _described("device", "{target}")
    return {
        "default_target": default_target(targets, dist_targets, members),
        "layout": layout,
        "packages": packages,
        "targets": targets,
        "version": "{version}",
        "version_suffix": "{suffix}",
    } | ({"members": members} if members else {})

def _reports(name, packages):
    """Declares what tells of packages, one by one and together: plans, bills of materials, platform tags."""
    sdk_reports(name = name + "reports", wheels = {package: package + "_wheel" for package in packages})
    native.filegroup(
        name = name + "platform_tags",
        srcs = [package + "_wheel" for package in packages],
        output_group = "platform_tag",
        visibility = ["//visibility:public"],
    )

def _package_targets(name, platform, artifacts, split, thin = None):
    """Declares all packages for a platform, and their wheels.

    Args:
        name: what the names of all targets begin with.
        platform: what they run on.
        artifacts: list of struct(name, component, target, label).
        split: whether device code comes as artifacts per target, beside generic ones.
        thin: what `thin_selection` returns, or None.

    Returns:
        struct(names of the packages, targets: GPU targets or families of packages, by_name: names of thin packages -> GPU
        targets, has_profiler).
    """
    features = {}
    for artifact in artifacts:
        if artifact.target != "generic":
            features.setdefault(package_owner(artifact.target), {})[artifact.target] = True
    targets, by_name, wanted = sorted(features), {}, PACKAGES["libraries"].artifacts
    core = package_targets(name, platform, "core", _select(artifacts, PACKAGES["core"].artifacts, ["generic"]))
    devel_artifacts = _select_devel(artifacts, split, of_devel(split, targets, thin))
    libraries = []
    if split:
        libraries += package_targets(name, platform, "libraries", _select(artifacts, wanted, ["generic"]))
        for target in targets:
            libraries += package_targets(name, platform, "device", _select(artifacts, PACKAGES["device"].artifacts, sorted(features[target])), target)
    elif thin:
        for family, declared in thin.items():
            libraries += thin_package_targets(name, platform, _select(artifacts, wanted, ["generic", family]), family, declared)
        by_name = {target: members for declared in thin.values() for target, members in declared.packages.items()}
        targets = sorted(by_name)
    else:
        for family in targets:
            libraries += package_targets(name, platform, "libraries", _select(artifacts, wanted, ["generic", family]), family)
    profiled = []
    if _select(artifacts, {component: PROFILERS for component in PACKAGES["profiler"].artifacts}, ["generic"]):
        profiled = _select(artifacts, PACKAGES["profiler"].artifacts, ["generic"])

    # Its console scripts are for Linux alone.
    profiler = package_targets(name, platform, "profiler", profiled) if profiled and platform == "linux" else []
    devel = package_targets(name, platform, "devel", devel_artifacts, builds_on = core + libraries)
    return struct(by_name = by_name, has_profiler = bool(profiler), names = core + libraries + profiler + devel, targets = targets)

def windows_packages(name, artifacts, split):
    """Declares the packages for Windows: plans, wheels, and what tells of them.

    Args:
        name: what the names of all targets begin with.
        artifacts: list of struct(name, component, target, label).
        split: whether device code comes as artifacts per target, beside generic ones.

    Returns:
        what `_package_targets` returns.
    """
    packages = _package_targets(name, "windows", artifacts, split)
    _reports(name, packages.names)
    return packages

def _wheels(packages):
    return [package + "_wheel" for package in packages.names]

def _for_platform(targets, windows_targets):
    """Returns the targets that a build for Linux, or for Windows alone, is of."""
    windows = {"@platforms//os:windows": windows_targets} if windows_targets else {}
    return select(
        {"@platforms//os:linux": targets} | windows,
        no_match_error = "there are no artifacts for this platform; for Windows, set --repo_env=ROCM_WINDOWS_ARTIFACTS_DIR=/absolute/directory",
    )

def rocm_packages(name, artifacts, split, dist_targets = [], thin = None, windows = None, environment = {}, commit = ""):
    """Declares plans, wheels, the selector and the directory with all of them.

    Args:
        name: what the names of all targets begin with; may be empty.
        artifacts: list of struct(name, component, target, label).
        split: whether device code comes as artifacts per target, beside generic ones.
        dist_targets: GPU targets in order of preference, as dist_info.json has them.
        thin: for packages of single targets out of families' artifacts: what `thin_selection` returns.
        windows: for packages for Windows beside those for Linux: what `windows_selection` returns, or None.
        environment: variables of repositories that decide what is built, for statements.
        commit: the commit that is built, for statements; empty if it is not known.
    """
    packages = _package_targets(name, "linux", artifacts, split, thin)
    targets, groups = packages.targets, {target: members for target, members in packages.by_name.items() if members != [target]}
    layout = "split" if split else "thin" if thin else "family"
    content, windows_wheels = _content(layout, targets, dist_targets, packages.has_profiler, groups), []
    if windows:
        for_windows = windows_packages(name + "windows_", windows.artifacts, windows.split)
        windows_wheels = _wheels(for_windows)
        rocm_coverage(
            name = name + "windows_coverage",
            artifacts = _select(windows.artifacts, PACKAGES["libraries"].artifacts, sorted({artifact.target: None for artifact in windows.artifacts})),
            platform = PLATFORMS["windows"].platform,
            visibility = ["//visibility:public"],
        )
        content = _content_of_both(content, _content("split" if windows.split else "family", for_windows.targets, windows.dist_targets, for_windows.has_profiler))
    selector = selector_targets(name, content)
    _reports(name, packages.names)
    layer_targets(name, split, targets, selector.static_wheel)
    rocm_coverage(
        name = name + "coverage",
        artifacts = _select(artifacts, PACKAGES["libraries"].artifacts, ["generic"] + (sorted(thin) if thin else sorted({artifact.target: None for artifact in artifacts}))),
        targets = packages.by_name,
        targets_option = "--repo_env=ROCM_TARGETS",
        visibility = ["//visibility:public"],
    )
    for group in ["lacks", "table"]:
        native.filegroup(name = "{}coverage_{}".format(name, group), srcs = [name + "coverage"], output_group = group, visibility = ["//visibility:public"])
    distributions = _for_platform(_wheels(packages) + windows_wheels + [selector.sdist], windows_wheels + [selector.sdist] if windows else [])
    distributions += select({_WITH_VARIANTS: selector.variants, "//conditions:default": []})
    native.filegroup(name = name + "all_wheels", srcs = distributions + [selector.static_wheel], visibility = ["//visibility:public"])
    sdk_provenance(
        name = name + "provenance",
        artifacts_variable = "ROCM_ARTIFACTS_DIR",
        commit = commit,
        distributions = distributions + [selector.static_wheel],
        environment = environment,
        tags = ["manual"],
        visibility = ["//visibility:public"],
    )
    sdk_index(
        name = name + "dist",
        distributions = distributions,
        selector = name + "distributions",
        static = [selector.static_wheel],
        title = "ROCm for Python",
        visibility = ["//visibility:public"],
    )
