"""Settings of the checks: limits, patterns, and what the system is expected to have. From BUILD files or a TOML file.

    [settings]
    max_path = 180
    [[exception]]            # see wheels.verify.exceptions
    id = "W406"
    …

The rules write the same document as JSON. Each key is a field of `Settings`; another is an error.
"""

import dataclasses
import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

from lib.common.program import ToolError

#: Where sources and build trees lie on machines of build farms and people. Each is a regular expression over bytes.
BUILD_PATHS = (
    r"/home/[\w.-]+/",
    r"/root/[\w.-]+/",
    r"/Users/[\w.-]+/",
    r"/__w/[\w.-]+/",
    r"/builds?/[\w.-]+/",
    r"/tmp/[\w.-]+/",
    r"/var/tmp/[\w.-]+/",
    r"/private/var/folders/",
    r"/therock/(?:src|build)/",
)


@dataclass(frozen=True)
class Settings:
    """Limits and exceptions. Sizes are in bytes; 0 means no limit."""

    max_path: int = 180
    """Characters of a path below site-packages: Windows gives 260 for all of it."""
    max_wheel_size: int = 0
    max_file_size: int = 0
    """Of one file, inflated."""
    debug_info: bool = False
    """Whether ELF files may hold debug information."""
    build_paths: tuple[str, ...] = BUILD_PATHS
    """Regular expressions for paths of the machine that built it, which must not be in configuration files."""
    system_libraries: tuple[str, ...] = ()
    """Patterns of SONAMEs that the system brings, beyond the C and C++ runtimes."""
    opened_libraries: Mapping[str, str] = field(default_factory=dict)
    """Patterns of names that may be opened at run time and need not be in the set, each with the reason."""
    preloaded_libraries: tuple[str, ...] = ()
    """Patterns of SONAMEs that programs load before what needs them: a file of the set serves, wherever it lies."""
    external_requirements: tuple[str, ...] = ()
    """Names of distributions that come from elsewhere."""


def build_path(settings: Settings) -> re.Pattern[bytes] | None:
    """Return an expression for a build path that is not the end of a longer one; None if no path counts as such."""
    paths = "|".join(settings.build_paths)
    return re.compile(rf"(?<![\w.$}}-])(?:{paths})".encode()) if paths else None


def _typed(key: str, kind: Any, value: Any, origin: str) -> Any:
    """Check one setting; lists become tuples."""
    if get_origin(kind) is tuple:
        if isinstance(value, list) and all(isinstance(one, get_args(kind)[0]) for one in value):
            return tuple(value)
    elif get_origin(kind) is Mapping:
        if isinstance(value, dict) and all(isinstance(text, str) and text.strip() for text in value.values()):
            return value
        raise ToolError(f"{origin}: setting {key} is {value!r}; expected a table: a reason for each pattern")
    elif type(value) is kind:
        return value
    raise ToolError(f"{origin}: setting {key} is {value!r}; expected {kind}")


def _check_expressions(key: str, expressions: tuple[str, ...], origin: str) -> None:
    """Raise ToolError unless each is a regular expression."""
    for text in expressions:
        try:
            re.compile(text.encode())
        except re.error as error:
            raise ToolError(f"{origin}: {key} has {text!r}, not a regular expression: {error}") from None


def make_settings(values: dict[str, Any], origin: str, before: Settings | None = None) -> Settings:
    """Make settings of a document's values; the rest is as `before`, or as the defaults.

    `opened_libraries` adds to the ones of `before`. Errors (ToolError) name `origin`, the document.
    """
    before = before or Settings()
    kinds = get_type_hints(Settings)
    known = [field.name for field in dataclasses.fields(Settings)]
    for key in sorted(values):
        if key not in known:
            raise ToolError(f"{origin}: no setting is called {key!r}; expected one of {', '.join(known)}")
    typed = {key: _typed(key, kinds[key], value, origin) for key, value in values.items()}
    typed["opened_libraries"] = {**before.opened_libraries, **typed.get("opened_libraries", {})}
    settings = dataclasses.replace(before, **typed)
    _check_expressions("build_paths", settings.build_paths, origin)
    return settings


def read_config(path: Path) -> dict[str, Any]:
    """Read a configuration, TOML or JSON by its name. Raises ToolError when it cannot be read."""
    try:
        text = path.read_text(encoding="utf-8")
        document = json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
    except (OSError, ValueError) as error:
        raise ToolError(f"{path}: expected a configuration, TOML or JSON: {error}") from None
    unknown = sorted(set(document) - {"settings", "exception"}) if isinstance(document, dict) else ["no table"]
    if unknown:
        raise ToolError(f"{path}: unknown: {', '.join(unknown)}; expected [settings] and [[exception]]")
    return dict(document)
