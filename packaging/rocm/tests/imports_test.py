"""What importing `rocm_sdk` and asking for the version load: nothing that takes time, which is looked at, not measured.

`python -X importtime -c "import rocm_sdk"` tells the times.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from environments import Environment
from fake_sdk import sdk_source

from develop.testing.slow_import import slow_import

# Each of these takes milliseconds, with all that it imports.
SLOW = {
    *("asyncio", "concurrent", "configparser", "ctypes", "email", "http", "importlib.metadata", "logging", "mmap"),
    *("multiprocessing", "socket", "ssl", "subprocess", "tarfile", "tempfile", "zipfile"),
}
REPORT = "import sys; print(*sorted(sys.modules), file=sys.stderr)"


def modules(code: str, source: Path) -> set[str]:
    """Return what is in `sys.modules` after running the code in a bare Python, without that Python's own start."""
    command = [sys.executable, "-I", "-S", "-B", "-c"]
    own = f"import os, sys; sys.path.append({str(source.parent)!r})\n"
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


def test_a_fork_during_the_first_import_waits_for_it() -> None:
    """The child has no thread that could end the import: it would wait for the module's lock for ever."""
    code = slow_import("rocm_sdk", "library_table", "find_libraries")
    command = [sys.executable, "-I", "-B", "-c", f"import sys; sys.path.append({str(sdk_source().parent)!r})\n{code}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert (done.stdout, done.stderr) == ("0\n", "")


ZIPPED = """
import sys
sys.path.insert(0, sys.argv[1])
import rocm_sdk
for what in ("__version__", "find_libraries('x')", "find_libraries('hipblas')"):
    try:
        eval("rocm_sdk." + what)
    except Exception as error:
        print(f"{type(error).__name__}: {error}")
"""


def test_packages_in_a_zip_say_so(tmp_path: Path) -> None:
    zipped = Path(shutil.make_archive(str(tmp_path / "all"), "zip", sdk_source().parent, "rocm_sdk"))
    said = subprocess.check_output([sys.executable, "-I", "-B", "-c", ZIPPED, zipped], text=True)
    sentence = (
        f"RocmSdkError: {zipped}/rocm_sdk is no directory: ROCm's libraries cannot be loaded from a zip file. Install "
        "the packages with pip, or unpack the file"
    )
    assert said.splitlines() == [sentence] * 3
    for tool in ("version", "doctor", "test"):
        code = f"import sys; sys.path[:0] = ['{zipped}']; from rocm_sdk.cli import main; sys.exit(main(['{tool}']))"
        done = subprocess.run([sys.executable, "-I", "-B", "-c", code], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (1, f"rocm-sdk: error: {sentence.partition(': ')[2]}\n")
