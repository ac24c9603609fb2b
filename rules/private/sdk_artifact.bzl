"""Artifacts: sdk_artifact, of targets of the workspace, and catalogued_artifact, of files outside, as the catalog lists them."""

load("//rules/private/common:placements.bzl", "by_path", "one_file", "placed")
load("//rules/private/common:providers.bzl", "ArtifactInfo")
load("//rules/private/common:units.bzl", "INSPECT_ATTRS", "artifact_providers", "unit")
load("//rules/shared:names.bzl", "COMPONENTS", "shown")

visibility(["//rules"])

# The modes that packages may contain: everybody can read, only the owner can write, no set-user-ID.
_MODES = ["0644", "0755", "0444", "0555"]

def _check_link(ctx, path, target):
    parts = path.split("/")[:-1]
    for part in target.split("/"):
        if part == ".." and not parts or target.startswith("/"):
            fail("{}: the link {} -> {} leads outside the artifact tree; expected a relative link that stays inside".format(shown(ctx.label), path, target))
        if part == "..":
            parts.pop()
        elif part != ".":
            parts.append(part)

def _path_in_repository(file):
    """Returns the path of a file below the root of its repository, whether it is a source or an output."""
    return file.short_path.split("/", 2)[2] if file.short_path.startswith("../") else file.short_path

def _place_of(file, strip_prefix, prefix):
    """Returns the path of one of `files`, or of a file in a directory of `files`, below the install prefix."""
    path = _path_in_repository(file).removeprefix(strip_prefix).removeprefix("/")
    return "/".join([part for part in [prefix, path] if part])

def _check_strip_prefix(ctx):
    strip_prefix = ctx.attr.strip_prefix
    for file in ctx.files.files:
        path = _path_in_repository(file)
        if strip_prefix and not path.startswith(strip_prefix + "/") and not (file.is_directory and path == strip_prefix):
            fail("{}: files: {} is not below strip_prefix {}; expected only files below it. Change strip_prefix, or use srcs for this file".format(
                shown(ctx.label),
                repr(path),
                repr(strip_prefix),
            ))

def _places(ctx):
    """Returns {path: what is there}; fails for duplicate paths. The contents of directories are known later."""
    files = [placed(path, one_file(ctx.label, target, path), target.label) for target, path in ctx.attr.srcs.items()]
    files += [
        placed(_place_of(file, ctx.attr.strip_prefix, ctx.attr.prefix), file, file.owner)
        for file in ctx.files.files
        if not file.is_directory
    ]
    links = [placed(path, None, "a link to " + target, "link") for path, target in ctx.attr.links.items()]
    directories = [placed(path, None, "an empty directory", "directory", is_directory = True) for path in ctx.attr.directories]
    return by_path(ctx.label, files + links + directories)

def _entry(ctx, place):
    if place.path in ctx.attr.links:
        target = ctx.attr.links[place.path]
        _check_link(ctx, place.path, target)
        return {"base": ctx.attr.base_directory, "kind": "link", "path": place.path, "target": target}
    if place.is_directory:
        return {"base": ctx.attr.base_directory, "kind": "directory", "mode": "0755", "path": place.path}
    entry = {"base": ctx.attr.base_directory, "file": place.file.short_path, "kind": "file", "path": place.path}
    return entry | ({"mode": ctx.attr.modes[place.path]} if place.path in ctx.attr.modes else {})

def _check_modes(ctx, paths):
    for path, mode in ctx.attr.modes.items():
        if path not in paths:
            fail("{}: modes: {} is not a path of this artifact; expected one of {}".format(shown(ctx.label), repr(path), sorted(paths)))
        if mode not in _MODES:
            fail("{}: modes: {} has the mode {}, which is not allowed in packages; expected one of {}".format(shown(ctx.label), repr(path), repr(mode), ", ".join(_MODES)))

def _write_manifest(ctx, artifact, places):
    """Writes the manifest when the build runs: only then the files in directories are known."""
    base, strip_prefix, prefix = ctx.attr.base_directory, ctx.attr.strip_prefix, ctx.attr.prefix

    def found(file):
        return {"base": base, "file": file.short_path, "kind": "file", "path": _place_of(file, strip_prefix, prefix)}

    content = ctx.actions.args()
    content.set_param_file_format("multiline")
    content.add('{"artifact": ' + json.encode(artifact) + ', "entries": [')
    content.add_joined(
        [json.encode(_entry(ctx, place)) for _, place in sorted(places.items())] + [file for file in ctx.files.files if file.is_directory],
        allow_closure = True,
        join_with = ",\n",
        map_each = lambda entry: entry if type(entry) == "string" else json.encode(found(entry)),
    )
    content.add("]}")
    manifest = ctx.actions.declare_file(ctx.label.name + ".manifest.json")
    ctx.actions.write(manifest, content)
    return manifest

def _sdk_artifact_impl(ctx):
    artifact = "{}_{}_{}".format(ctx.attr.artifact_name, ctx.attr.component, ctx.attr.target)
    _check_strip_prefix(ctx)
    places = _places(ctx)
    _check_modes(ctx, [path for path, place in places.items() if place.file])
    manifest = _write_manifest(ctx, artifact, places)
    return artifact_providers(ctx, artifact, manifest, [unit("small", manifest, ctx.files.srcs + ctx.files.files)])

sdk_artifact = rule(
    doc = """Makes an artifact from targets: files one by one with `srcs`, or whole trees with `files`.

Declare links, empty directories and unusual modes here: Bazel does not keep them for inputs.""",
    implementation = _sdk_artifact_impl,
    attrs = {
        "artifact_name": attr.string(mandatory = True, doc = "Name of the artifact, such as `core-hip`. Packages select artifacts by name."),
        "base_directory": attr.string(default = "stage", doc = "Base directory that plans show for the artifact's files."),
        "component": attr.string(mandatory = True, values = COMPONENTS, doc = "Part of the build: libraries, programs, development files, debug files, documentation, tests."),
        "directories": attr.string_list(doc = "Paths of empty directories."),
        "files": attr.label_list(
            allow_files = True,
            doc = "Files that keep their paths, such as a `filegroup` of a prebuilt SDK, or a directory that a rule writes. " +
                  "A file's path below the install prefix is `prefix`, and its path in its repository without `strip_prefix`.",
        ),
        "links": attr.string_dict(doc = "Path of each link -> its target. A link may dangle, but it must not leave the prefix."),
        "modes": attr.string_dict(doc = "Path -> mode: `0644`, `0755`, `0444` or `0555`. Without it, programs and scripts (`#!`) get `0755`, and other files `0644`."),
        "prefix": attr.string(doc = "Directory below the install prefix for `files`. The default is the install prefix itself."),
        "srcs": attr.label_keyed_string_dict(
            allow_files = True,
            doc = "File -> path below the install prefix.",
        ),
        "strip_prefix": attr.string(doc = "Directory, from the root of the repository, which the paths of `files` lose. A path that is not below it is an error."),
        "target": attr.string(default = "generic", doc = "`generic`, a GPU target, or a family of targets."),
    } | INSPECT_ATTRS,
    provides = [ArtifactInfo],
)

def _catalogued_artifact_impl(ctx):
    artifact = "{}_{}_{}".format(ctx.attr.artifact_name, ctx.attr.component, ctx.attr.target)
    folder = ctx.label.name
    if len(ctx.files.big_srcs) != len(ctx.files.big_manifests) or len(ctx.files.big_srcs) != len(ctx.attr.big_threads):
        fail("{}: {} big_srcs, {} big_manifests, {} big_threads; expected the same number of each. The catalog writes this file: fetch its repository again".format(shown(ctx.label), len(ctx.files.big_srcs), len(ctx.files.big_manifests), len(ctx.attr.big_threads)))
    units = [unit("small", ctx.file.small_manifest, ctx.files.srcs, ctx.attr.small_threads)] + [
        unit("big/" + file.short_path.partition("/files/" + folder + "/")[2], manifest, [file], threads, is_big_file = True)
        for file, manifest, threads in zip(ctx.files.big_srcs, ctx.files.big_manifests, ctx.attr.big_threads)
    ]
    return artifact_providers(ctx, artifact, ctx.file.manifest, units, ctx.attr.archive_sha256 or None)

catalogued_artifact = rule(
    doc = "Makes an artifact from files outside the workspace. Repositories that the catalog generates use it; in a workspace, use `sdk_artifact`.",
    implementation = _catalogued_artifact_impl,
    attrs = {
        "archive_sha256": attr.string(doc = "SHA-256 of the archive that the artifact was unpacked from, if known."),
        "artifact_name": attr.string(mandatory = True, doc = "Name of the artifact."),
        "big_manifests": attr.label_list(allow_files = [".json"], doc = "Manifest of each of `big_srcs`, in the same order."),
        "big_srcs": attr.label_list(allow_files = True, doc = "Big files, which get actions of their own."),
        "big_threads": attr.int_list(doc = "Number of threads for packing each of `big_srcs`, in the same order."),
        "component": attr.string(mandatory = True, doc = "`lib`, `run`, `dev`, `dbg`, `doc` or `test`."),
        "manifest": attr.label(mandatory = True, allow_single_file = [".json"], doc = "All entries, with the modes, links and names that Bazel does not keep."),
        "small_manifest": attr.label(mandatory = True, allow_single_file = [".json"], doc = "Manifest of `srcs`."),
        "small_threads": attr.int(default = 1, doc = "Number of threads for packing `srcs`."),
        "srcs": attr.label_list(allow_files = True, doc = "All other files."),
        "target": attr.string(mandatory = True, doc = "`generic`, an AMD GPU target, or a family of targets."),
    } | INSPECT_ATTRS,
    provides = [ArtifactInfo],
)
