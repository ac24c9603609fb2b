"""Installs distributions into a fresh environment, from them alone, and runs a script there. For `sdk_install_test`.

    install.py --requirement REQUIREMENT… [--script FILE] [--installer pip|uv] [--python PROGRAM] PATH…

PATH is a directory that holds distributions, also in directories below it, or a distribution. Nothing else can be
found: no index is asked. The script is run as a copy in a directory of its own, so that `import` finds what was
installed, not sources beside it or where the test runs.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lib.common.wheel_scripts import put_on_path


@dataclass(frozen=True)
class Command:
    """A command to run, in an environment of these variables alone."""

    name: str
    argv: Sequence[str]
    variables: dict[str, str]
    #: Where it runs: `-m` and `-c` make Python look there for modules first.
    directory: Path


def run(command: Command, *, is_last: bool) -> int:
    """Run a command, and print what happened; returns its exit code."""
    started = time.monotonic()
    done = subprocess.run(
        command.argv,
        cwd=command.directory,
        env=command.variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )
    print(f"{'FAILED' if done.returncode else 'passed'}: {command.name} ({time.monotonic() - started:.1f} s)")
    if done.returncode or is_last:
        print(f"{' '.join(command.argv)}\n{done.stdout}")
    return done.returncode


def links(paths: Sequence[Path], scratch: Path) -> list[str]:
    """Return the options that let an installer find the distributions, and nothing else."""
    loose = scratch / "distributions"
    loose.mkdir()
    folders = []
    for path in paths:
        if path.is_dir():
            page = path / "index.html"
            # Split wheels are in a directory for each GPU.
            below = sorted({wheel.parent for wheel in path.glob("*/*.whl")})
            folders += [page] if page.is_file() else [path, *below]
        else:
            (loose / path.name).symlink_to(path)
    return ["--no-index", *(f"--find-links={folder}" for folder in [*folders, loose])]


def installer(name: str, python: str) -> tuple[list[str], list[str], dict[str, str]]:
    """Return the commands that install into an interpreter's environment and check it, and variables for both."""
    if name == "uv":
        uv = ["uv", "--no-cache", "pip"]
        variables = {"PATH": os.environ["PATH"], "UV_NO_CONFIG": "1", "UV_PYTHON_DOWNLOADS": "never"}
        return [*uv, "install", "--python", python], [*uv, "check", "--python", python], variables
    pip = [sys.executable, "-m", "pip", "--python", python, "--disable-pip-version-check", "--no-cache-dir"]
    return [*pip, "install"], [*pip, "check"], {}


def commands(arguments: argparse.Namespace, scratch: Path) -> list[Command]:
    """Return what makes the environment, installs, and runs the scripts."""
    environment, empty = scratch / "environment", scratch / "empty"
    empty.mkdir()
    python = str(environment / "bin/python")
    # A PATH for programs such as compilers; nothing of the user's configuration.
    variables = {"HOME": str(scratch), "PATH": "/usr/bin:/bin", "PIP_CONFIG_FILE": os.devnull, "PIP_NO_INPUT": "1"}
    variables |= dict(pair.split("=", 1) for pair in arguments.env)
    install, check, more = installer(arguments.installer, python)
    where = links([path.absolute() for path in arguments.paths], scratch)
    wanted = arguments.requirement
    # A name without `/` is looked up on PATH.
    maker = str(Path(arguments.python).absolute()) if "/" in arguments.python else arguments.python
    found = [
        Command("environment", [maker, "-m", "venv", "--without-pip", str(environment)], variables, empty),
        Command(f"install {' '.join(wanted)}", [*install, *where, *wanted], variables | more, empty),
        Command("requirements agree", check, variables | more, empty),
    ]
    with_scripts = variables | {"PATH": f"{environment}/bin:{variables['PATH']}"}
    for number, script in enumerate(arguments.script):
        folder = scratch / "scripts" / str(number)
        folder.mkdir(parents=True)
        shutil.copy(script, folder / script.name)
        found.append(Command(script.name, [python, str(folder / script.name)], with_scripts, folder))
    return found


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requirement", action="append", default=[], help="what to install (PEP 508)")
    parser.add_argument("--script", action="append", default=[], type=Path, help="Python program to run there")
    parser.add_argument("--installer", choices=("pip", "uv"), default="pip")
    parser.add_argument("--python", default=sys.executable, help="interpreter of the environment")
    parser.add_argument("--env", action="append", default=[], metavar="NAME=VALUE", help="variable for all commands")
    parser.add_argument("paths", nargs="+", type=Path, metavar="PATH")
    arguments = parser.parse_args(argv)
    if not arguments.requirement:
        parser.error("nothing to install: give --requirement")
    put_on_path()
    with tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMPDIR")) as scratch:
        # A worker that runs tests in its root gives them "//_tmp", of which pip makes a URL with a host of that name.
        todo = commands(arguments, Path("/", scratch.lstrip("/")))
        return int(any(run(one, is_last=one is todo[-1]) for one in todo))


if __name__ == "__main__":
    sys.exit(main())
