"""The variables of a run: scopes, what is known of the machine, and the commands that only set variables."""

import posixpath
import re
from collections.abc import Callable, Sequence
from typing import Final

from tools.fetch.prefix.cmake_syntax import Argument, Invocation
from tools.fetch.prefix.cmake_values import UNKNOWN, check_size, is_unknown, join_list, split_list
from tools.fetch.prefix.prefix_files import ROOT, PrefixFiles, component

#: What a build for Linux on 64 bits, for AMD GPUs, has. What else a user may set, such as GPU_TARGETS, is not set.
KNOWN: Final = {
    "CMAKE_VERSION": "4.0.0",
    "CMAKE_MAJOR_VERSION": "4",
    "CMAKE_MINOR_VERSION": "0",
    "CMAKE_PATCH_VERSION": "0",
    "CMAKE_SYSTEM_NAME": "Linux",
    "HIP_PLATFORM": "amd",
    "CMAKE_SIZEOF_VOID_P": "8",
    "UNIX": "1",
    "LINUX": "1",
}
#: Variables of the user's project, the compilers and the machine: only a run of CMake would tell.
_UNDECIDED: Final = re.compile(
    r"CMAKE_(?:C|CXX|HIP|CUDA|Fortran|ASM|HOST|PROJECT|GENERATOR|BUILD|SOURCE|BINARY|CURRENT_SOURCE|CURRENT_BINARY"
    r"|SYSTEM_PROCESSOR|COMMAND|ROOT|MODULE_PATH|PREFIX_PATH|FIND_ROOT_PATH|LIBRARY_ARCHITECTURE)(?:_\w+)?|PROJECT_\w+"
)
NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.+-]*")
#: Commands that set no variable, or none that matters.
HARMLESS: Final = frozenset(
    {"cmake_minimum_required", "cmake_policy", "include_guard", "mark_as_advanced", "add_custom_target", "message"}
    | {"check_required_components", "set_and_check", "find_package_handle_standard_args", "include", "find_dependency"}
    | {"find_package", "enable_language", "add_dependencies", "define_property", "return", "break", "continue"}
    | {"get_filename_component_cache", "set_directory_properties", "install", "export", "variable_watch"}
)


class Variables:
    """The variables, in nested scopes of which each begins as a copy."""

    def __init__(self, files: PrefixFiles, note: Callable[[str], None]) -> None:
        self._files = files
        self._note = note
        self._scopes: list[dict[str, str]] = [dict(KNOWN)]

    def get(self, name: str) -> str | None:
        """Return a value, None for a variable that is not set."""
        value = self._scopes[-1].get(name)
        return UNKNOWN if value is None and _UNDECIDED.fullmatch(name) else value

    def text(self, name: str) -> str:
        """Return a value, empty for a variable that is not set."""
        return self.get(name) or ""

    def set(self, name: str, value: str | None, *, outer: bool = False) -> None:
        """Set a variable; None unsets it. With `outer`, in the scope around this one."""
        scope = self._scopes[-2] if outer and len(self._scopes) > 1 else self._scopes[-1]
        if value is None:
            scope.pop(name, None)
        else:
            scope[name] = value

    def forget(self, command: Invocation) -> None:
        """Note that a command which is not carried out may have set the variables that it names."""
        if command.name in HARMLESS:
            return
        words = command.arguments[:1] if command.name in ("set", "unset", "option") else command.arguments
        for word in words:
            if NAME.fullmatch(word.text):
                self.set(word.text, UNKNOWN)

    def push(self) -> None:
        """Begin the scope of a function."""
        self._scopes.append(dict(self._scopes[-1]))

    def pop(self) -> None:
        """End it."""
        self._scopes.pop()

    def commands(self) -> dict[str, Callable[[Sequence[str], str], None]]:
        """Return what carries out each command, given its arguments and its place."""
        return {
            "set": self._set,
            "unset": lambda arguments, _: self.set(arguments[0], None) if arguments else None,
            "option": self._option,
            "list": self._list,
            "string": self._string,
            "file": self._file,
            "get_filename_component": self._component,
            "set_and_check": self._set_and_check,
        }

    def _set(self, arguments: Sequence[str], _place: str) -> None:
        if not arguments or is_unknown(arguments[0]):
            return
        name, values = arguments[0], list(arguments[1:])
        if "CACHE" in values:
            values = values[: values.index("CACHE")]
        outer = values[-1:] == ["PARENT_SCOPE"]
        values = values[:-1] if outer else values
        self.set(name, join_list(values) if values else None, outer=outer)

    def _option(self, arguments: Sequence[str], _place: str) -> None:
        if arguments and self.get(arguments[0]) is None:
            self.set(arguments[0], arguments[2] if len(arguments) > 2 else "OFF")

    def _set_and_check(self, arguments: Sequence[str], _place: str) -> None:
        if len(arguments) == 2:
            self.set(*arguments)
            if not is_unknown(arguments[1]) and not self._files.exists(arguments[1]):
                self._note(f"set_and_check({arguments[0]}): the prefix has no {shown(arguments[1])}")

    def _forget_words(self, words: Sequence[str]) -> None:
        self.forget(Invocation("", tuple(map(Argument, words)), 0))

    def _list(self, arguments: Sequence[str], _place: str) -> None:
        if len(arguments) < 2 or arguments[0] not in ("APPEND", "PREPEND"):
            self._forget_words(arguments[1:])
            return
        name, values = arguments[1], arguments[2:]
        old = [one for one in [self.text(name)] if one]
        self.set(name, join_list([*old, *values] if arguments[0] == "APPEND" else [*values, *old]))

    def _string(self, arguments: Sequence[str], _place: str) -> None:
        operation, *rest = arguments or ("",)
        if operation in ("TOLOWER", "TOUPPER") and len(rest) == 2:
            self.set(rest[1], rest[0].lower() if operation == "TOLOWER" else rest[0].upper())
        elif operation == "REPLACE" and len(rest) >= 3 and rest[0] and not any(map(is_unknown, rest)):
            old, new, name, *texts = rest
            text = "".join(texts)
            check_size(len(text) + text.count(old) * (len(new) - len(old)))
            self.set(name, text.replace(old, new))
        else:
            self._forget_words(rest)

    def _file(self, arguments: Sequence[str], _place: str) -> None:
        if len(arguments) < 3 or arguments[0] != "GLOB":
            self._forget_words(arguments[1:])
            return
        patterns = [
            one for one in arguments[2:] if one not in ("CONFIGURE_DEPENDS", "LIST_DIRECTORIES", "true", "false")
        ]
        found = [path for pattern in patterns if not is_unknown(pattern) for path in self._files.glob(pattern)]
        self.set(arguments[1], join_list(sorted(found)))

    def _component(self, arguments: Sequence[str], _place: str) -> None:
        if len(arguments) < 3:
            self._forget_words(arguments)
            return
        name, path, mode = arguments[:3]
        base = (
            arguments[4]
            if arguments[3:4] == ["BASE_DIR"] and len(arguments) > 4
            else self.text("CMAKE_CURRENT_LIST_DIR")
        )
        known = None if is_unknown(path) or is_unknown(base) else component(path, mode, base)
        self.set(name, UNKNOWN if known is None else known)


def shown(path: str) -> str:
    """Return a path for a message: relative to the prefix, if it is computed from it."""
    shown_path = path.replace(UNKNOWN, "?")
    return posixpath.relpath(shown_path, ROOT) if path.startswith(posixpath.dirname(ROOT)) else shown_path


def elements(value: str) -> list[str]:
    """Return the elements of a list that are known."""
    return [one for one in split_list(value) if not is_unknown(one)]
