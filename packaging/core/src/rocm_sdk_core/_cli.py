"""The console scripts of this package: each replaces itself by the ROCm tool of that name.

`console_scripts.json` lists them with the tools' paths; the packages' build reads it too and declares an entry point
`SCRIPT = rocm_sdk_core._cli:FUNCTION` for each tool that it ships. FUNCTION is the script's name with `-` as `_` and
`+` as `x`; there is no code per script (PEP 562).

A tool that builds programs runs from the development tree if that is installed, where it finds headers and CMake files.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any, Callable, NoReturn

_HERE = Path(__file__).parent


def _read_json(name: str) -> Any:
    path = _HERE / name
    return json.loads(path.read_text("utf-8")) if path.is_file() else None


def tree() -> Path:
    """Return this package's tree, which `_package.json` of the build names: it may have a version suffix."""
    facts = _read_json("_package.json") or {}
    return _HERE.parent / str(facts.get("tree", f"_{_HERE.name}"))


#: AMD's name of it.
_get_core_module_path = tree


def function_name(script: str) -> str:
    """Return the name of the function here that runs `script`."""
    return script.replace("-", "_").replace("+", "x")


def run_tool(path: str, *, prefer_devel: bool) -> NoReturn:
    """Replace this process by the tool at `path`, relative to a tree; its argv[0] is its own path.

    Windows cannot: there, wait for it, and end as it did.
    """
    tool = find_tool(path, prefer_devel=prefer_devel)
    if not os.access(tool, os.X_OK):
        sys.exit(f"{Path(sys.argv[0]).name}: {tool} is missing or not executable. Reinstall the ROCm packages.")
    if os.name != "nt":
        os.execv(tool, [str(tool), *sys.argv[1:]])
    import signal
    import subprocess

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C reaches the tool as well, which decides.
    sys.exit(as_signed(subprocess.run([str(tool), *sys.argv[1:]], check=False).returncode))


def as_signed(code: int) -> int:
    """Return an exit code of Windows, such as 0xC0000005 of a crash, as `sys.exit` takes it: a C long."""
    return code if code < 1 << 31 else code - (1 << 32)


def find_tool(path: str, *, prefer_devel: bool) -> Path:
    """Return the tool's file: in the development tree if that is installed and has it, else in this package's tree."""
    if os.name == "nt":
        path += ".exe"
    if prefer_devel:
        in_devel = _find_in_devel(path)
        if in_devel is not None:
            return in_devel
    return tree() / path


def _find_in_devel(path: str) -> Path | None:
    try:
        from rocm_sdk.devel import devel_root
        from rocm_sdk.errors import DevelError, DevelNotInstalledError
    except ModuleNotFoundError:  # The package `rocm` is not installed: only it can make the development tree.
        return None
    try:
        tool = devel_root() / path
    except DevelNotInstalledError:
        return None
    except DevelError as error:
        sys.exit(f"{Path(sys.argv[0]).name}: {error}")
    return tool if tool.exists() else None


def __getattr__(name: str) -> Callable[[], NoReturn]:
    for tool in _read_json("console_scripts.json"):
        if function_name(tool["script"]) == name:
            return lambda: run_tool(tool["path"], prefer_devel=tool["prefer_devel"])
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
