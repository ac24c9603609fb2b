"""Device wheels are called as AMD calls its own."""

from packaging.version import Version

from lib.wheel.wheel_name import WheelName, read_name
from wheels.split.naming import device_distribution, device_name


def fat(version: str = "1.0", tags: str = "cp311-cp311-linux_x86_64") -> WheelName:
    return read_name(f"My_Acme-{version}-{tags}.whl", f"my_acme-{version}.dist-info", Version(version))


def test_device_wheels_are_called_as_amd_calls_them() -> None:
    assert device_distribution(fat(), "gfx942") == "amd-my-acme-device-gfx942"
    assert device_name(fat(), "gfx12-5").filename == "amd_my_acme_device_gfx12_5-1.0-cp311-cp311-linux_x86_64.whl"
    own = read_name("amd_aiter-1.0-py3-none-any.whl", "amd_aiter-1.0.dist-info", Version("1.0"))
    assert device_distribution(own, "gfx942") == "amd-aiter-device-gfx942"
