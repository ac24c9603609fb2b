"""Layers for container images of ROCm, for one GPU target or family each."""

load("//packaging:packages.bzl", "PLATFORMS")
load("//rules:images.bzl", "sdk_layer")

visibility(["//packaging"])

_INSTALL_SCHEME = Label("//packaging:image_install_scheme")

def _layer(name, wheel, beside = [], links_to = None):
    """Declares the layer of a wheel; returns its name."""
    sdk_layer(
        name = name,
        beside = beside,
        install_scheme = _INSTALL_SCHEME,
        links_to = links_to,
        tags = ["manual"],
        target_compatible_with = PLATFORMS["linux"].compatible_with,
        visibility = ["//visibility:public"],
        wheel = wheel,
    )
    return name

def layer_targets(name, split, targets, selector):
    """Declares `layers_gfx942` and `layers_gfx942_devel` for each GPU target or family, from the lowest to the highest.

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
    for target in targets:
        package = "{}{}_{}".format(name, "device" if split else "libraries", target)
        layers = common_layers + [_layer(package + "_layer", package + "_wheel"), rocm]
        links = _layer("{}devel_links_{}_layer".format(name, target), devel_wheel, beside = common_wheels, links_to = package + "_wheel")
        for image, its_layers in {target: layers, target + "_devel": layers + [devel, links]}.items():
            native.filegroup(
                name = "{}layers_{}".format(name, image),
                srcs = its_layers,
                tags = ["manual"],
                visibility = ["//visibility:public"],
            )
