"""Faults between wheels: what they require, and what the selector says of them."""

import gzip
import io
import json
import tarfile
from collections.abc import Callable
from typing import Any

from wheels.tests.editing import EditedSet
from wheels.tests.faults import fault


@fault("S131", "a requirement that nobody publishes", "rocm_sdk_libraries")
def _(edited: EditedSet) -> None:
    wheel = edited.wheel("rocm_sdk_libraries")
    wheel.replace("METADATA", "Requires-Dist: ", "Requires-Dist: no-such-thing>=2\nRequires-Dist: ")


@fault("S131", "a requirement on another version", "rocm_profiler")
def _(edited: EditedSet) -> None:
    wheel = edited.wheel("rocm_profiler")
    wheel.replace("METADATA", "Requires-Dist: ", "Requires-Dist: tool>=2\nRequires-Dist: ")


@fault("S131", "the package of one GPU is left out", "rocm-7.10.0.dev0")
def _(edited: EditedSet) -> None:
    edited.remove("rocm_sdk_device_gfx942")


@fault("S138", "the package of the default GPU is left out", "rocm-7.10.0.dev0")
def _(edited: EditedSet) -> None:
    edited.remove("rocm_sdk_device_gfx1100")


@fault("S132", "a requirement on an extra that there is not", "tool")
def _(edited: EditedSet) -> None:
    edited.wheel("tool").replace("METADATA", "License-File", "Requires-Dist: rocm[everything]\nLicense-File")


def change_selector(edited: EditedSet, change: Any) -> None:
    """Change the data of the selector, in the sdist and in the static wheel."""
    static, path = edited.wheel("rocm"), "rocm_sdk/_distributions.json"
    document = json.loads(static.files[path])
    change(document)
    static.files[path] = json.dumps(document).encode()
    change_sdist(edited, "/_distributions.json", lambda data: static.files[path])


def change_sdist(edited: EditedSet, end: str, change: Callable[[bytes], bytes]) -> None:
    """Change the file of the sdist whose path has this end."""
    name = next(one for one in edited.others if one.endswith(".tar.gz"))
    target = io.BytesIO()
    with tarfile.open(edited.others[name]) as tar, tarfile.open(fileobj=target, mode="w") as new:
        for info in tar:
            file = tar.extractfile(info)
            data = file.read() if file else b""
            data = change(data) if info.name.endswith(end) else data
            info.size = len(data)
            new.addfile(info, io.BytesIO(data))
    edited.sdists[name] = gzip.compress(target.getvalue(), 1, mtime=0)


@fault("S134", "an sdist that is cut off", "rocm-7.10.0.dev0.tar.gz")
def _(edited: EditedSet) -> None:
    name = next(one for one in edited.others if one.endswith(".tar.gz"))
    edited.sdists[name] = edited.others[name].read_bytes()[:5000]


@fault("S134", "the selector's data has no version", "rocm-7.10.0.dev0", "_distributions.json")
def _(edited: EditedSet) -> None:
    change_selector(edited, lambda document: document.pop("version"))
