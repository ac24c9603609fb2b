"""Checks of GPUs: are there any, may this user open them, do variables hide them, have the packages code for them.

On a machine without a GPU, packages are built, tested and installed into images: that is only noted.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from ..detect import DISABLE_VARIABLE, read_properties
from ..device_code import libraries_without_code, load_lacks, missing_device_code
from ..distributions import load_selection
from ..mismatch import choose_again, find_mismatch
from ..system import IS_WINDOWS
from . import Finding
from .facts import KFD_NODES, Facts

KFD_DEVICE = "dev/kfd"
RENDER_DEVICES = "dev/dri/renderD"
CONTAINER_OPTIONS = "--device=/dev/kfd --device=/dev/dri"
# PCI: the vendor AMD, and the base classes "display controller" and "processing accelerator".
_AMD = "0x1002"
_GPU_CLASSES = ("0x03", "0x12")
#: By these, programs are shown some of the GPUs. ROCr comes first; HIP counts what it leaves, and reads the second of
#: its own two if the first is not set.
ROCR_VARIABLE = "ROCR_VISIBLE_DEVICES"
HIP_VARIABLES = ("HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES")


def absent(facts: Facts) -> Iterator[Finding]:
    """Find out whether there is a GPU that programs can use."""
    nodes = facts.root / KFD_NODES
    if (facts.root / KFD_DEVICE).exists() and not nodes.is_dir():
        text = f"{facts.root / KFD_DEVICE} is there, but not {nodes}, where the HIP runtime finds its GPUs"
        remedy = "Mount sysfs at /sys. In a container, mount the host's: docker run -v /sys:/sys:ro"
        yield Finding("gpu", "problem", text, remedy)
    elif facts.gpus or facts.environ.get(DISABLE_VARIABLE) == "1":
        return
    elif _pci_gpus(facts.root):
        text = f"the kernel driver does not offer the AMD GPU at PCI {', '.join(_pci_gpus(facts.root))} to ROCm"
        remedy = (
            "Run `sudo modprobe amdgpu`. If that changes nothing, `sudo dmesg | grep -i -e amdgpu -e kfd` says why."
        )
        yield Finding("gpu", "warning", text, remedy)
    else:
        to_use_one = "install AMD's driver" if IS_WINDOWS else f"in a container, start it with {CONTAINER_OPTIONS}"
        remedy = f"To build and install, none is needed. To use one: {to_use_one}."
        yield Finding("gpu", "note", _absence(facts.root), remedy)


def _absence(root: Path) -> str:
    if IS_WINDOWS or (root / KFD_NODES).is_dir():
        return "this machine has no AMD GPU"
    return f"this machine has no AMD GPU, or no kernel driver for it: there is no {root / KFD_NODES}"


def _pci_gpus(root: Path) -> list[str]:
    """Return the addresses of AMD's GPUs on the PCI bus."""
    found = []
    for device in sorted((root / "sys/bus/pci/devices").glob("*")):
        vendor, kind = (_read(device / name) for name in ("vendor", "class"))
        if vendor == _AMD and kind.startswith(_GPU_CLASSES):
            found.append(device.name)
    return found


def _read(file: Path) -> str:
    try:
        return file.read_text("ascii", "replace").strip()
    except OSError:
        return ""


def closed_devices(facts: Facts) -> Iterator[Finding]:
    """Find out whether this user may open the devices of the GPUs that the kernel driver shows."""
    if not any(gpu.source == "kfd" for gpu in facts.gpus):
        return
    kfd, render = facts.root / KFD_DEVICE, _render_devices(facts.root)
    there = [device for device in render if device.exists()]
    missing = [str(kfd)] if not kfd.exists() else []
    missing += [] if there else [str(render[0] if render[0].parent.is_dir() else render[0].parent)]
    if missing:
        text = f"the kernel driver shows GPUs, but there is no {' and no '.join(missing)}"
        yield Finding("access", "problem", text, f"In a container, start it with {CONTAINER_OPTIONS}.")
    closed = [device for device in (kfd, *there) if device.exists() and not os.access(device, os.R_OK | os.W_OK)]
    if kfd in closed or (there and set(there) <= set(closed)):
        text = f"{', '.join(map(str, closed))} cannot be opened by this user"
        yield Finding("access", "problem", text, _access_remedy(closed))


def _render_devices(root: Path) -> list[Path]:
    """Return the devices in /dev/dri that belong to the GPUs in the kernel driver's list."""
    nodes = sorted((root / KFD_NODES).glob("*/properties"))
    properties = [fields for fields in map(read_properties, nodes) if fields.get("gfx_target_version")]
    minors = sorted({fields["drm_render_minor"] for fields in properties if fields.get("drm_render_minor")})
    return [Path(f"{root / RENDER_DEVICES}{minor}") for minor in minors] or [Path(f"{root / RENDER_DEVICES}128")]


def _access_remedy(devices: Sequence[Path]) -> str:
    """Say how a user gets access to devices: by joining their groups, or by a login that knows of having joined."""
    import grp  # Not on Windows, where no device has a group.
    import pwd

    ids = sorted({device.stat().st_gid for device in devices} - {0})
    names = {group.gr_gid: group for group in grp.getgrall() if group.gr_gid in ids}
    unnamed = [f"--group-add {number}" for number in ids if number not in names]
    if unnamed:
        return f"In a container: start it with {' '.join(unnamed)}."
    user = next((entry.pw_name for entry in pwd.getpwall() if entry.pw_uid == os.geteuid()), "")
    joined = ",".join(names[number].gr_name for number in ids) or "render,video"
    if names and all(user in group.gr_mem for group in names.values()):
        return f"You are in the group {joined}, but were not when you logged in: log out and in again."
    return f"Run `sudo usermod -a -G {joined} $USER`, then log out and in again."


def hidden(facts: Facts) -> Iterator[Finding]:
    """Find out whether variables hide all GPUs from programs. Of a list, what follows a wrong entry does not count."""
    count = len(facts.gpus)
    if not count or facts.gpus[0].source == "environment":
        return
    rocr = facts.environ.get(ROCR_VARIABLE)
    if rocr is not None:
        count = _count_visible(rocr, count)
        if not count:
            yield _hiding(ROCR_VARIABLE, rocr)
            return
    name = next((name for name in HIP_VARIABLES if facts.environ.get(name)), None)
    if name is not None and not _count_visible(facts.environ[name], count):
        yield _hiding(name, facts.environ[name])


def _hiding(name: str, value: str) -> Finding:
    return Finding("hidden", "warning", f"{name}={value} hides all GPUs from programs", f"unset {name}")


def _count_visible(value: str, count: int) -> int:
    """Return how many of `count` GPUs a list of numbers and of names (`GPU-1a2b…`) leaves visible."""
    visible = 0
    for entry in (part.strip() for part in value.split(",")):
        is_number = entry.isdigit() and int(entry) < count
        if not (is_number or entry.upper().startswith("GPU-")):
            break
        visible += 1
    return visible


def other_target(facts: Facts) -> Iterator[Finding]:
    """Find out whether `rocm` was installed for another target than is wanted here."""
    fault = find_mismatch(facts.known, load_selection(), facts.environ, facts.gpus, facts.packages)
    if fault:
        yield Finding("target", "problem", fault, choose_again(facts.known, facts.packages, facts.installer))


def device_code(facts: Facts) -> Iterator[Finding]:
    """Find GPUs for which the packages have no code."""
    yield from missing_device_code(facts.known, facts.selection, facts.packages, facts.gpus)
    yield from libraries_without_code(facts.known, facts.selection, facts.packages, facts.gpus, load_lacks())
