"""What importing `rocm_sdk` and asking for the version load: nothing that takes time, which is looked at, not measured.

`python -X importtime -c "import rocm_sdk"` tells the times.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from environments import Environment
from fake_sdk import sdk_source

# Each of these takes milliseconds, with all that it imports.
SLOW = {
    *("asyncio", "concurrent", "configparser", "ctypes", "email", "http", "importlib.metadata", "logging", "mmap"),
    *("multiprocessing", "socket", "ssl", "subprocess", "tarfile", "tempfile", "zipfile"),
}
REPORT = "import sys; print(*sorted(sys.modules), file=sys.stderr)"


def modules(code: str, source: Path) -> set[str]:
    """Return what is in `sys.modules` after running the code in a bare Python, without that Python's own start."""
    command = [sys.executable, "-I", "-S", "-B", "-c"]
    own = f"import sys; sys.path.append({str(source.parent)!r})\n"
    runs = [
        subprocess.run([*command, f"{own}{part}\n{REPORT}"], capture_output=True, check=True, env={"PATH": os.defpath})
        for part in ("", code)
    ]
    before, after = (set(run.stderr.decode().split()) for run in runs)
    return after - before


def test_importing_loads_nothing_else() -> None:
    assert modules("import rocm_sdk", sdk_source()) == {"__future__", "rocm_sdk"}


def test_listing_what_there_is_loads_nothing_else() -> None:
    assert modules("import rocm_sdk; dir(rocm_sdk)", sdk_source()) == {"__future__", "rocm_sdk"}


@pytest.mark.parametrize("command", [["version"], ["--help"], ["env", "--help"]])
def test_quick_commands_load_nothing_slow(shared_environment: Environment, command: list[str]) -> None:
    code = f"""
import rocm_sdk.cli
try:
    rocm_sdk.cli.main({command})
except SystemExit:
    pass
"""
    loaded = modules(code, shared_environment.site / "rocm_sdk")
    assert "rocm_sdk.commands" in loaded
    assert loaded & {*SLOW, "rocm_sdk.distributions"} == set()


def test_paths_of_libraries_need_no_loader(shared_environment: Environment) -> None:
    loaded = modules("import rocm_sdk; rocm_sdk.find_libraries('amdhip64')", shared_environment.site / "rocm_sdk")
    assert "rocm_sdk.libraries" in loaded
    assert not loaded & {"ctypes", "importlib.metadata", "subprocess", "mmap"}
