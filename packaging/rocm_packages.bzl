"""rocm_packages: the packages of ROCm out of a set of artifacts, as `packages.bzl` defines them."""

load("//packaging:distributions.bzl", "names_file")
load("//packaging:gpus.bzl", "package_owner")
load("//packaging:packages.bzl", "CORE", "DEVEL", "DEVICE", "EXTERNALS", "LIBRARIES", "METADATA", "PROFILER")
load("//packaging:selection.bzl", "default_target", "of_devel")
load("//rules:coverage.bzl", "rocm_coverage")
load("//rules:index.bzl", "sdk_index")
load("//rules:package.bzl", "sdk_package")
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

_IMPORT_NAMES = {
    "core": "rocm_sdk_core",
    "devel": "rocm_sdk_devel",
    "libraries": "rocm_sdk_libraries",
    "profiler": "rocm_profiler",
}

def _named(name, patterns):
    return any([name.startswith(pattern[:-1]) if pattern.endswith("*") else name == pattern for pattern in patterns])

def _select(artifacts, wanted, targets):
    """Returns the labels of the artifacts that a package is made from."""
    return [
        artifact.label
        for artifact in artifacts
        if artifact.target in targets and _named(artifact.name, wanted.get(artifact.component, []))
    ]

def _identifier(target):
    return target.replace("-", "_")

def _tree(import_name):
    """Returns the name of the tree beside a package's Python code."""
    return "_" + import_name + "{suffix}"

def _searched(rpath, trees):
    return ["{}/{}".format(trees[entry.partition("/")[0]], entry.partition("/")[2]) for entry in rpath]

def _wheel(name, package, distribution, readme, requires = [], summary = "", **kwargs):
    sdk_wheel(
        name = name,
        classifiers = METADATA.classifiers,
        description = Label("//packaging/{}:README.md".format(readme)),
        distribution = distribution,
        externals = EXTERNALS,
        license_expression = METADATA.license_expression,
        license_files = [_LICENSE],
        license_patterns = METADATA.license_patterns,
        package = package,
        platform_tag = _PLATFORM_TAG,
        requires = requires,
        summary = summary,
        urls = METADATA.urls,
        version = _VERSION,
        **kwargs
    )

def _names(name, content):
    """Declares a JSON file with what the build calls its packages; returns its target."""
    names_file(name = name, content = json.encode(content), version = _VERSION, version_suffix = _VERSION_SUFFIX)
    return name

def _glue(package, import_name, files):
    return {Label("//packaging/{}:src/rocm_{}/{}".format(package, "profiler" if package == "profiler" else "sdk_" + package, file)): "{}/{}".format(import_name, file) for file in files}

def _core(name, artifacts, trees):
    sdk_package(
        name = name + "core",
        package = "core",
        artifacts = _select(artifacts, CORE.artifacts, ["generic"]),
        exclude = CORE.exclude,
        rpath = _searched(CORE.rpath, trees),
        tree = trees["core"],
        version_suffix = _VERSION_SUFFIX,
    )
    names = _names(name + "core_names", {"tree": trees["core"]})
    _wheel(
        name = name + "core_wheel",
        console_scripts = Label("//packaging/core:src/rocm_sdk_core/console_scripts.json"),
        distribution = "rocm-sdk-core",
        files = _glue("core", "rocm_sdk_core", ["__init__.py", "_cli.py", "console_scripts.json"]) | {names: "rocm_sdk_core/_package.json"},
        import_name = "rocm_sdk_core",
        package = name + "core",
        readme = "core",
        summary = "ROCm: runtime, compiler and tools",
    )
    return [name + "core"]

def _libraries_package(name, artifacts, trees, family):
    """Declares the libraries package, the generic one or that of a family, and its wheel; returns its target."""
    suffix = "_" + family if family else ""
    trees = trees | {"libraries": _tree("rocm_sdk_libraries" + _identifier(suffix))}
    sdk_package(
        name = name + "libraries" + suffix,
        package = "libraries" + suffix,
        artifacts = _select(artifacts, LIBRARIES.artifacts, ["generic"] + ([family] if family else [])),
        builds_on = [name + "core"],
        exclude = LIBRARIES.exclude,
        per_target = bool(family),
        rpath = _searched(LIBRARIES.rpath, trees),
        tree = trees["libraries"],
        version_suffix = _VERSION_SUFFIX,
    )
    _libraries_wheel(name, family)
    return name + "libraries" + suffix

def _thin_libraries(name, artifacts, trees, family, declared):
    """Declares the libraries packages for single targets out of a family's artifacts, and their wheels; returns their targets."""
    trees = trees | {"libraries": _tree("rocm_sdk_libraries_{target}")}
    rocm_thin_packages(
        name = name + "thin_libraries_" + family,
        package = "libraries",
        artifacts = _select(artifacts, LIBRARIES.artifacts, ["generic", family]),
        builds_on = [name + "core"],
        coverage = name + "coverage",
        exclude = LIBRARIES.exclude,
        left_out = declared.left_out,
        rpath = _searched(LIBRARIES.rpath, trees),
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
        _libraries_wheel(name, target)
    return [name + "libraries_" + target for target in declared.packages]

def _libraries_wheel(name, target):
    """Declares the wheel of the libraries package, of a family or a target if that is given."""
    suffix = "_" + target if target else ""
    import_name = "rocm_sdk_libraries" + _identifier(suffix)
    _wheel(
        name = name + "libraries" + suffix + "_wheel",
        distribution = "rocm-sdk-libraries" + ("-" + target if target else ""),
        files = _glue("libraries", import_name, ["__init__.py"]),
        import_name = import_name,
        package = name + "libraries" + suffix,
        readme = "libraries",
        requires = ["rocm-sdk-core=={version}"],
        summary = "ROCm: math, communication and machine-learning libraries" + (" for " + target if target else ""),
    )

def _device(name, artifacts, trees, target, targets):
    """Declares the package of one GPU target's device code; `targets` are those with its features."""
    sdk_package(
        name = name + "device_" + target,
        package = "device_" + target,
        artifacts = _select(artifacts, DEVICE.artifacts, targets),
        builds_on = [name + "core", name + "libraries"],
        exclude = DEVICE.exclude,
        per_target = True,
        rpath = _searched(DEVICE.rpath, trees),
        tree = trees["libraries"],
        version_suffix = _VERSION_SUFFIX,
    )
    _wheel(
        name = name + "device_" + target + "_wheel",
        distribution = "rocm-sdk-device-" + target,
        package = name + "device_" + target,
        readme = "device",
        requires = ["rocm-sdk-libraries=={version}"],
        summary = "ROCm: device code of the libraries for " + target,
    )
    return name + "device_" + target

def _profiler(name, artifacts, trees):
    labels = _select(artifacts, PROFILER.artifacts, ["generic"])
    if not labels:
        return []
    sdk_package(
        name = name + "profiler",
        package = "profiler",
        artifacts = labels,
        builds_on = [name + "core"],
        exclude = PROFILER.exclude,
        rpath = _searched(PROFILER.rpath, trees),
        tree = trees["profiler"],
        version_suffix = _VERSION_SUFFIX,
    )
    names = _names(name + "profiler_names", {"core_tree": trees["core"], "tree": trees["profiler"]})
    _wheel(
        name = name + "profiler_wheel",
        console_scripts = Label("//packaging/profiler:src/rocm_profiler/console_scripts.json"),
        distribution = "rocm-profiler",
        files = _glue("profiler", "rocm_profiler", ["__init__.py", "_cli.py", "console_scripts.json"]) | {names: "rocm_profiler/_package.json"},
        import_name = "rocm_profiler",
        package = name + "profiler",
        readme = "profiler",
        requires = ["rocm-sdk-core=={version}"],
        summary = "ROCm: profilers for compute kernels and whole systems",
    )
    return [name + "profiler"]

def _devel(name, artifacts, trees, split, targets, builds_on):
    names = {pattern: True for package in [CORE, LIBRARIES] for patterns in package.artifacts.values() for pattern in patterns}
    names = sorted(names) + DEVEL.additional_artifacts
    sdk_package(
        name = name + "devel",
        package = "devel",
        artifacts = [
            artifact.label
            for artifact in artifacts
            if _named(artifact.name, names) and artifact.target in targets and not (split and artifact.component == "test")
        ],
        builds_on = builds_on,
        kind = "devel",
        rpath = _searched(DEVEL.rpath, trees),
        tree = trees["devel"],
        version_suffix = _VERSION_SUFFIX,
    )
    _wheel(
        name = name + "devel_wheel",
        distribution = "rocm-sdk-devel",
        files = _glue("devel", "rocm_sdk_devel", ["__init__.py", "_devel.journal", "_devel.lock"]),
        import_name = "rocm_sdk_devel",
        package = name + "devel",
        readme = "devel",
        requires = ["rocm-sdk-core=={version}"],
        summary = "ROCm: headers, CMake files and all that building against it needs",
    )
    return [name + "devel"]

def _pin(names, target = ""):
    return names["distribution"].replace("{target}", target) + "=={version}"

def _static_extras(content):
    """Returns the extras of the static wheel: those of the sdist that ask nothing about the machine."""
    packages, targets = content["packages"], content["targets"]
    extras = {role: [_pin(packages[role])] for role in ["devel", "profiler"] if role in packages}
    if content["layout"] != "split":
        return extras | {"libraries-" + target.lower(): [_pin(packages["libraries"], target)] for target in targets}
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

def _content(layout, targets, dist_targets, trees, has_profiler, members = {}):
    """What `_distributions.json` says, but for the version and the version suffix."""
    split = layout == "split"
    suffix = "" if split else "-{target}"
    libraries = "rocm_sdk_libraries" + _identifier(suffix)
    packages = {
        "core": {"distribution": "rocm-sdk-core", "import": "rocm_sdk_core", "tree": trees["core"]},
        "devel": {"distribution": "rocm-sdk-devel", "import": "rocm_sdk_devel", "tree": trees["devel"]},
    }
    if split or targets:
        packages["libraries"] = {
            "distribution": "rocm-sdk-libraries" + suffix,
            "import": libraries,
            "tree": _tree(libraries),
        }
    if split and targets:
        packages["device"] = {"distribution": "rocm-sdk-device-{target}", "tree": trees["libraries"]}
    if has_profiler:
        packages["profiler"] = {"distribution": "rocm-profiler", "import": "rocm_profiler", "tree": trees["profiler"]}
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
    for package in packages:
        native.alias(name = package + "_plan", actual = package)
        for report in ["platform_tag", "sbom"]:
            native.filegroup(name = "{}_{}".format(package, report), srcs = [package + "_wheel"], output_group = report)
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
    trees = {package: _tree(import_name) for package, import_name in _IMPORT_NAMES.items()}
    features = {}
    for artifact in artifacts:
        if artifact.target != "generic":
            features.setdefault(package_owner(artifact.target), {})[artifact.target] = True
    targets = sorted(features)
    core = _core(name, artifacts, trees)
    devel_targets = of_devel(split, targets, thin)
    by_name = {}
    if split:
        libraries = [_libraries_package(name, artifacts, trees, None)]
        libraries += [_device(name, artifacts, trees, target, sorted(features[target])) for target in targets]
    elif thin:
        libraries = [package for family in thin for package in _thin_libraries(name, artifacts, trees, family, thin[family])]
        by_name = {target: members for declared in thin.values() for target, members in declared.packages.items()}
        targets = sorted(by_name)
    else:
        libraries = [_libraries_package(name, artifacts, trees, family) for family in targets]
    profiler = _profiler(name, artifacts, trees)
    devel = _devel(name, artifacts, trees, split, devel_targets, core + libraries)
    layout = "split" if split else "thin" if thin else "family"
    groups = {target: members for target, members in by_name.items() if members != [target]}
    _selector(name, _content(layout, targets, dist_targets, trees, bool(profiler), groups))

    packages = core + libraries + profiler + devel
    _reports(name, packages)
    distributions = [package + "_wheel" for package in packages] + [name + "rocm_sdist"]
    rocm_coverage(
        name = name + "coverage",
        artifacts = _select(artifacts, LIBRARIES.artifacts, ["generic"] + (sorted(thin) if thin else sorted({artifact.target: None for artifact in artifacts}))),
        compared = compared_targets,
        expected = expected_coverage,
        targets = by_name,
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
