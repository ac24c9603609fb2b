"""Tests of checked compilations, with a program in the place of clang: hip.tests.e2e.programs has the real one."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hip.tools.compile import hint, main

#: Does what its first argument says; writes the output, and what it read.
COMPILER = """
import os, sys
from pathlib import Path
if sys.argv[-4:] == ["-E", "-H", "-o", os.devnull]:
    sys.exit(sys.stderr.write(". ./app/a.h\\n.. /opt/z.h\\n. app/sub/../c.h\\n"))
exec(sys.argv[1])
listed = Path(sys.argv[sys.argv.index("-dependency-file") + 2])
Path("out/a.o").write_text(os.environ.get("VARIABLE", ""))
listed.write_text("dependencies: " + " ".join(READ) + "\\n")
"""
READ = 'READ = ["app/a.hip", "./app/a.h", "/usr/include/stdio.h"]'


@pytest.fixture(autouse=True)
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make an execution root, and go there."""
    monkeypatch.chdir(tmp_path)
    for name in ("app/a.hip", "app/a.h", "app/b.h"):
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(name, encoding="utf-8")
    Path("out").mkdir()
    Path("list").write_text("app/a.h\napp/b.h\n", encoding="utf-8")
    Path("compiler.py").write_text(COMPILER, encoding="utf-8")
    return tmp_path


def arguments(does: str) -> list[str]:
    """Return the arguments of a compilation."""
    files = ["--source=app/a.hip", "--output=out/a.o", "--headers=list", "--unused=out/unused", "--input=out/a.hipfb"]
    others = ["--system=/usr/include", "--variable=VARIABLE=a=b"]
    return ["--label=//app:app", *files, *others, "--", sys.executable, "compiler.py", does]


def test_what_was_not_read_is_listed() -> None:
    assert main(arguments(READ)) == 0
    assert Path("out/a.o").read_text(encoding="utf-8") == "a=b"
    assert Path("out/unused").read_text(encoding="utf-8") == "app/b.h\n"
    assert sorted(os.listdir("out")) == ["a.o", "unused"]  # noqa: PTH208


def test_declared_files_that_are_no_headers() -> None:
    assert main(arguments(f'{READ}; READ += ["out/a.hipfb"]')) == 0


def test_what_no_target_declares_is_named(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(arguments(f'{READ}; READ += ["app/sub/../c.h", "/opt/z.h"]')) == 1
    assert capfd.readouterr().err == (
        "ERROR: //app:app: undeclared inclusion(s): app/a.hip includes files that no target declares:\n"
        "  '/opt/z.h' (included by 'app/a.h')\n  'app/c.h'\n"
        "Expected only declared headers: if another header changed, Bazel would compile nothing again. Add a header of "
        "the workspace to `hdrs` or `srcs`, or the library that has it to `deps`. Declare a library of headers that "
        "are elsewhere; if they belong to the C++ library, name their directory in `cxx_builtin_include_directories` "
        "of the toolchain for C++\n"
    )
    assert os.listdir("out") == ["a.o"]  # noqa: PTH208


@pytest.mark.parametrize(("does", "status"), [("sys.exit(3)", 3), ("os.kill(os.getpid(), 9)", 128 + signal.SIGKILL)])
def test_a_failed_compilation_is_the_compilers(does: str, status: int, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(arguments(does)) == status
    assert capfd.readouterr().err == ""
    assert os.listdir("out") == []  # noqa: PTH208


@pytest.mark.parametrize(
    ("does", "message"),
    [
        (
            'READ = ["a.hipi"]',
            "app/a.hip: clang does not list it among the files that it read; expected one compilation",
        ),
        ("sys.exit()", "expected a list of dependencies of clang, which begins with dependencies:, and found ''"),
    ],
)
def test_a_compilation_that_lists_nothing(does: str, message: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(arguments(does)) == 1
    error = capfd.readouterr().err
    assert error.startswith(f"ERROR: //app:app: {message}")
    assert "Remove options" in error
    assert not Path("out/unused").exists()


def test_response_files_are_the_compilers() -> None:
    assert main([*arguments(READ), "@no_such_file"]) == 0


def _ended(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


def test_a_killed_tool_takes_the_compiler_along() -> None:
    does = 'Path("pid").write_text(str(os.getpid())); os.rename("pid", "started"); import time; time.sleep(60)'
    program = "import sys; from hip.tools.compile import main; sys.exit(main(sys.argv[1:]))"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen([sys.executable, "-c", program, *arguments(does)], env=environment) as tool:
        while not Path("started").exists():
            assert tool.poll() is None
            time.sleep(0.01)
        tool.kill()
    compiler = int(Path("started").read_text(encoding="utf-8"))
    deadline = time.monotonic() + 10
    while not _ended(compiler) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert _ended(compiler)


HEADERS = {"hipblas": "@rocm//:hipblas", "thrust": "@rocm//:rocthrust"}


@pytest.mark.parametrize(
    ("messages", "beginning"),
    [
        (
            "a.cu:1:10: fatal error: 'cuda_runtime.h' file not found\n",
            "cuda_runtime.h is a header of CUDA; expected HIP's",
        ),
        ("a.cu:1:10: fatal error: 'cublas_v2.h' file not found\n", "cublas_v2.h is a header of CUDA"),
        (
            "warning: x\nlld: error: undefined hidden symbol: half_of(float)\n>>> referenced by a.hip\n",
            "device code calls half_of(float), which its source does not define; expected it in the same source. ",
        ),
        (
            "a.hip:1:10: fatal error: 'thrust/sort.h' file not found\n",
            "thrust/sort.h is a header of the SDK; expected its library, @rocm//:rocthrust, in `deps`. Add it",
        ),
        ("a.hip:1:10: fatal error: 'hipblas' file not found\n", ""),
        ("a.hip:1:10: fatal error: 'custom.h' file not found\n", ""),
        ("a.hip:1:10: fatal error: 'nvtx/nvtx.h' file not found\n", ""),
        ("", ""),
    ],
)
def test_hints(messages: str, beginning: str) -> None:
    assert hint(messages, HEADERS).startswith(beginning)
    assert bool(hint(messages, HEADERS)) == bool(beginning)
