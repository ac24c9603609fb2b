"""The console scripts of this package: each replaces itself by the ROCm tool of that name.

`console_scripts.json` lists them with the tools' paths; the packages' build reads it too and declares an entry point
`SCRIPT = rocm_sdk_core._cli:FUNCTION` for each tool that it ships. FUNCTION is the script's name with `-` as `_` and
`+` as `x`; there is no code per script (PEP 562).

A tool that builds programs runs from the development tree if that is installed, where it finds headers and CMake files.
Some builds of `hipcc` look for the compiler where it was when they were built, and some compilers for HIP beside
themselves. So a row may have `directories`: variables, and the directories of the tool's tree that they name, unless
they are set.

Builds start compilers thousands of times. So nothing is imported here that Python has not loaded already, unless the
development tree has to be made or looked at. `rocm_profiler._cli` uses this module for its scripts.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from typing import Any, Callable, NoReturn

_HERE = os.path.dirname(__file__)


def read_json(path: str) -> Any:
    """Return the contents of a JSON file that the packages' build wrote; None if it is not there.

    Such JSON is Python, except for three names. Importing `json` takes as long as starting half an interpreter.
    """
    try:
        with open(path, encoding="utf-8") as stream:
            return eval(stream.read(), {"__builtins__": {}, "true": True, "false": False, "null": None})
    except FileNotFoundError:
        return None


def tree() -> Path:
    """Return this package's tree."""
    from pathlib import Path

    return Path(find_tree(_HERE, "tree"))


#: AMD's name of it.
_get_core_module_path = tree


def find_tree(package: str, key: str, default: str = "") -> str:
    """Return the tree that `_package.json` in the directory `package` names by a key: it may have a version suffix.

    The build writes that file. Without it, the tree is `default`, or has the package's name with `_` before it.
    """
    site, name = os.path.split(package)
    facts = read_json(f"{package}/_package.json") or {}
    return os.path.join(site, facts.get(key, default or f"_{name}"))


def find_script(package: str, function: str) -> Any:
    """Return the row of `console_scripts.json` in the directory `package` whose script has that function.

    Raises AttributeError, as a module without the function does.
    """
    # Python asks modules for names of its own, such as `__path__`.
    for row in [] if function.startswith("__") else read_json(f"{package}/console_scripts.json"):
        if function_name(row["script"]) == function:
            return row
    raise AttributeError(f"module '{os.path.basename(package)}._cli' has no attribute {function!r}")


def function_name(script: str) -> str:
    """Return the name of the function that runs `script`."""
    return script.replace("-", "_").replace("+", "x")


def run_tool(tool: str, environ: Mapping[str, str] | None = None) -> NoReturn:
    """Replace this process by the program `tool`, with the arguments of this one; its argv[0] is its own path.

    Windows cannot: there, wait for it, and end as it did.
    """
    if not os.access(tool, os.X_OK):
        fail(f"{tool} is missing or not executable. {_noexec(tool) or 'Reinstall the ROCm packages.'}")
    if environ is None:
        environ = os.environ
    if os.name == "nt":
        _wait_for(tool, environ)
    _restore_signals()
    os.execve(tool, [tool, *sys.argv[1:]], environ)


def _noexec(tool: str) -> str:
    try:
        from rocm_sdk.system import noexec
    except ImportError:  # The package `rocm` is not installed.
        return ""
    return noexec(tool)


def fail(message: str) -> NoReturn:
    """End this script with a message."""
    sys.exit(f"{os.path.basename(sys.argv[0])}: {message}")


def _restore_signals() -> None:
    """Let signals that Python ignores end the tool, as they end programs that a shell starts.

    Python does not keep how it found them: they are set as `subprocess` sets them for programs that it starts. Its
    `signal` would have to be imported.
    """
    from _signal import SIG_DFL, SIGPIPE, SIGXFSZ, signal  # type: ignore[import-not-found]

    for number in (SIGPIPE, SIGXFSZ):
        signal(number, SIG_DFL)


def _wait_for(tool: str, environ: Mapping[str, str]) -> NoReturn:
    import signal
    import subprocess

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C reaches the tool as well, which decides.
    sys.exit(as_signed(subprocess.run([tool, *sys.argv[1:]], env=environ, check=False).returncode))


def as_signed(code: int) -> int:
    """Return an exit code of Windows, such as 0xC0000005 of a crash, as `sys.exit` takes it: a C long."""
    return code if code < 1 << 31 else code - (1 << 32)


def find_tool(path: str, *, prefer_devel: bool) -> tuple[str, str]:
    """Return a tree, and the tool's file in it: the development tree if that is installed and has it, else our own."""
    if os.name == "nt":
        path = path.replace("/", "\\") + ".exe"
    if prefer_devel:
        root = _find_devel()
        in_devel = os.path.join(root, path)
        if root and os.path.exists(in_devel):
            return root, in_devel
    root = find_tree(_HERE, "tree")
    return root, os.path.join(root, path)


def with_directories(environ: Mapping[str, str], root: str, directories: Mapping[str, str]) -> dict[str, str]:
    """Return the environment, in which variables that were not set name the directories that the tree `root` has."""
    named = {name: path for name, path in directories.items() if not environ.get(name)}
    wanted = {name: os.path.normpath(os.path.join(root, path)) for name, path in named.items()}
    return {**environ, **{name: path for name, path in wanted.items() if os.path.isdir(path)}}


def _find_devel() -> str:
    """Return the root of the development tree, made or brought up to date first if need be; "" if there is none."""
    try:
        from rocm_sdk.devel.glance import glance_at_root
    except ModuleNotFoundError:  # The package `rocm` is not installed: only it can make the development tree.
        return ""
    root = glance_at_root()
    return _ask_for_devel() if root is None else root


def _ask_for_devel() -> str:
    from rocm_sdk.devel import devel_root
    from rocm_sdk.errors import DevelNotInstalledError, RocmSdkError

    try:
        return str(devel_root())
    except DevelNotInstalledError:
        return ""
    except RocmSdkError as error:
        fail(str(error))


def __getattr__(name: str) -> Callable[[], NoReturn]:
    row = find_script(_HERE, name)

    def run() -> NoReturn:
        root, tool = find_tool(row["path"], prefer_devel=row["prefer_devel"])
        run_tool(tool, with_directories(os.environ, root, row.get("directories", {})))

    return run
