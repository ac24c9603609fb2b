"""Edits: the interface between plan and pack. What one pack unit has to do for one package, and nothing else.

So a new header, or a fact that changed elsewhere, leaves a unit's edit file as it was, and nothing is packed again.
"""

from dataclasses import dataclass
from typing import Any


def with_tuples(document: dict[str, Any]) -> dict[str, Any]:
    """Return JSON data with its lists as tuples, as frozen dataclasses hold them."""
    return {name: tuple(value) if isinstance(value, list) else value for name, value in document.items()}


class Record:
    """A dataclass most of whose fields are None, most of the time."""

    __slots__ = ()

    def to_document(self) -> dict[str, Any]:
        """Return it as JSON data, without the fields that say nothing."""
        values = {name: getattr(self, name) for name in self.__dataclass_fields__}  # type: ignore[attr-defined]
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in values.items()
            if value is not None
        }


@dataclass(frozen=True)
class Edit(Record):
    """One entry to pack: a source, as it is or edited, or a launcher or forwarder, which pack makes."""

    path: str
    #: Permission bits, octal.
    mode: str
    #: What pack makes: `launcher` or `forwarder`; None for an entry that has a source.
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
    #: GPU targets whose device code is kept, and the targets among them without code; None keeps the code for all.
    slice: tuple[str, ...] | None = None
    absent: tuple[str, ...] | None = None


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
        entries = (Edit(**with_tuples(entry)) for entry in document["entries"])
        return cls(tuple(entries), tuple(document["digest"]))
