"""RocmSharedLibraryInfo: what programs are linked with, and what they run with."""

visibility(["//rules/private/hip"])

RocmSharedLibraryInfo = provider(
    doc = "A shared library of an SDK.",
    fields = {
        "interface": "File: the interface library, with which programs are linked.",
        "library": "File: the library, with which they run.",
    },
)
