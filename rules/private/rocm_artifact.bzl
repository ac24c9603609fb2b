"""rocm_artifact: makes an artifact from targets of the workspace."""

load("//rules/private/common:placed.bzl", "by_path", "one_file", "placed")
load("//rules/private/common:units.bzl", "INSPECT_ATTRS", "artifact_providers", "unit")
load("//rules/private/providers:artifact_info.bzl", "ArtifactInfo")

visibility(["//rules"])

_COMPONENTS = ["lib", "run", "dev", "dbg", "doc", "test"]

# The modes that packages may contain: everybody can read, only the owner can write, no set-user-ID.
_MODES = ["0644", "0755", "0444", "0555"]

def _check_link(ctx, path, target):
    parts = path.split("/")[:-1]
    for part in target.split("/"):
        if part == ".." and not parts or target.startswith("/"):
            fail("{}: the link {} -> {} leads outside the artifact tree; expected a relative link that stays inside".format(ctx.label, path, target))
        if part == "..":
            parts.pop()
        elif part != ".":
            parts.append(part)

def _places(ctx):
    """Returns {path: what is there}; fails for duplicate paths."""
    files = [placed(path, one_file(ctx.label, target, path), target.label) for target, path in ctx.attr.srcs.items()]
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
    mode = ctx.attr.modes.get(place.path, "0644")
    return {"base": ctx.attr.base_directory, "file": place.file.short_path, "kind": "file", "mode": mode, "path": place.path}

def _check_modes(ctx, paths):
    for path, mode in ctx.attr.modes.items():
        if path not in paths:
            fail("{}: modes: {} is not a path of this artifact; expected one of {}".format(ctx.label, repr(path), sorted(paths)))
        if mode not in _MODES:
            fail("{}: modes: {} has the mode {}, which is not allowed in packages; expected one of {}".format(ctx.label, repr(path), repr(mode), ", ".join(_MODES)))

def _rocm_artifact_impl(ctx):
    artifact = "{}_{}_{}".format(ctx.attr.artifact_name, ctx.attr.component, ctx.attr.target)
    places = _places(ctx)
    _check_modes(ctx, [path for path, place in places.items() if place.file])
    entries = [_entry(ctx, place) for place in places.values()]
    manifest = ctx.actions.declare_file(ctx.label.name + ".manifest.json")
    document = {"artifact": artifact, "entries": sorted(entries, key = lambda entry: entry["path"])}
    ctx.actions.write(manifest, json.encode_indent(document, indent = " ") + "\n")
    return artifact_providers(ctx, artifact, manifest, [unit("small", manifest, ctx.files.srcs)])

rocm_artifact = rule(
    doc = """Makes an artifact from targets of the workspace.

Declare links, modes and empty directories here: Bazel does not keep them for inputs.""",
    implementation = _rocm_artifact_impl,
    attrs = {
        "artifact_name": attr.string(mandatory = True, doc = "Name of the artifact, such as `core-hip`. Packages select artifacts by name."),
        "base_directory": attr.string(default = "stage", doc = "Base directory that plans show for the artifact's files."),
        "component": attr.string(mandatory = True, values = _COMPONENTS, doc = "Part of the build: libraries, programs, development files, debug files, documentation, tests."),
        "directories": attr.string_list(doc = "Paths of empty directories."),
        "links": attr.string_dict(doc = "Path of each link -> its target. A link may dangle, but it must not leave the prefix."),
        "modes": attr.string_dict(doc = "Path -> mode, for files whose mode is not `0644`: `0755`, `0444` or `0555`."),
        "srcs": attr.label_keyed_string_dict(
            allow_files = True,
            doc = "File -> path below the install prefix.",
        ),
        "target": attr.string(default = "generic", doc = "`generic`, an AMD GPU target, or a family of targets."),
    } | INSPECT_ATTRS,
    provides = [ArtifactInfo],
)
