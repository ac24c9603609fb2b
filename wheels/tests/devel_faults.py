"""Faults of the development tree against the packages that it mirrors, and of licences."""

import json
import tarfile
from typing import Any

from develop.testing.elf_sample import Sample
from wheels.tests.editing import EditedSet, file_member, link_member
from wheels.tests.faults import fault
from wheels.tests.planted_set import DEVEL, LIBRARIES, mirror, unmirror

Members = dict[str, tuple[tarfile.TarInfo, bytes]]


@fault("S151", "the development archive is cut off", "rocm_sdk_devel", "_devel.tar")
def _(edited: EditedSet) -> None:
    files, path = edited.wheel("rocm_sdk_devel").files, "rocm_sdk_devel/_devel.tar"
    files[path] = files[path][:1300]


@fault("S151", "a member of the development archive outside of its tree", "rocm_sdk_devel", "_devel.tar")
def _(edited: EditedSet) -> None:
    name = "elsewhere/header.h"
    edited.change_devel(lambda members: members.update({name: file_member(name, b"text")}))


@fault("S151", "a member of the development archive below a link", "rocm_sdk_devel", "_devel.tar")
def _(edited: EditedSet) -> None:
    def change(members: Members) -> None:
        members[f"{DEVEL}/elsewhere"] = link_member(f"{DEVEL}/elsewhere", "/tmp")
        members[f"{DEVEL}/elsewhere/file"] = file_member(f"{DEVEL}/elsewhere/file", b"text")

    edited.change_devel(change)


@fault("S151", "a link of the development archive above a member", "rocm_sdk_devel", "_devel.tar")
def _(edited: EditedSet) -> None:
    def change(members: Members) -> None:
        members[f"{DEVEL}/elsewhere/file"] = file_member(f"{DEVEL}/elsewhere/file", b"text")
        members[f"{DEVEL}/elsewhere"] = link_member(f"{DEVEL}/elsewhere", "include")

    edited.change_devel(change)


@fault("S152", "a link of the development tree into another package leads nowhere", "rocm_sdk_devel", "_devel.tar")
def _(edited: EditedSet) -> None:
    mirror(edited, "include/hip/gone.h")


@fault("S152", "a link inside the development tree leads nowhere", "rocm_sdk_devel", "_devel.tar")
def _(edited: EditedSet) -> None:
    name = f"{DEVEL}/lib/libgone.so"
    edited.change_devel(lambda members: members.update({name: link_member(name, "libgone.so.1")}))


@fault("S156", "a library that no runtime package has", "rocm_sdk_devel", "_devel.tar")
def _(edited: EditedSet) -> None:
    name, library = f"{DEVEL}/lib/libextra.so.1", Sample(soname="libextra.so.1").build()
    edited.change_devel(lambda members: members.update({name: file_member(name, library)}))


@fault("S153", "the development tree lacks a file of core", "rocm_sdk_devel", "_devel.tar")
def _(edited: EditedSet) -> None:
    unmirror(edited, "share/hip/version", "share/hip/version-link")
    del edited.wheel("rocm_sdk_core").files["_rocm_sdk_core/share/hip/version-link"]


@fault("S154", "the development tree has a library of its own", "rocm_sdk_devel", "_devel.tar")
def _(edited: EditedSet) -> None:
    name = f"{DEVEL}/lib/librocblas.so.5"
    data = edited.wheel("rocm_sdk_libraries").files[f"{LIBRARIES}/lib/librocblas.so.5"]
    edited.change_devel(lambda members: members.update({name: file_member(name, data)}))


@fault("S161", "a wheel without a licence", "tool")
def _(edited: EditedSet) -> None:
    edited.wheel("tool").replace("METADATA", "License-Expression: MIT\nLicense-File: LICENSE\n", "")


def bill_of_materials(**artifact: Any) -> bytes:
    """Return a bill of materials with one artifact, as the rules write it."""
    component = {"type": "library", "bom-ref": "artifact:hip_lib_generic", "name": "hip_lib_generic", **artifact}
    return json.dumps({"bomFormat": "CycloneDX", "specVersion": "1.6", "components": [component]}).encode()


@fault("S161", "an artifact without a licence in a wheel without one", "tool", "sboms/tool.cdx.json")
def _(edited: EditedSet) -> None:
    wheel = edited.wheel("tool")
    wheel.files["tool-1.0.dist-info/sboms/tool.cdx.json"] = bill_of_materials()
    wheel.replace("METADATA", "License-Expression: MIT\n", "")


@fault("S162", "a licence text of an artifact that is not there", "tool", "sboms/tool.cdx.json")
def _(edited: EditedSet) -> None:
    properties = [{"name": "rules_rocm_python:artifact:license-file", "value": "share/doc/hip/LICENSE"}]
    document = bill_of_materials(properties=properties)
    edited.wheel("tool").files["tool-1.0.dist-info/sboms/tool.cdx.json"] = document


@fault("S163", "a bill of materials that is not JSON", "tool", "sboms/tool.cdx.json")
def _(edited: EditedSet) -> None:
    edited.wheel("tool").files["tool-1.0.dist-info/sboms/tool.cdx.json"] = b"<bom/>"
