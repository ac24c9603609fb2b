"""Edits METADATA (PyPA core metadata) of wheels: what nobody asked to change stays as it is, byte by byte."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from lib.common.program import ToolError

#: The oldest version of core metadata that has Provides-Extra and Description-Content-Type (PEP 566).
WITH_EXTRAS: Final = (2, 1)


@dataclass(frozen=True)
class CoreMetadata:
    """METADATA as fields, each with its lines as they stand there, and the body: the description."""

    fields: tuple[tuple[str, str], ...]
    body: str

    def values(self, name: str) -> list[str]:
        """Return the values of a field."""
        return [_value(text) for field, text in self.fields if field == name.lower()]

    def replaced(self, name: str, value: str) -> "CoreMetadata":
        """Return it with another value of a field that is there."""
        fields = ((field, f"{name}: {value}\n" if field == name.lower() else text) for field, text in self.fields)
        return CoreMetadata(tuple(fields), self.body)

    def changed(self, name: str, texts: Mapping[str, str]) -> "CoreMetadata":
        """Return it with some values of a field replaced by others."""
        fields = (
            (field, f"{name}: {new}\n" if field == name.lower() and (new := texts.get(_value(text))) else text)
            for field, text in self.fields
        )
        return CoreMetadata(tuple(fields), self.body)

    def added(self, pairs: Iterable[tuple[str, str]]) -> "CoreMetadata":
        """Return it with fields more, behind all others."""
        more = ((name.lower(), f"{name}: {value}\n") for name, value in pairs)
        return CoreMetadata((*self.fields, *more), self.body)

    def with_extras(self) -> "CoreMetadata":
        """Return it in a version of core metadata that has extras."""
        [version] = self.values("Metadata-Version")
        known = tuple(int(part) for part in version.split(".") if part.isascii() and part.isdecimal())
        return self.replaced("Metadata-Version", ".".join(map(str, WITH_EXTRAS))) if known < WITH_EXTRAS else self

    def described(self, paragraph: str) -> "CoreMetadata":
        """Return it with a paragraph behind the description, wherever that stands."""
        if not self.values("Description"):
            return CoreMetadata(self.fields, f"{self.body.rstrip()}\n\n{paragraph}\n".lstrip("\n"))
        more = f"        \n        {paragraph}\n"  # continuation lines, as the field has them
        fields = ((field, text + more if field == "description" else text) for field, text in self.fields)
        return CoreMetadata(tuple(fields), self.body)

    def encode(self) -> bytes:
        """Return the file."""
        return ("".join(text for _, text in self.fields) + "\n" + self.body).encode("utf-8", "surrogateescape")


def _value(text: str) -> str:
    return text.partition(":")[2].strip()


def parse_core_metadata(content: bytes, where: str) -> CoreMetadata:
    """Split METADATA into fields and body. Raises ToolError, which names `where`, for lines that are no field.

    Metadata-Version, Name and Version are there once, then.
    """
    text = content.decode("utf-8", "surrogateescape").replace("\r\n", "\n")
    head, _, body = text.partition("\n\n")
    fields: list[tuple[str, str]] = []
    for number, line in enumerate(head.strip("\n").split("\n"), 1):
        name, colon, _ = line.partition(":")
        if line[:1] in (" ", "\t") and fields:
            fields[-1] = (fields[-1][0], f"{fields[-1][1]}{line}\n")
        elif colon and name and name.isascii() and not any(char.isspace() for char in name):
            fields.append((name.lower(), line + "\n"))
        else:
            raise ToolError(f"{where}: line {number} is {line[:60]!r}; expected `Field: value`. Build the wheel again")
    found = CoreMetadata(tuple(fields), body)
    for name in ("Metadata-Version", "Name", "Version"):
        if len(found.values(name)) != 1:
            raise ToolError(
                f"{where}: has {len(found.values(name))} fields {name}; expected one. Build the wheel again"
            )
    return found
