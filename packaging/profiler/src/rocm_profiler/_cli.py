"""The console scripts of this package: each replaces itself by the profiling tool of that name.

They work like the scripts of `rocm_sdk_core`, which this package requires: `console_scripts.json` lists them, and no
script has code of its own.

The tools start the user's program with libraries of their own loaded into it, and Python helpers; both find what they
need only through LD_LIBRARY_PATH and PYTHONPATH.
"""

from __future__ import annotations

import os

from rocm_sdk_core._cli import find_script, find_tree, run_tool

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Callable, NoReturn

_HERE = os.path.dirname(__file__)


def trees() -> tuple[str, str]:
    """Return this package's tree and core's."""
    return find_tree(_HERE, "tree"), find_tree(_HERE, "core_tree", "_rocm_sdk_core")


def tool_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Return `environ` with the directories of the profilers' libraries and Python helpers put first."""
    own, core = trees()
    libraries = [os.path.join(own, "lib"), os.path.join(core, "lib", "rocm_sysdeps", "lib")]
    helpers = [os.path.join(own, "libexec", "rocprofiler-compute")]
    changed = dict(environ)
    for variable, directories in (("LD_LIBRARY_PATH", libraries), ("PYTHONPATH", helpers)):
        value = prepend(directories, environ.get(variable, ""))
        if value:
            changed[variable] = value
    return changed


def prepend(directories: Iterable[str], value: str) -> str:
    """Return a search path: the `directories` that exist, then the directories of `value`, each once."""
    first = [directory for directory in directories if os.path.isdir(directory)]
    return os.pathsep.join(dict.fromkeys([*first, *filter(None, value.split(os.pathsep))]))


def __getattr__(name: str) -> Callable[[], NoReturn]:
    row = find_script(_HERE, name)
    return lambda: run_tool(os.path.join(trees()[0], row["path"]), tool_environment(os.environ))
