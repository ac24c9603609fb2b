"""The report about a wheel's platform tag: link reads in it which libraries users must have."""

from dataclasses import asdict, dataclass, field
from typing import Any

from lib.common.program import ToolError

#: Library -> symbol version -> the first file that needs it. The empty version is the library itself.
Libraries = dict[str, dict[str, str]]


@dataclass(frozen=True)
class TagReport:
    """What the files of a package need of a system; docs/sdk/metadata.md describes the fields."""

    distribution: str
    #: The platform tag of the oldest systems that the files run on.
    lowest: str
    #: What the next older systems lack, a sentence each.
    because: list[str] = field(default_factory=list)
    #: Number of programs and libraries.
    files: int = 0
    system: Libraries = field(default_factory=dict)
    packaged: Libraries = field(default_factory=dict)
    unreached: Libraries = field(default_factory=dict)
    #: Those that the wheel declares in `externals`.
    external: Libraries = field(default_factory=dict)
    #: Paths of files for other architectures.
    foreign: list[str] = field(default_factory=list)

    def to_document(self) -> dict[str, Any]:
        """Return the report as JSON data."""
        return asdict(self)

    @classmethod
    def from_document(cls, document: dict[str, Any]) -> "TagReport":
        """Read a report. Raises ToolError for other JSON data."""
        try:
            return cls(**document)
        except TypeError as error:
            raise ToolError(f"expected the report of a platform tag: {error}") from None
