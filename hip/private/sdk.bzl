"""A ROCm SDK for C++ and HIP: libraries, programs and a compiler, as targets of a repository such as `@rocm`.

It comes from artifacts, from the same sources as packages, or from a directory in which ROCm is installed. The
repository has the install prefix in `prefix/`, with links to the files, and its BUILD file is made of what CMake reads
in the CMake packages.
"""

load("//rules/shared:names.bzl", "archive_repository_name", "artifact_parts")
load("//tools/fetch:run_program.bzl", "CATALOG_SOURCES", "run_program")
load(":hip_targets.bzl", "may_run", "with_native_targets")
load(":sdk_toolchains.bzl", "installed_directory")

visibility(["//hip/private"])

_SOURCES = CATALOG_SOURCES + [Label("//hip/tools:prefix/" + name) for name in [
    "library_files.py",
    "build_file.py",
    "cmake_exports.py",
    "cmake_project/CMakeFindDependencyMacro.cmake",
    "cmake_project/CMakeLists.txt",
    "merge.py",
    "packages.py",
    "plan.py",
    "repository.py",
    "shared_libraries.py",
]] + [
    Label("//lib/wheel:devel_tree.py"),
    Label("//tools/fetch:debian/table.py"),
    Label("//lib/gpus:target_id.py"),
    Label("//lib/gpus:paths.py"),
] + [Label("//lib/elf:" + name) for name in [
    "constants.py",
    "library_name.py",
    "model.py",
    "opened_names.py",
    "platforms.py",
    "reader.py",
    "source.py",
    "versions.py",
]]

# What lists the links of the development tree, and, in packages of AMD's until the summer of 2026, the tree itself.
_DEVEL_MANIFEST = "site/rocm_sdk_devel/.devel_links/devel.json"
_DEVEL_ARCHIVES = ["site/rocm_sdk_devel/_devel.tar", "site/rocm_sdk_devel/_devel.tar.xz"]

# What the directories of packages begin with, and the directory of the development tree.
_TREES, _DEVEL = "_rocm_sdk_", "_rocm_sdk_devel"

_WHEELS = """\
# The wheels as they are, for `sdk_requiring_wheel`.
filegroup(
    name = "wheels",
    srcs = {labels},
    visibility = ["//visibility:public"],
)
"""

# Components of artifacts that programs are compiled, linked and run with.
_COMPONENTS = ["dev", "lib", "run"]

def _listing(rctx, file):
    """Returns the content of `artifacts.json` beside a `.bzl` file of artifacts, or None if it has no such file."""
    path = rctx.path(file).dirname.get_child("artifacts.json")
    return json.decode(rctx.read(path)) if path.exists else None

def _source(rctx):
    """Returns struct(label: of a `.bzl` file of artifacts, artifacts: dict, whether each is in the label's own repository)."""
    label = rctx.attr.artifacts
    listing = _listing(rctx, label)
    if listing and "source" in listing:  # It stands for another listing.
        label = Label(listing["source"]) if listing["source"] else label
        listing = _listing(rctx, label)
    if not listing or not listing.get("artifacts"):
        fail(("\n{}: there are no artifacts of ROCm to take libraries and a compiler from ({}). Set --repo_env=ROCM_ARTIFACTS_DIR=/absolute/directory, " +
              "use --config=debian_rocm, or name an installed ROCm: hip.sdk(path = \"/opt/rocm\")").format(rctx.attr.tag, label))
    return struct(artifacts = listing["artifacts"], label = label)

def _wanted(targets, artifact):
    """Whether programs need an artifact: it has no code for GPUs, or its code may run on a GPU that they are compiled for."""
    _, component, target = artifact_parts(artifact) or ["", "", ""]
    return component in _COMPONENTS and (target == "generic" or may_run(targets, target))

def _manifests(rctx, targets):
    """Returns the paths of the manifests of all artifacts that are needed, whose repositories Bazel fetches for that."""
    source, paths = _source(rctx), []
    for artifact, is_here in sorted(source.artifacts.items()):
        if _wanted(targets, artifact):
            repository = source.label.repo_name if is_here else archive_repository_name(source.label.repo_name, artifact)
            path = rctx.path(Label("@@{}//:manifests/{}.json".format(repository, artifact.replace(":", "%3A"))))
            rctx.watch(path)
            paths.append(path)
    return paths

def _installed(rctx):
    """Returns the directory in which an SDK is installed."""
    path = installed_directory(rctx, rctx.attr.path, rctx.attr.variable)
    if not path.startswith("/"):
        fail("\n{}: {}: expected an absolute path. Change `path`".format(rctx.attr.tag, repr(path)))
    if not rctx.path(path).is_dir:
        fail("\n{}: {}: there is no such directory; expected one in which ROCm is installed. Change path{}".format(
            rctx.attr.tag,
            path,
            ", or set --repo_env={}=/absolute/directory".format(rctx.attr.variable) if rctx.attr.variable else "",
        ))
    return path

def _unpacked_wheels(rctx):
    """Unpacks the wheels side by side, as pip installs them.

    Returns:
        struct(tree: path of the development tree, beside: list of the other packages' paths, devel: path of the Python package
        that lists the tree's links, or None).
    """
    for label in sorted(rctx.attr.wheels):
        rctx.report_progress("unpacking " + label.name)

        # Bazel knows what to do by the suffix.
        rctx.symlink(rctx.path(label), "wheel.zip")
        rctx.extract("wheel.zip", output = "site")
        rctx.delete("wheel.zip")
    rctx.file("wheels/BUILD.bazel", _WHEELS.format(labels = repr([str(label) for label in sorted(rctx.attr.wheels)])))
    has_manifest = rctx.path(_DEVEL_MANIFEST).exists
    for archive in [] if has_manifest else _DEVEL_ARCHIVES:
        if rctx.path(archive).exists:
            rctx.extract(archive, output = "site")
            rctx.delete(archive)
    site = rctx.path("site")
    trees = {path.basename: path for path in (site.readdir() if site.exists else []) if path.basename.startswith(_TREES)}
    if has_manifest:
        trees.setdefault(_DEVEL, site.get_child(_DEVEL))  # It may be in an archive.
    if _DEVEL not in trees:
        fail("\n{}: {} has no wheel with a development tree; expected rocm-sdk-devel among {}. Add it to the requirements, and lock them again".format(
            rctx.attr.tag,
            rctx.attr.lock_file,
            ", ".join([label.name for label in sorted(rctx.attr.wheels)]) or "(none)",
        ))
    return struct(
        beside = [path for name, path in sorted(trees.items()) if name != _DEVEL],
        devel = rctx.path(_DEVEL_MANIFEST).dirname.dirname if has_manifest else None,
        tree = trees[_DEVEL],
    )

def _sdk_impl(rctx):
    if rctx.attr.conflict:
        fail("\n" + rctx.attr.conflict)
    targets = with_native_targets(rctx, rctx.attr.tag, rctx.attr.targets)
    arguments = ["--output", rctx.path("."), "--cmake", rctx.path(rctx.attr._cmake)]
    arguments += ["--target=" + target for target in targets]
    if rctx.attr.artifacts:
        for path in _manifests(rctx, targets):
            arguments += ["--manifest", path]
    elif rctx.attr.lock_file:
        unpacked = _unpacked_wheels(rctx)
        arguments += ["--tree", unpacked.tree] + (["--devel", unpacked.devel] if unpacked.devel else [])
        for path in unpacked.beside:
            arguments += ["--beside", path]
    else:
        arguments += ["--tree", _installed(rctx)]
    rctx.report_progress("reading CMake packages")
    run_program(rctx, "hip.tools.prefix.repository", arguments, rctx.attr._sources)

sdk = repository_rule(
    doc = "Libraries, programs and the compiler of a ROCm SDK.",
    implementation = _sdk_impl,
    attrs = {
        "artifacts": attr.label(doc = "`.bzl` file with ARTIFACTS: where the SDK comes from."),
        "conflict": attr.string(doc = "Why the SDK cannot be used: what contradicts it. Empty if nothing does."),
        "lock_file": attr.string(doc = "The lock file that names the wheels, for errors."),
        "path": attr.string(doc = "Directory in which the SDK is installed, if it does not come from artifacts."),
        "tag": attr.string(doc = "How errors name the tag that declares the repository."),
        "targets": attr.string_list(doc = "GPU targets that HIP programs are compiled for unless the build says others."),
        "variable": attr.string(doc = "Environment variable that names another directory."),
        "wheels": attr.label_keyed_string_dict(doc = "Wheels that the SDK comes from -> their SHA-256: the SDK is made again when one changes."),
        "_cmake": attr.label(default = "@cmake//:cmake/data/bin/cmake", allow_single_file = True),
        "_sources": attr.label_list(default = _SOURCES, allow_files = True),
    },
    environ = ["ROCM_ARTIFACTS_FINGERPRINT"],
)
