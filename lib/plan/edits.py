"""Edits: the interface between plan and pack. What one pack unit has to do for one package, and nothing else.

So a new header, or a fact that changed elsewhere, leaves a unit's edit file as it was, and nothing is packed again.
"""

from dataclasses import dataclass, fields
from typing import Any


@dataclass(frozen=True)
class Edit:
    """One entry to pack: a source, as it is or edited, or a launcher, forwarder or linker script, which pack makes."""

    path: str
    #: Permission bits, octal.
    mode: str
    #: What pack makes: `launcher`, `forwarder` or `linker script`; None for an entry that has a source.
    made: str | None = None
    #: What that leads to, relative to the entry's directory; its CPU (e_machine, Machine of PE), and PE's subsystem.
    target: str | None = None
    machine: int | None = None
    subsystem: int | None = None
    #: Versions of symbols that a forwarder defines.
    versions: tuple[str, ...] | None = None
    #: Where the bytes come from: `{artifact}/{base directory}/{path}`; None for what pack makes.
    source: str | None = None
    #: Entries of the search path that the ELF file gets, none to remove it; None leaves the file as it is.
    rpath: tuple[str, ...] | None = None
    #: DT_RUNPATH if they are written as that; None for DT_RPATH.
    rpath_tag: str | None = None
    #: GPU targets whose device code is kept, and the targets among them without code; None keeps the code for all.
    slice: tuple[str, ...] | None = None
    absent: tuple[str, ...] | None = None

    def to_document(self) -> dict[str, Any]:
        """Return the entry as JSON data, without the fields that say nothing."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in values.items()
            if value is not None
        }


@dataclass(frozen=True)
class Edits:
    """The entries to pack, and the sources whose digests link compares."""

    entries: tuple[Edit, ...] = ()
    digest: tuple[str, ...] = ()

    def to_document(self) -> dict[str, Any]:
        """Return the edits as JSON data."""
        return {"entries": [entry.to_document() for entry in self.entries], "digest": list(self.digest)}

    @classmethod
    def from_document(cls, document: dict[str, Any]) -> "Edits":
        """Read what `to_document` wrote."""
        return cls(tuple(map(_edit, document["entries"])), tuple(document["digest"]))


def _edit(document: dict[str, Any]) -> Edit:
    values: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in document.items()
    }
    return Edit(**values)
