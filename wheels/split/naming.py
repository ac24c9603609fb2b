"""What thin wheels are called, and where their files come to lie.

A complete wheel for some GPUs keeps the distribution's name and gets a local version (PEP 440): `acme-1.0+gfx942`, of a
version that has one already `acme-2.0+rocm7.gfx942`. So every requirement on the name is met as before, two of them
cannot be installed over each other, and installers prefer it to the fat wheel: 1.0+gfx942 is newer than 1.0.
Or it is a wheel variant, whose name `variant_format` makes.

Device wheels are called as AMD calls its own, such as `amd-torch-device-gfx942`; the host wheel is `acme-1.0+host`.
"""

import re

from lib.wheel.wheel_name import WheelName

#: How the names of AMD's distributions begin.
PREFIX = "amd-"
#: The local version of host wheels.
HOST = "host"


def device_distribution(name: WheelName, label: str) -> str:
    """Return the normalised name (PEP 503) of the distribution with the device code for a group alone."""
    normalised = re.sub(r"[-_.]+", "-", name.distribution).lower()
    return f"{PREFIX}{normalised.removeprefix(PREFIX)}-device-{label}"


def device_name(name: WheelName, label: str) -> WheelName:
    """Return the names of the wheel with the device code for a group alone; it has the fat wheel's version."""
    distribution = device_distribution(name, label).replace("-", "_")
    return WheelName(distribution, name.version, name.tags, f"{distribution}-{name.version}")
