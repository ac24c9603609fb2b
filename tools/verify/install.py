"""Installs distributions into a fresh environment, from them alone, and runs a script there. For `rocm_install_test`.

    install.py --requirement REQUIREMENT… [--script FILE] [--installer pip|uv] [--python PROGRAM] PATH…

PATH is a directory that holds distributions (`//packaging:dist`), or a distribution. Nothing else can be found: no
index is asked. What was done, and what failed with all that it printed, is written as JUnit XML where Bazel wants it.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree.ElementTree import Element, SubElement, tostring

from tools.testing.wheel_scripts import put_on_path
from tools.verify.report.xml_text import clean


@dataclass(frozen=True)
class Step:
    """One command that was run."""

    name: str
    seconds: float
    code: int
    output: str


def run(name: str, command: Sequence[str], variables: dict[str, str]) -> Step:
    """Run a command in an environment of these variables alone."""
    started = time.monotonic()
    done = subprocess.run(
        command,
        env=variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )
    return Step(name, time.monotonic() - started, done.returncode, f"{' '.join(command)}\n{done.stdout}")


def links(paths: Sequence[Path], scratch: Path) -> list[str]:
    """Return the options that let an installer find the distributions, and nothing else."""
    loose = scratch / "distributions"
    loose.mkdir()
    folders = []
    for path in paths:
        if path.is_dir():
            page = path / "index.html"
            folders.append(page if page.is_file() else path)
        else:
            (loose / path.name).symlink_to(path)
    return ["--no-index", *(f"--find-links={folder}" for folder in [*folders, loose])]


def steps(arguments: argparse.Namespace, scratch: Path) -> list[Step]:
    """Make the environment, install, and run the script; stop at the first that fails."""
    environment = scratch / "environment"
    python = str(environment / "bin/python")
    # A PATH for compilers and the like; nothing of the user's configuration.
    variables = {"HOME": str(scratch), "PATH": "/usr/bin:/bin", "PIP_CONFIG_FILE": os.devnull, "PIP_NO_INPUT": "1"}
    variables |= dict(pair.split("=", 1) for pair in arguments.env)
    where = links([path.absolute() for path in arguments.paths], scratch)
    if arguments.installer == "uv":
        uv = variables | {"PATH": os.environ["PATH"], "UV_NO_CONFIG": "1", "UV_PYTHON_DOWNLOADS": "never"}
        install = ["uv", "--no-cache", "pip", "install", "--python", python]
        check = (["uv", "--no-cache", "pip", "check", "--python", python], uv)
        installing = ([*install, *where, *arguments.requirement], uv)
    else:
        pip = [sys.executable, "-m", "pip", "--python", python, "--disable-pip-version-check", "--no-cache-dir"]
        installing = ([*pip, "install", *where, *arguments.requirement], variables)
        check = ([*pip, "check"], variables)
    commands = [
        ("environment", [arguments.python, "-m", "venv", "--without-pip", str(environment)], variables),
        (f"install {' '.join(arguments.requirement)}", *installing),
        ("requirements agree", *check),
    ]
    for script in arguments.script:
        path = f"{environment}/bin:{variables['PATH']}"
        commands.append((script.name, [python, str(script.absolute())], variables | {"PATH": path}))
    done: list[Step] = []
    for name, command, its_variables in commands:
        done.append(run(name, command, its_variables))
        if done[-1].code:
            break
    return done


def report(done: Sequence[Step], path: str | None) -> None:
    """Print what happened, and write it as JUnit XML."""
    suite = Element(
        "testsuite", name="install", tests=str(len(done)), failures=str(sum(bool(one.code) for one in done))
    )
    for one in done:
        print(f"{'FAILED' if one.code else 'passed'}: {one.name} ({one.seconds:.1f} s)")
        if one.code or one is done[-1]:
            print(one.output)
        case = SubElement(suite, "testcase", classname="install", name=one.name, time=f"{one.seconds:.3f}")
        if one.code:
            SubElement(case, "failure", message=f"exit code {one.code}").text = clean(one.output)
    if path:
        Path(path).write_text(tostring(suite, encoding="unicode"), encoding="utf-8")


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
        done = steps(arguments, Path("/", scratch.lstrip("/")))
    report(done, os.environ.get("XML_OUTPUT_FILE"))
    return int(any(one.code for one in done))


if __name__ == "__main__":
    sys.exit(main())
