"""Faults of the development tree against the packages that it mirrors, and of licences."""

import re

from wheels.tests.editing import EditedSet
from wheels.tests.faults import fault
from wheels.tests.planted_set import DEVEL, LIBRARIES, mirror, unmirror

ARCHIVE, MANIFEST = "rocm_sdk_devel/_devel.tar", "rocm_sdk_devel/.devel_links/devel.json"


@fault("S151", "the development archive is cut off", "rocm_sdk_devel", "_devel.tar")
def _(edited: EditedSet) -> None:
    edited.archive_devel()
    files = edited.wheel("rocm_sdk_devel").files
    files[ARCHIVE] = files[ARCHIVE][:1300]


@fault("S151", "the development archive lacks a file", "rocm_sdk_devel", "_devel.tar")
def _(edited: EditedSet) -> None:
    edited.archive_devel()
    files = edited.wheel("rocm_sdk_devel").files
    files[MANIFEST] = files[MANIFEST].replace(b'"files": [', b'"files": ["include/gone.h", ')


@fault("S151", "the links of the development tree are damaged", "rocm_sdk_devel", "devel.json")
def _(edited: EditedSet) -> None:
    edited.wheel("rocm_sdk_devel").files[MANIFEST] = b"null"


@fault("S151", "the links of the development tree are of another version", "rocm_sdk_devel", "devel.json")
def _(edited: EditedSet) -> None:
    files = edited.wheel("rocm_sdk_devel").files
    files[MANIFEST] = re.sub(rb'"version": "[^"]+"', b'"version": "7.9"', files[MANIFEST])


@fault("S151", "a link of the development tree leads out of the packages", "rocm_sdk_devel", "devel.json")
def _(edited: EditedSet) -> None:
    edited.change_links(lambda links: links.update({"lib/passwd": "/etc/passwd"}))


@fault("S152", "a link of the development tree into another package leads nowhere", "rocm_sdk_devel", "devel.json")
def _(edited: EditedSet) -> None:
    mirror(edited, "include/hip/gone.h")


@fault("S152", "a link inside the development tree leads nowhere", "rocm_sdk_devel", "devel.json")
def _(edited: EditedSet) -> None:
    edited.change_links(lambda links: links.update({"lib/libgone.so": "libgone.so.1"}))


@fault("S153", "the development tree lacks a file of core", "rocm_sdk_devel", "devel.json")
def _(edited: EditedSet) -> None:
    unmirror(edited, "share/hip/version", "share/hip/version-link")
    del edited.wheel("rocm_sdk_core").files["_rocm_sdk_core/share/hip/version-link"]


@fault("S154", "the development tree has a library of its own", "rocm_sdk_devel", "devel.json")
def _(edited: EditedSet) -> None:
    data = edited.wheel("rocm_sdk_libraries").files[f"{LIBRARIES}/lib/librocblas.so.5"]
    edited.wheel("rocm_sdk_devel").files[f"{DEVEL}/lib/librocblas.so.5"] = data


@fault("S161", "a wheel without a licence", "tool")
def _(edited: EditedSet) -> None:
    edited.wheel("tool").replace("METADATA", "License-Expression: MIT\nLicense-File: LICENSE\n", "")


@fault("S161", "a wheel without the text of its licence", "tool")
def _(edited: EditedSet) -> None:
    wheel = edited.wheel("tool")
    wheel.replace("METADATA", "License-File: LICENSE\n", "")
    del wheel.files["tool-1.0.dist-info/licenses/LICENSE"]
