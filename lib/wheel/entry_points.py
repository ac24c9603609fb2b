"""Reads entry_points.txt: which scripts installers make, and what they call (PyPA, "Entry points specification").

Lines are read as `importlib.metadata` reads them, from which pip makes the scripts. It does not know what configparser
reads beside: defaults for all groups, and values that go on in the next line.
"""

import re
from dataclasses import dataclass
from typing import Final

from lib.wheel.record import check_size, read_text

#: Groups of which installers make scripts. On Linux, both kinds are the same.
SCRIPTS: Final = ("console_scripts", "gui_scripts")
#: Largest size in bytes.
MAX_SIZE: Final = 1 << 20
_DOTTED: Final = r"[^\W\d]\w*(?:\.[^\W\d]\w*)*"
_REFERENCE: Final = re.compile(rf"({_DOTTED})(?:\s*:\s*({_DOTTED}))?(?:\s*\[[\w\s.,-]*\])?")


@dataclass(frozen=True)
class EntryPoint:
    """One line."""

    group: str
    name: str
    reference: str
    """As it is written."""
    module: str = ""
    """Empty if the reference is not valid."""
    attribute: str = ""
    """The object in the module, with dots; empty if there is none, or the reference is not valid."""

    @property
    def is_script(self) -> bool:
        """Whether installers make a script of it."""
        return self.group in SCRIPTS


def read_entry_points(content: bytes) -> tuple[EntryPoint, ...]:
    """Return all entry points, in their order. Raises ValueError, which names the line, if the file cannot be read."""
    check_size(len(content), MAX_SIZE)
    found: dict[tuple[str, str], EntryPoint] = {}
    groups: set[str] = set()
    group = ""
    for number, line in enumerate(map(str.strip, read_text(content).splitlines()), 1):
        if not line or line[0] in "#;":
            continue
        if line[0] == "[" and line[-1] == "]":
            group = line[1:-1].strip()
            if not group or group in groups:
                raise ValueError(f"line {number}: [{group}] {'is there a second time' if group else 'has no name'}")
            groups.add(group)
            continue
        name, equals, reference = (part.strip() for part in line.partition("="))
        if not group:
            raise ValueError(f"line {number}: {line[:100]!r} comes before the first [group]")
        if not (name and equals):
            raise ValueError(f"line {number}: {line[:100]!r}; expected `name = module:object`")
        if (group, name) in found:
            raise ValueError(f"line {number}: [{group}] has {name!r} a second time")
        match = _REFERENCE.fullmatch(reference)
        module, attribute = match.groups("") if match else ("", "")
        found[group, name] = EntryPoint(group, name, reference, module, attribute)
    return tuple(found.values())
