"""rocm_packages: the packages of ROCm out of a set of artifacts, as `packages.bzl` defines them."""

load("//packaging:distributions.bzl", "names_file")
load("//packaging:gpus.bzl", "package_owner")
load("//packaging:packages.bzl", "DEVEL_ARTIFACTS", "EXTERNALS", "METADATA", "PACKAGES")
load("//packaging:selection.bzl", "default_target", "of_devel")
load("//rules:coverage.bzl", "rocm_coverage")
load("//rules:index.bzl", "sdk_index")
load("//rules:package.bzl", "sdk_package")
load("//rules:reports.bzl", "sdk_reports")
load("//rules:sdist.bzl", "sdk_sdist")
load("//rules:size_report.bzl", "sdk_size_report")
load("//rules:static_wheel.bzl", "sdk_static_wheel")
load("//rules:thin_packages.bzl", "rocm_thin_package", "rocm_thin_packages")
load("//rules:wheel.bzl", "sdk_wheel")

visibility(["//packaging", "//tests/..."])

_VERSION = Label("//packaging:version")
_VERSION_SUFFIX = Label("//packaging:version_suffix")
_PLATFORM_TAG = Label("//packaging:platform_tag")
_LICENSE = Label("//:LICENSE")
_PLAIN_DEVEL = Label("//rules/settings:plain_devel")
_TREE_MODULE = Label("//packaging:tree.py")
_VERSION_MODULE = Label("//packaging:version_module")

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

def _distribution(role, target):
    return PACKAGES[role].distribution + ("-" + target if target else "")

def _import_name(role, target):
    """Returns the name under which a package is imported; "" if it is not."""
    name = PACKAGES[role].import_name
    return (name + "_" + target.replace("-", "_")) if name and target else name

def _trees(role = "", target = ""):
    """Returns the tree of each package, by role. That of `role`, if given, is for a GPU target."""
    own = {one: "_" + _import_name(one, target if one == role else "") + "{suffix}" for one in PACKAGES}
    return {one: own[definition.tree or one] for one, definition in PACKAGES.items()}

def _searched(role, trees):
    entries = [entry.partition("/") for entry in PACKAGES[role].rpath]
    return ["{}/{}".format(trees[of], path) for of, _, path in entries]

def _names(name, content):
    """Declares a JSON file with what the build calls its packages; returns its target."""
    names_file(name = name, content = json.encode(content), version = _VERSION, version_suffix = _VERSION_SUFFIX)
    return name

def _source(role, module):
    return Label("//packaging/{}:src/{}/{}".format(role, PACKAGES[role].import_name, module))

def _modules(role, import_name, modules):
    return {_source(role, module): "{}/{}".format(import_name, module) for module in modules}

def _files(name, role, import_name):
    """Returns {file: path in site-packages} of a package's Python code; none if it is part of another's tree."""
    definition = PACKAGES[role]
    if definition.tree:
        return {}
    files = _modules(role, import_name, definition.modules)
    files[_TREE_MODULE] = "{tree}/__init__.py"
    files[_VERSION_MODULE] = import_name + "/_version.py"
    if definition.names:
        trees = _trees()
        content = {key: trees[of] for key, of in definition.names.items()}
        files[_names(name + role + "_names", content)] = import_name + "/_package.json"
    if not definition.archive_modules:
        return files
    return files | select({_PLAIN_DEVEL: {}, "//conditions:default": _modules(role, import_name, definition.archive_modules)})

def _wheel(name, role, target = ""):
    """Declares the wheel of a package; returns the package's name."""
    definition, import_name = PACKAGES[role], _import_name(role, target)
    package = name + role + ("_" + target if target else "")
    scripts = [module for module in definition.modules if module == "console_scripts.json"]
    sdk_wheel(
        name = package + "_wheel",
        classifiers = METADATA.classifiers,
        console_scripts = _source(role, scripts[0]) if scripts else None,
        description = Label("//packaging/{}:README.md".format(role)),
        distribution = _distribution(role, target),
        externals = EXTERNALS,
        files = _files(name, role, import_name),
        import_name = import_name,
        license_expression = METADATA.license_expression,
        license_files = [_LICENSE],
        license_patterns = METADATA.license_patterns,
        package = package,
        platform_tag = _PLATFORM_TAG,
        requires = [_distribution(required, "") + "=={version}" for required in definition.requires],
        summary = definition.summary + (" for " + target if target else ""),
        urls = METADATA.urls,
        version = _VERSION,
    )
    return package

def _package(name, role, artifacts, target = "", builds_on = None):
    """Declares a package, for a GPU target or family if that is given, and its wheel.

    Args:
        name: what the names of all targets begin with.
        role: which package.
        artifacts: labels.
        target: GPU target or family, or "".
        builds_on: packages that it builds on, if they are not those of its definition.

    Returns:
        list of the package's name.
    """
    definition, suffix = PACKAGES[role], ("_" + target if target else "")
    trees = _trees(role, target)
    sdk_package(
        name = name + role + suffix,
        package = role + suffix,
        artifacts = artifacts,
        builds_on = builds_on or [name + below for below in definition.builds_on],
        exclude = definition.exclude,
        kind = definition.kind,
        per_target = bool(target),
        rpath = _searched(role, trees),
        tree = trees[role],
        version_suffix = _VERSION_SUFFIX,
    )
    return [_wheel(name, role, target)]

def _thin_libraries(name, artifacts, family, declared):
    """Declares the libraries packages for single targets out of a family's artifacts, and their wheels; returns their names."""
    libraries, trees = PACKAGES["libraries"], _trees("libraries", "{target}")
    rocm_thin_packages(
        name = name + "thin_libraries_" + family,
        package = "libraries",
        artifacts = _select(artifacts, libraries.artifacts, ["generic", family]),
        builds_on = [name + below for below in libraries.builds_on],
        coverage = name + "coverage",
        exclude = libraries.exclude,
        left_out = declared.left_out,
        left_out_option = "--repo_env=ROCM_TARGETS_LEFT_OUT",
        rpath = _searched("libraries", trees),
        targets = declared.packages,
        tree = trees["libraries"],
        version_suffix = _VERSION_SUFFIX,
    )
    for target in declared.packages:
        rocm_thin_package(
            name = name + "libraries_" + target,
            packages = name + "thin_libraries_" + family,
            target = target,
        )
    return [_wheel(name, "libraries", target) for target in declared.packages]

def _pin(names, target = ""):
    return names["distribution"].replace("{target}", target) + "=={version}"

def _static_extras(content):
    """Returns the extras of the static wheel: those of the sdist that ask nothing about the machine."""
    packages, targets = content["packages"], content["targets"]
    extras = {role: [_pin(packages[role])] for role in ["devel", "profiler"] if role in packages}
    if content["layout"] != "split":
        pins = {"libraries-" + target.lower(): [_pin(packages["libraries"], target)] for target in targets}
        return extras | pins | ({"libraries-all": [pin for one in pins.values() for pin in one]} if pins else {})
    libraries = [_pin(packages["libraries"])]
    extras["libraries"] = libraries
    if "device" in packages:
        devices = {target: _pin(packages["device"], target) for target in targets}
        extras |= {"device-" + target.lower(): libraries + [pin] for target, pin in devices.items()}
        extras["device-all"] = libraries + devices.values()
    return extras

def _selector(name, content):
    """Declares `rocm` twice: the sdist that looks at the machine, and the wheel with explicit extras only."""
    distributions = _names(name + "distributions", content)
    project = dict(
        classifiers = METADATA.classifiers,
        description = Label("//packaging/rocm:README.md"),
        distribution = "rocm",
        license_expression = "Apache-2.0",
        license_files = [_LICENSE],
        sources = Label("//packaging/rocm:sources"),
        summary = "ROCm for Python: selects the packages for the machine, and helps to use them",
        urls = METADATA.urls,
        version = _VERSION,
    )
    sdk_sdist(
        name = name + "rocm_sdist",
        dynamic = ["Requires-Dist", "Provides-Extra"],
        files = {distributions: "src/rocm_sdk/_distributions.json", name + "coverage_lacks": "src/rocm_sdk/_device_code.json"},
        **project
    )
    sdk_static_wheel(
        name = name + "rocm_static_wheel",
        console_scripts = {"rocm-sdk": "rocm_sdk.cli:main"},
        extras = _static_extras(content),
        files = {distributions: "rocm_sdk/_distributions.json", name + "coverage_lacks": "rocm_sdk/_device_code.json"},
        requires = [_pin(content["packages"]["core"])],
        strip_prefix = "src",
        **project
    )

def _described(role, target = ""):
    """Returns what `_distributions.json` says of a package."""
    names = {"distribution": _distribution(role, target), "tree": _trees(role, target)[role]}
    return names | ({"import": _import_name(role, target)} if PACKAGES[role].import_name else {})

def _content(layout, targets, dist_targets, has_profiler, members = {}):
    """What `_distributions.json` says, but for the version and the version suffix."""
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
    """Declares what tells of packages, one by one and together: plans, bills of materials, platform tags, sizes."""
    sdk_reports(name = name + "reports", wheels = {package: package + "_wheel" for package in packages})
    native.filegroup(
        name = name + "platform_tags",
        srcs = [package + "_wheel" for package in packages],
        output_group = "platform_tag",
        visibility = ["//visibility:public"],
    )
    sdk_size_report(
        name = name + "size_report",
        wheels = [package + "_wheel" for package in packages],
        visibility = ["//visibility:public"],
    )

def rocm_packages(name, artifacts, split, dist_targets = [], thin = None, expected_coverage = None, compared_targets = []):
    """Declares plans, wheels, the selector and the directory with all of them.

    Args:
        name: what the names of all targets begin with; may be empty.
        artifacts: list of struct(name, component, target, label).
        split: whether device code comes as artifacts per target, beside generic ones.
        dist_targets: GPU targets in order of preference, as dist_info.json has them.
        thin: for packages of single targets out of families' artifacts: what `thin_selection` returns.
        expected_coverage: the committed coverage table, as `rocm_coverage` takes it.
        compared_targets: GPU targets whose code is compared with it; all if there are none.
    """
    features = {}
    for artifact in artifacts:
        if artifact.target != "generic":
            features.setdefault(package_owner(artifact.target), {})[artifact.target] = True
    targets, by_name, libraries_artifacts = sorted(features), {}, PACKAGES["libraries"].artifacts
    core = _package(name, "core", _select(artifacts, PACKAGES["core"].artifacts, ["generic"]))
    devel_artifacts = _select_devel(artifacts, split, of_devel(split, targets, thin))
    libraries = []
    if split:
        libraries += _package(name, "libraries", _select(artifacts, libraries_artifacts, ["generic"]))
        for target in targets:
            libraries += _package(name, "device", _select(artifacts, PACKAGES["device"].artifacts, sorted(features[target])), target)
    elif thin:
        for family, declared in thin.items():
            libraries += _thin_libraries(name, artifacts, family, declared)
        by_name = {target: members for declared in thin.values() for target, members in declared.packages.items()}
        targets = sorted(by_name)
    else:
        for family in targets:
            libraries += _package(name, "libraries", _select(artifacts, libraries_artifacts, ["generic", family]), family)
    profiled = _select(artifacts, PACKAGES["profiler"].artifacts, ["generic"])
    profiler = _package(name, "profiler", profiled) if profiled else []
    devel = _package(name, "devel", devel_artifacts, builds_on = core + libraries)
    layout = "split" if split else "thin" if thin else "family"
    groups = {target: members for target, members in by_name.items() if members != [target]}
    _selector(name, _content(layout, targets, dist_targets, bool(profiler), groups))

    packages = core + libraries + profiler + devel
    _reports(name, packages)
    distributions = [package + "_wheel" for package in packages] + [name + "rocm_sdist"]
    rocm_coverage(
        name = name + "coverage",
        artifacts = _select(artifacts, libraries_artifacts, ["generic"] + (sorted(thin) if thin else sorted({artifact.target: None for artifact in artifacts}))),
        compared = compared_targets,
        expected = expected_coverage,
        expected_option = "--//packaging:expected_coverage",
        targets = by_name,
        targets_option = "--repo_env=ROCM_TARGETS",
        visibility = ["//visibility:public"],
    )
    static = [name + "rocm_static_wheel"]
    native.filegroup(name = name + "all_wheels", srcs = distributions + static, visibility = ["//visibility:public"])
    sdk_index(
        name = name + "dist",
        distributions = distributions,
        selector = name + "distributions",
        static = static,
        title = "ROCm for Python",
        visibility = ["//visibility:public"],
    )
