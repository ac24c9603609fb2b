"""Container images of ROCm for one GPU target or family each."""

load("//packaging:package_targets.bzl", "VERSION")
load("//packaging:packages.bzl", "METADATA", "PLATFORMS")
load("//rules:images.bzl", "sdk_image", "sdk_image_layout", "sdk_image_push", "sdk_layer")

visibility(["//packaging"])

_BASE = Label("//packaging:image_base")
_INSTALL_SCHEME = Label("//packaging:image_install_scheme")
_COMPATIBLE_WITH = PLATFORMS["linux"].compatible_with

def _layer(name, wheel, beside = [], links_to = None):
    """Declares the layer of a wheel; returns its name."""
    sdk_layer(
        name = name,
        beside = beside,
        install_scheme = _INSTALL_SCHEME,
        links_to = links_to,
        tags = ["manual"],
        target_compatible_with = _COMPATIBLE_WITH,
        wheel = wheel,
    )
    return name

def _image(name, title, tag, layers):
    """Declares an image; returns its name."""
    sdk_image(
        name = name,
        base = _BASE,
        labels = {
            "org.opencontainers.image.licenses": METADATA.license_expression,
            "org.opencontainers.image.title": title,
            "org.opencontainers.image.version": "{version}",
        },
        layers = layers,
        reference = "localhost/rocm:{version}-" + tag,
        tags = ["manual"],
        target_compatible_with = _COMPATIBLE_WITH,
        version = VERSION,
    )
    return name

def image_targets(name, split, targets, selector):
    """Declares a runtime and a devel image for each GPU target or family, `images`, a layout of them all, and `push`, which pushes them.

    Args:
        name: what the names of all targets begin with.
        split: whether device code comes in packages of its own.
        targets: GPU targets or families that there are packages for.
        selector: name of the static wheel of the selector.
    """
    common = [name + role for role in (["core", "libraries"] if split else ["core"])]
    common_wheels = [package + "_wheel" for package in common]
    common_layers = [_layer(package + "_layer", package + "_wheel") for package in common]
    rocm = _layer(name + "rocm_layer", selector)
    devel_wheel = name + "devel_wheel"
    devel = _layer(name + "devel_layer", devel_wheel, beside = common_wheels)
    images = []
    for target in targets:
        package = "{}{}_{}".format(name, "device" if split else "libraries", target)
        layers = common_layers + [_layer(package + "_layer", package + "_wheel"), rocm]
        links = _layer("{}devel_links_{}_layer".format(name, target), devel_wheel, beside = common_wheels, links_to = package + "_wheel")
        images.append(_image(name + "image_" + target, "ROCm for " + target, target, layers))
        images.append(_image("{}image_{}_devel".format(name, target), "ROCm for {}, with development files".format(target), target + "-devel", layers + [devel, links]))
    sdk_image_layout(
        name = name + "images",
        images = images,
        tags = ["manual"],
        target_compatible_with = _COMPATIBLE_WITH,
        visibility = ["//visibility:public"],
    )
    sdk_image_push(
        name = name + "push",
        layout = name + "images",
        tags = ["manual"],
        target_compatible_with = _COMPATIBLE_WITH,
    )
