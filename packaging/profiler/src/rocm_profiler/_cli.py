"""The console scripts of this package: each replaces itself by the profiling tool of that name.

`console_scripts.json` lists them with the tools' paths; the packages' build reads it too and declares an entry point
`SCRIPT = rocm_profiler._cli:FUNCTION` for each tool that it ships. FUNCTION is the script's name with `-` as `_`; there
is no code per script (PEP 562).

The tools start the user's program with libraries of their own loaded into it, and Python helpers; both find what they
need only through LD_LIBRARY_PATH and PYTHONPATH.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Callable, NoReturn

_HERE = Path(__file__).parent


def _read_json(name: str) -> Any:
    path = _HERE / name
    return json.loads(path.read_text("utf-8")) if path.is_file() else None


def trees() -> tuple[Path, Path]:
    """Return this package's tree and core's, which `_package.json` of the build names: they may have a suffix."""
    facts = _read_json("_package.json") or {}
    own = str(facts.get("tree", f"_{_HERE.name}"))
    return _HERE.parent / own, _HERE.parent / str(facts.get("core_tree", "_rocm_sdk_core"))


def function_name(script: str) -> str:
    """Return the name of the function here that runs `script`."""
    return script.replace("-", "_").replace("+", "x")


def tool_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Return `environ` with the directories of the profilers' libraries and Python helpers put first."""
    own, core = trees()
    libraries = [own / "lib", core / "lib" / "rocm_sysdeps" / "lib"]
    helpers = [own / "libexec" / "rocprofiler-compute"]
    changed = dict(environ)
    for variable, directories in (("LD_LIBRARY_PATH", libraries), ("PYTHONPATH", helpers)):
        value = prepend(directories, environ.get(variable, ""))
        if value:
            changed[variable] = value
    return changed


def prepend(directories: Iterable[Path], value: str) -> str:
    """Return a search path with the directories that exist before those of `value`, each once."""
    first = [str(directory) for directory in directories if directory.is_dir()]
    return os.pathsep.join(dict.fromkeys([*first, *filter(None, value.split(os.pathsep))]))


def run_tool(path: str) -> NoReturn:
    """Replace this process by the tool at `path`, relative to the tree; its argv[0] is its own path."""
    tool = trees()[0] / path
    if not os.access(tool, os.X_OK):
        sys.exit(f"{Path(sys.argv[0]).name}: {tool} is missing or not executable. Reinstall the ROCm packages.")
    os.execve(tool, [str(tool), *sys.argv[1:]], tool_environment(os.environ))


def __getattr__(name: str) -> Callable[[], NoReturn]:
    for tool in _read_json("console_scripts.json"):
        if function_name(tool["script"]) == name:
            return lambda: run_tool(tool["path"])
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
