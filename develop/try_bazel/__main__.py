"""Tries a Bazel: users' first commands, and the same bytes as another Bazel.

    python3 -m develop.try_bazel --bazel PATH [STEP ...]

Run it from the top of the workspace. PATH is any Bazel from 7.4 on, a bazelisk,
or ./bazelw. Steps run in this order:

    wheels     README's first command
    tests      README's second command: all tests
    consumer   another module packages its own SDK, with only a `bazel_dep`
    hip        the example of HIP programs, with Debian's ROCm or --artifacts
    bytes      the wheels again, from another output base, without .bazelrc

Each step prints a line. At the end there is a row for
docs/reference/compatibility.md, which goes to --table, too. Later runs with the
same scratch directory keep what was built, so a step can be run alone. The exit
code is 0 if each step passed, 1 if one failed, and 2 if the Bazel does not
start or is too old.
"""

import argparse
import hashlib
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path

WORKSPACE = Path(__file__).resolve().parents[2]
OLDEST = (7, 4)
HEADER = ("Bazel", "wheels", "tests", "consumer", "hip", "bytes")
STEPS = HEADER[1:]
#: How many lines of a failed step are printed.
SHOWN = 40


class FailedError(Exception):
    """A step failed; says why."""


@dataclass(frozen=True)
class Bazel:
    """A Bazel to try."""

    path: Path
    scratch: Path
    #: Options of every build.
    options: tuple[str, ...] = ()
    #: Startup options.
    startup: tuple[str, ...] = ()
    workspace: Path = WORKSPACE

    def run(self, name: str, project: str, command: str, *words: str) -> str:
        """Call it in a project of the workspace, with an output base of that name. Raises FailedError if it fails."""
        log = self.scratch / f"{name}.log"
        startup = (str(self.path), f"--output_base={self.scratch / name}", *self.startup)
        with log.open("w+", encoding="utf-8", errors="replace") as file:
            code = subprocess.run(
                [*startup, command, *words],
                cwd=self.workspace / project,
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=file,
                check=False,
            ).returncode
            file.seek(0)
            output = file.read()
        if code:
            raise FailedError(f"exit code {code}; the end of {log}:\n" + "\n".join(output.splitlines()[-SHOWN:]))
        return output

    def build(self, name: str, project: str, command: str, *words: str) -> str:
        """Build or test, and leave no link in the project."""
        usual = ("--symlink_prefix=/", "--color=no", "--curses=no", "--show_progress_rate_limit=30")
        return self.run(name, project, command, *usual, *self.options, *words)

    def shutdown(self, name: str, project: str) -> None:
        """End the server of an output base."""
        subprocess.run(
            [self.path, f"--output_base={self.scratch / name}", "shutdown"],
            cwd=self.workspace / project,
            capture_output=True,
            check=False,
        )

    def distributions(self, name: str) -> str:
        """Return one digest of the distributions of the example SDK that an output base has."""
        places = self.run(name, ".", "info", "bazel-bin", "--ui_event_filters=-info", *self.options)
        dist = Path(places.splitlines()[-1], "packaging/dist")
        digest = hashlib.sha256()
        paths = sorted([*dist.glob("*.whl"), *dist.glob("*.tar.gz")])
        if not paths:
            raise FailedError(f"{dist}: expected distributions")
        for path in paths:
            digest.update(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n".encode())
        return digest.hexdigest()


def tested(output: str) -> str:
    """Return how many tests passed, in Bazel's words."""
    found = re.findall(r"^Executed .*?(\d+) tests? pass", output, re.MULTILINE)
    return f"{found[-1]} passed" if found else "passed"


def step(bazel: Bazel, name: str, options: argparse.Namespace) -> str:
    """Run one step and return what the table says of it. Raises FailedError."""
    if name == "wheels":
        bazel.build("main", ".", "build", "//packaging:all_wheels")
    elif name == "tests":
        return tested(bazel.build("main", ".", "test", "//tests/..."))
    elif name == "consumer":
        return tested(bazel.build("consumer", "tests/e2e/consumer/acme", "test", "//..."))
    elif name == "hip":
        artifacts = (f"--repo_env=ROCM_ARTIFACTS_DIR={options.artifacts.absolute()}",) if options.artifacts else ()
        return tested(bazel.build("hip", "hip/examples/programs", "test", "//...", *artifacts))
    else:
        bazel.build("main", ".", "build", "//packaging:dist")
        first = bazel.distributions("main")
        bare = replace(bazel, startup=("--noworkspace_rc",))
        bare.build("again", ".", "build", "//packaging:dist")
        again = bare.distributions("again")
        bazel.shutdown("again", ".")
        for other in filter(None, (again, options.expect)):
            if other != first:
                raise FailedError(f"the distributions differ: SHA-256 {first}, expected {other}")
        if options.digest:
            options.digest.write_text(f"{first}\n")
        return f"`{first[:12]}`"
    return "passed"


def version(bazel: Bazel) -> str:
    """Return the version of a Bazel. Raises FailedError if it does not start, or is too old."""
    try:
        release = bazel.run("main", ".", "info", "release", "--ui_event_filters=-info").splitlines()[-1]
    except OSError as error:
        raise FailedError(f"{bazel.path}: {error.strerror}") from None
    found = re.match(r"release (\d+)\.(\d+)", release)
    if not found or (int(found[1]), int(found[2])) < OLDEST:
        raise FailedError(f"{bazel.path}: {release!r}; expected Bazel {OLDEST[0]}.{OLDEST[1]} or newer")
    return release.removeprefix("release ")


def main(argv: list[str]) -> int:
    """Run the steps and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("steps", nargs="*", metavar="STEP", help=f"{', '.join(STEPS)}; all if none is named")
    parser.add_argument("--bazel", type=Path, required=True, help="the Bazel to try")
    parser.add_argument("--scratch", type=Path, help="a directory for output bases and logs")
    parser.add_argument(
        "--option", action="append", default=[], help="an option of every build, such as --registry=URL"
    )
    parser.add_argument("--artifacts", type=Path, help="artifacts of ROCm 6 or newer for the step hip")
    parser.add_argument("--expect", help="the digest that another Bazel's distributions have")
    parser.add_argument("--digest", type=Path, help="a file for the digest of the step bytes")
    parser.add_argument("--table", type=Path, help="a file that gets the table, or one more row of it")
    options = parser.parse_args(argv)
    if unknown := set(options.steps) - set(STEPS):
        parser.error(f"{', '.join(sorted(unknown))}: expected {', '.join(STEPS)}")
    scratch = (options.scratch or Path(tempfile.mkdtemp(prefix="try-bazel-"))).absolute()
    scratch.mkdir(parents=True, exist_ok=True)
    bazel = Bazel(options.bazel.absolute(), scratch, tuple(options.option))
    try:
        name = version(bazel)
    except FailedError as error:
        print(f"try_bazel: {error}", file=sys.stderr)
        return 2
    print(f"Bazel {name}; output bases and logs are in {scratch}", flush=True)
    results = {}
    for one in [one for one in STEPS if one in (options.steps or STEPS)]:
        began = time.monotonic()
        print(f"{one:<9} ...", flush=True)
        try:
            results[one] = step(bazel, one, options)
        except FailedError as error:
            print(error, flush=True)
            results[one] = "**failed**"
        print(f"{one:<9} {results[one]}, {time.monotonic() - began:.0f} s", flush=True)
    for base, project in (("main", "."), ("consumer", "tests/e2e/consumer/acme"), ("hip", "hip/examples/programs")):
        if (scratch / base).exists():
            bazel.shutdown(base, project)
    head = f"| {' | '.join(HEADER)} |\n{'|---' * len(HEADER)}|\n"
    row = f"| {name} | {' | '.join(results.get(one, '–') for one in STEPS)} |\n"
    print(head + row, end="")
    if options.table:
        with options.table.open("a", encoding="utf-8") as file:
            file.write(row if file.tell() else head + row)
    return 1 if "**failed**" in results.values() else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
