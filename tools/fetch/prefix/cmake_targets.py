"""The imported targets that CMake files define, and the commands that change them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from tools.fetch.prefix.cmake_syntax import CMakeError
from tools.fetch.prefix.cmake_values import join_list

KINDS: Final = ("SHARED", "STATIC", "MODULE", "UNKNOWN", "INTERFACE", "OBJECT")
_SCOPES: Final = ("INTERFACE", "PUBLIC", "PRIVATE")
#: The properties that the commands target_… append to.
_APPENDED: Final = {
    "target_link_libraries": "INTERFACE_LINK_LIBRARIES",
    "target_include_directories": "INTERFACE_INCLUDE_DIRECTORIES",
    "target_compile_definitions": "INTERFACE_COMPILE_DEFINITIONS",
    "target_compile_options": "INTERFACE_COMPILE_OPTIONS",
    "target_compile_features": "INTERFACE_COMPILE_FEATURES",
    "target_link_options": "INTERFACE_LINK_OPTIONS",
    "target_link_directories": "INTERFACE_LINK_DIRECTORIES",
}


@dataclass
class ImportedTarget:
    """A library or program: `kind` is one of KINDS, ALIAS or EXECUTABLE; `place` is the file and line that add it."""

    name: str
    kind: str
    place: str
    properties: dict[str, str] = field(default_factory=dict)

    def append(self, name: str, values: Sequence[str]) -> None:
        """Append to a property that is a list."""
        old = self.properties.get(name, "")
        self.properties[name] = join_list([*([old] if old else []), *values])

    def configured(self, name: str) -> str:
        """Return a property that may be one of a configuration: IMPORTED_LOCATION, else IMPORTED_LOCATION_RELEASE, ….

        RELEASE goes before other configurations, as in CMake's choice for a build of that type.
        """
        configurations = self.properties.get("IMPORTED_CONFIGURATIONS", "").upper().split(";")
        ordered = sorted({one for one in configurations if one}, key=lambda one: (one != "RELEASE", one))
        for key in (*(f"{name}_{one}" for one in ordered), name):
            if value := self.properties.get(key):
                return value
        return ""


class Targets:
    """The targets of the files of one package."""

    def __init__(self, note: Callable[[str], None]) -> None:
        self.found: dict[str, ImportedTarget] = {}
        self._note = note

    def commands(self) -> dict[str, Callable[[Sequence[str], str], None]]:
        """Return what carries out each command, given its arguments and its place."""
        return {
            "add_library": self._add_library,
            "add_executable": self._add_executable,
            "set_target_properties": self._set_properties,
            "set_property": self._set_property,
            **{name: self._appender(name) for name in _APPENDED},
        }

    def _add(self, name: str, kind: str, place: str) -> None:
        self.found.setdefault(name, ImportedTarget(name, kind, place))

    def _add_library(self, arguments: Sequence[str], place: str) -> None:
        if not arguments:
            raise CMakeError("add_library(): expected a name")
        name, *rest = arguments
        if rest[:1] == ["ALIAS"] and len(rest) == 2:
            self._add(name, "ALIAS", place)
            self.found[name].append("INTERFACE_LINK_LIBRARIES", rest[1:])
        elif rest[:1] == ["INTERFACE"] or "IMPORTED" in rest:
            self._add(name, rest[0] if rest[0] in KINDS else "UNKNOWN", place)
        else:
            self._note(f"add_library({name}): not an imported library")

    def _add_executable(self, arguments: Sequence[str], place: str) -> None:
        if "IMPORTED" in arguments[1:]:
            self._add(arguments[0], "EXECUTABLE", place)

    def _targets(self, command: str, names: Sequence[str]) -> list[ImportedTarget]:
        for name in names:
            if name not in self.found:
                self._note(f"{command}: {name} is no target of this package")
        return [self.found[name] for name in names if name in self.found]

    def _set_properties(self, arguments: Sequence[str], _place: str) -> None:
        if "PROPERTIES" not in arguments:
            raise CMakeError("set_target_properties(): expected PROPERTIES after the targets")
        at = arguments.index("PROPERTIES")
        pairs = arguments[at + 1 :]
        if len(pairs) % 2:
            raise CMakeError(f"set_target_properties(): {pairs[-1]} has no value; expected one for each property")
        for target in self._targets("set_target_properties", arguments[:at]):
            target.properties.update(zip(pairs[::2], pairs[1::2], strict=True))

    def _set_property(self, arguments: Sequence[str], _place: str) -> None:
        if arguments[:1] != ["TARGET"]:
            return
        if "PROPERTY" not in arguments[:-1]:
            raise CMakeError("set_property(TARGET): expected PROPERTY and its name")
        at = arguments.index("PROPERTY")
        names = [one for one in arguments[1:at] if one not in ("APPEND", "APPEND_STRING")]
        name, values = arguments[at + 1], arguments[at + 2 :]
        for target in self._targets("set_property", names):
            if "APPEND" in arguments[:at]:
                target.append(name, values)
            elif "APPEND_STRING" in arguments[:at]:
                target.properties[name] = target.properties.get(name, "") + "".join(values)
            else:
                target.properties[name] = join_list(values)

    def _appender(self, command: str) -> Callable[[Sequence[str], str], None]:
        def append(arguments: Sequence[str], _place: str) -> None:
            if not arguments:
                raise CMakeError(f"{command}(): expected a target")
            scope, values = "PUBLIC", []
            for word in arguments[1:]:
                if word in _SCOPES:
                    scope = word
                elif word not in ("SYSTEM", "BEFORE", "AFTER") and scope != "PRIVATE":
                    values.append(word)
            for target in self._targets(command, arguments[:1]):
                target.append(_APPENDED[command], values)

        return append
