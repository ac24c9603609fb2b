"""Container images of ROCm for one GPU target or family each."""

load("//packaging:package_targets.bzl", "VERSION")
load("//packaging:packages.bzl", "METADATA", "PLATFORMS")
load("//rules:images.bzl", "sdk_image_layout", "sdk_layer")

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

def _layout(name, images):
    """Declares images: a dict from what the tag says after the version to the layers."""
    sdk_image_layout(
        name = name,
        base = _BASE,
        images = images,
        labels = {
            "org.opencontainers.image.licenses": METADATA.license_expression,
            "org.opencontainers.image.title": "ROCm for {image}",
            "org.opencontainers.image.version": "{version}",
        },
        reference = "localhost/rocm:{version}-{image}",
        tags = ["manual"],
        target_compatible_with = _COMPATIBLE_WITH,
        version = VERSION,
        visibility = ["//visibility:public"],
    )

def image_targets(name, split, targets, selector):
    """Declares `image_gfx942` and `image_gfx942_devel` for each GPU target or family, and `images`, a layout of them all.

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
    images = {}
    for target in targets:
        package = "{}{}_{}".format(name, "device" if split else "libraries", target)
        layers = common_layers + [_layer(package + "_layer", package + "_wheel"), rocm]
        links = _layer("{}devel_links_{}_layer".format(name, target), devel_wheel, beside = common_wheels, links_to = package + "_wheel")
        of_target = {target: layers, target + "-devel": layers + [devel, links]}
        for image, its_layers in of_target.items():
            _layout(name + "image_" + image.replace("-devel", "_devel"), {image: its_layers})
        images |= of_target
    _layout(name + "images", images)
