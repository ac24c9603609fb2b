"""Container images of ROCm for one GPU target or family each."""

load("//packaging:package_targets.bzl", "VERSION")
load("//packaging:packages.bzl", "METADATA", "PLATFORMS")
load("//rules:images.bzl", "sdk_image", "sdk_image_push", "sdk_layer")

visibility(["//packaging"])

_BASE = Label("//packaging:image_base")
_INSTALL_SCHEME = Label("//packaging:image_install_scheme")

def image_targets(name, split, targets, selector):
    """Declares a runtime image for each GPU target or family, `images`, all of them, and `push`, which pushes them.

    Args:
        name: what the names of all targets begin with.
        split: whether device code comes in packages of its own.
        targets: GPU targets or families that there are packages for.
        selector: name of the static wheel of the selector.
    """
    compatible_with = PLATFORMS["linux"].compatible_with
    common = [name + role for role in (["core", "libraries"] if split else ["core"])]
    packages = {target: "{}{}_{}".format(name, "device" if split else "libraries", target) for target in targets}
    wheels = {package + "_layer": package + "_wheel" for package in common + packages.values()} | {name + "rocm_layer": selector}
    for layer, wheel in wheels.items():
        sdk_layer(
            name = layer,
            install_scheme = _INSTALL_SCHEME,
            tags = ["manual"],
            target_compatible_with = compatible_with,
            wheel = wheel,
        )
    for target, package in packages.items():
        sdk_image(
            name = name + "image_" + target,
            base = _BASE,
            labels = {
                "org.opencontainers.image.licenses": METADATA.license_expression,
                "org.opencontainers.image.title": "ROCm for " + target,
                "org.opencontainers.image.version": "{version}",
            },
            layers = [one + "_layer" for one in common + [package]] + [name + "rocm_layer"],
            reference = "localhost/rocm:{version}-" + target,
            tags = ["manual"],
            target_compatible_with = compatible_with,
            version = VERSION,
        )
    images = [name + "image_" + target for target in targets]
    native.filegroup(
        name = name + "images",
        srcs = images,
        tags = ["manual"],
        visibility = ["//visibility:public"],
    )
    sdk_image_push(
        name = name + "push",
        images = images,
        tags = ["manual"],
        target_compatible_with = compatible_with,
    )
